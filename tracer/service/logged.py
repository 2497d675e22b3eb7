"""The sections that a session's log tells (`context.built`), and which a request can know."""

import sqlite3
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from tracer.anatomy.section_spans import LoggedText
from tracer.assemble.joins import SNAPSHOT_SLACK_MS
from tracer.store.events import SectionRow
from tracer.store.prompts import blocks_with_text


class LoggedSections:
    """The sections of a session's lines, oldest line first.

    A *version* is what a request can know: the lines that were written before it started, given as
    the number of their rows. Texts are known once they were read.
    """

    def __init__(self, rows: Sequence[SectionRow]) -> None:
        self.rows = rows
        self._text_of: dict[int, str] = {}
        self._texts: dict[int, tuple[LoggedText, ...]] = {}
        self._newest: dict[int, tuple[SectionRow, ...]] = {}
        ends = [
            number
            for number in range(1, len(rows) + 1)
            if number == len(rows) or rows[number].event_id != rows[number - 1].event_id
        ]
        timed = ((rows[end - 1].at_ms, end) for end in ends)
        by_time = sorted((at_ms, end) for at_ms, end in timed if at_ms is not None)
        self._times = [at_ms for at_ms, _ in by_time]
        self._known = [0, *accumulate((end for _, end in by_time), max)]

    def version(self, started_at_ms: int | None) -> int:
        """The version of a request."""
        if started_at_ms is None:
            return 0
        return self._known[bisect_right(self._times, started_at_ms + SNAPSHOT_SLACK_MS)]

    def newest(self, version: int) -> Sequence[SectionRow]:
        """The sections of the newest line of a version; the same object at every call."""
        found = self._newest.get(version)
        if found is None:
            event_id = self.rows[version - 1].event_id if version else None
            own = tuple(row for row in self.rows[:version] if row.event_id == event_id)
            found = self._newest[version] = own
        return found

    def texts(self, version: int) -> tuple[LoggedText, ...]:
        """The texts of a version, those of the newest line last."""
        found = self._texts.get(version)
        if found is None:
            found = self._texts[version] = tuple(
                LoggedText(row.source, row.name, self._text_of[row.block_id])
                for row in self.rows[:version]
                if row.block_id is not None
            )
        return found

    def text(self, block_id: int | None) -> str | None:
        """The text of a section's block; None where the log has none, or it was not read."""
        return None if block_id is None else self._text_of.get(block_id)

    def read_texts(self, connection: sqlite3.Connection) -> None:
        """Read the texts of all lines, if they were not yet."""
        if self._text_of:
            return
        ids = sorted({row.block_id for row in self.rows if row.block_id is not None})
        self._text_of = {i: b.text for i, b in blocks_with_text(connection, ids).items()}
