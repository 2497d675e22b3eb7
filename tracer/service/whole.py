"""The requests of a session with all that the tables hold of them, read as far as they are asked
for: a page shows a window of thousands."""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager

from tracer.model.prompt import Marker
from tracer.model.segment_views import RequestSegments
from tracer.model.verdict import VerdictBrief
from tracer.service.requests import WholeRequest
from tracer.service.verdicts import VerdictReader
from tracer.store.reading import (
    RequestLine,
    RequestRow,
    markers_of,
    session_markers,
    session_requests,
    whole_requests,
)
from tracer.store.records import connection_revision

_STRETCH = 64
"""So many requests are read at once where one of them is asked for."""

Reading = Callable[[], AbstractContextManager[sqlite3.Connection]]


class WholeRequests:
    """The requests of one revision by their place in the session, from 0. What is asked for inside
    a reading is read then; `read_all` reads what will be asked for after it."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        reading: Reading,
        row_id: int,
        lines: Sequence[RequestLine],
        verdicts: VerdictReader,
        segments: Mapping[int, RequestSegments],
    ) -> None:
        self._revision = connection_revision(connection)
        self._reading = reading
        self._row_id = row_id
        self._lines = lines
        self._verdicts = verdicts
        self._segments = segments
        self._briefs: Mapping[int, VerdictBrief] | None = None
        self._made: list[WholeRequest | None] = [None] * len(lines)

    def __len__(self) -> int:
        return len(self._made)

    def __getitem__(self, index: int) -> WholeRequest:
        """One request. Raises RuntimeError if something was stored since the session was loaded."""
        made = self._made[index]
        if made is None:
            first = index - index % _STRETCH
            with self._reading() as connection:
                if connection_revision(connection) != self._revision:
                    raise RuntimeError("A request was asked for after its reading.")
                self._read_some(connection, first, min(first + _STRETCH, len(self._made)))
            made = self._made[index]
            assert made is not None
        return made

    def read_all(self, connection: sqlite3.Connection) -> None:
        """Read all of them, if they were not yet."""
        if None in self._made:
            rows = session_requests(connection, self._row_id)
            markers = session_markers(connection, self._row_id)
            self._made[:] = self._put_together(rows, markers, self._all_briefs(connection))

    def _read_some(self, connection: sqlite3.Connection, first: int, end: int) -> None:
        ids = [line.id for line in self._lines[first:end]]
        rows = {row.id: row for row in whole_requests(connection, ids)}
        briefs = self._verdicts.some_briefs(connection, self._row_id, ids)
        self._made[first:end] = self._put_together(
            [rows[i] for i in ids],
            markers_of(connection, ids),
            self._all_briefs(connection) if briefs is None else briefs,
        )

    def _all_briefs(self, connection: sqlite3.Connection) -> Mapping[int, VerdictBrief]:
        if self._briefs is None:
            self._briefs = self._verdicts.briefs(connection, self._row_id)
        return self._briefs

    def _put_together(
        self,
        rows: Sequence[RequestRow],
        markers: Mapping[int, Sequence[Marker]],
        briefs: Mapping[int, VerdictBrief],
    ) -> list[WholeRequest]:
        return [
            WholeRequest(
                row, markers.get(row.id, ()), briefs.get(row.id), self._segments.get(row.id)
            )
            for row in rows
        ]
