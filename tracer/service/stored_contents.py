"""What a page about one request needs of the whole session, stored when its rules are run.

How a section lived until a request, and what a lane is billed for a counted token, follow from all
requests of the session. Everything else that a request's prompt says is read with the prompt. So
what is stored here saves reading the whole session for one page; where it is missing, by other
rules, or of a session that is told by a trace, the session is read (`tracer.service.contents`).
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, replace
from typing import NamedTuple

import msgspec

from tracer.anatomy import reminders, section_spans
from tracer.anatomy.calibration import Calibration
from tracer.anatomy.prompt import PromptAnatomy
from tracer.hashing import digest
from tracer.model.anatomy_views import SectionView
from tracer.model.prompt import Kind, Part
from tracer.service.anatomy import PromptContent
from tracer.service.contents import Contents
from tracer.service.facts import FactsMaker, PromptFacts
from tracer.service.placing import shown_by
from tracer.store.contents import ContentsRow, LivesRow, stored_contents, stored_lives
from tracer.store.events import SectionRow
from tracer.store.prompts import BlockRow
from tracer.store.reading import RequestRow
from tracer.store.readings import rules_are_current

CONTENTS_VERSION = 1
"""To be raised whenever another life or calibration would be stored of the same requests."""

_encode = msgspec.json.Encoder().encode
_decode_lives = msgspec.json.Decoder(list[tuple[int | None, bool, int | None]]).decode
_decode_calibrations = msgspec.json.Decoder(
    dict[str, tuple[float, float, float, float, int]]
).decode


def contents_rules() -> str:
    """Names the rules by which sections are found, and how they lived."""
    return f"{CONTENTS_VERSION}.{reminders.RULES_VERSION}.{section_spans.RULES_VERSION}"


class MadeContents(NamedTuple):
    """What is to be stored of a session."""

    row: ContentsRow
    lives: Sequence[LivesRow]


def made_contents(contents: Contents) -> MadeContents:
    """What is to be stored of a session, whose contents were made now."""
    found = {
        lane: contents.calibration(lane) for lane in sorted({row.lane for row in contents.rows})
    }
    known = {lane: astuple(scale) for lane, scale in found.items() if scale is not None}
    row = ContentsRow(contents_rules(), int(contents.tree.counted), _encode(known).decode())
    return MadeContents(row, list(_lives(contents)))


def _lives(contents: Contents) -> Iterator[LivesRow]:
    """A row wherever a request tells something else than the one before of its purpose."""
    last: dict[str, tuple[SectionView, ...]] = {}
    for seq, (row, anatomy, sections) in enumerate(
        zip(contents.rows, contents.anatomies, contents.sections, strict=True), 1
    ):
        purpose = row.query_source
        if anatomy is None or last.get(purpose) is sections:
            continue
        last[purpose] = sections
        lives = [(s.since_seq, s.changed, s.proven_seq) for s in sections]
        yield LivesRow(purpose, seq, _sections_hash(sections), _encode(lives).decode())


def _sections_hash(sections: Sequence[SectionView]) -> bytes:
    """Names the sections that lives are told of."""
    return digest(_encode([(s.source, s.content_hash, s.verified) for s in sections]))


class StoredContents:
    """What is stored of one session, as a request of it needs it. `None` is told where that is to
    be read from the session itself."""

    def __init__(self, connection: sqlite3.Connection, row_id: int) -> None:
        row = stored_contents(connection, row_id)
        current = row is not None and row.rules == contents_rules()
        self._row = row if current and rules_are_current(connection) else None
        self._row_id = row_id

    def calibrations(self) -> Mapping[str, Calibration] | None:
        """Billed tokens per counted token by lane, of lanes where that can be told."""
        if self._row is None or not self._row.counted:
            return None
        known = _decode_calibrations(self._row.calibrations_json)
        return {lane: Calibration(*scale) for lane, scale in known.items()}

    def knows_lives(self) -> bool:
        """Whether it is stored how sections lived."""
        return self._row is not None

    def facts(
        self,
        connection: sqlite3.Connection,
        seq: int,
        row: RequestRow,
        blocks: Sequence[BlockRow],
        found: PromptAnatomy,
        logged: Sequence[SectionRow],
    ) -> PromptFacts | None:
        """What the prompt of request number `seq` says; `found` is its anatomy, and `logged` what
        the log tells of its sections."""
        if self._row is None:
            return None
        stored = stored_lives(connection, self._row_id, row.query_source, seq)
        content, shown = prompt_content(found, blocks), shown_by(row)
        maker = FactsMaker()  # it knows by their identity what lives as long as it does
        made = maker.unlived(content, logged, shown)
        if stored is None or stored.sections_hash != _sections_hash(made):
            return None
        lives = _decode_lives(stored.lives_json)
        sections = tuple(
            replace(view, since_seq=since, changed=changed, proven_seq=proven)
            for view, (since, changed, proven) in zip(made, lives, strict=True)
        )
        return maker.facts(content, _roles(blocks), sections, shown)


def prompt_content(found: PromptAnatomy, blocks: Sequence[BlockRow]) -> PromptContent:
    """What was found in one prompt, by itself."""
    starts = [b for b in blocks if b.message_index is not None and b.block_index == 0]
    head_known = not (starts and starts[0].kind == Kind.GAP)
    return PromptContent(
        variant=found.variant,
        variant_evidence=found.variant_evidence,
        sections=found.sections,
        reminders=found.reminders,
        mcs=found.mcs_messages,
        verdict=found.mcs,
        tools=tuple(b.name for b in blocks if b.part == Part.TOOLS and b.kind != Kind.GAP),
        whole=not found.gaps,
        first_index={b.message_index: b.depth for b in starts if b.message_index is not None},
        system_messages=sum(b.part == Part.SYSTEM for b in starts) if head_known else 0,
    )


def _roles(blocks: Sequence[BlockRow]) -> dict[str, int]:
    """The messages of each role."""
    roles: dict[str, int] = {}
    for block in blocks:
        if block.message_index is not None and block.block_index == 0 and block.role:
            roles[block.role] = roles.get(block.role, 0) + 1
    return roles
