"""Which section of a prompt's prefix a found place lies in."""

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from tracer.anatomy.prompt import AnatomyContext, anatomy_of
from tracer.model.prompt import PlacedBlock, Prompt
from tracer.service.logged import LoggedSections
from tracer.store.events import session_sections
from tracer.store.search import PrefixText, Tip, prefix_texts

MOST_NODES = 400
"""How far from its front a prompt is looked at: tools, system messages and attachments."""


class SectionSpan(NamedTuple):
    """A section in a block's text, [start, end) in code points."""

    source: str
    start: int
    end: int


class PrefixSections:
    """Sections by block, read from the first prompt that has it. For one search."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._logged: dict[int, LoggedSections] = {}
        self._read: dict[int, dict[int, tuple[SectionSpan, ...]]] = {}

    def of(self, block_id: int, tip: Tip, path: Sequence[int]) -> tuple[SectionSpan, ...]:
        """The sections in a block of the prompt that ends with `tip`."""
        known = self._read.get(tip.row_id)
        if known is None:
            known = self._read[tip.row_id] = self._sections(tip, path)
        return known.get(block_id, ())

    def _sections(self, tip: Tip, path: Sequence[int]) -> dict[int, tuple[SectionSpan, ...]]:
        rows = prefix_texts(self._connection, path[:MOST_NODES])
        blocks = tuple(
            PlacedBlock(0, 0, row.message_index, row.block_index, row.block, _name(row), b"", 0)
            for row in rows
        )
        logged = self._lines(tip.session_row)
        known = logged.texts(logged.version(tip.started_at_ms))
        found: dict[int, tuple[SectionSpan, ...]] = {}
        ids = {(row.message_index, row.block_index): row.block_id for row in rows}
        for section in anatomy_of(Prompt(blocks), AnatomyContext(known)).sections:
            block_id = ids[section.message_index, section.block_index]
            span = SectionSpan(section.source, section.start_char, section.end_char)
            found[block_id] = (*found.get(block_id, ()), span)
        return found

    def _lines(self, session_row: int) -> LoggedSections:
        found = self._logged.get(session_row)
        if found is None:
            found = LoggedSections(session_sections(self._connection, session_row))
            found.read_texts(self._connection)
            self._logged[session_row] = found
        return found


def _name(row: PrefixText) -> bytes:
    """What tells this text from others while they are read."""
    return str(row.block_id).encode()
