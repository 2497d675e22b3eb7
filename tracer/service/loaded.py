"""A session as far as it was asked for: its requests, what their prompts say, and what is made of
them.

All of it belongs to one revision of the database: `tracer.service.cached` keeps a session only as
long as that is the newest. So a connection that a method is given reads what the session was loaded
from.
"""

import sqlite3
from collections.abc import Mapping, Sequence

from tracer.model.anatomy_views import Presence
from tracer.model.segment_views import RequestSegments
from tracer.model.views import RequestOutline, RequestSummary, Timeline
from tracer.service.contents import Contents, KeptContents
from tracer.service.lazy import Lazy
from tracer.service.presences import build_presence
from tracer.service.requests import WholeRequest, load_session, summarise
from tracer.service.segmenting import session_segments
from tracer.service.sessions import summaries
from tracer.service.timelines import build_timeline, outlines
from tracer.service.verdicts import VerdictReader
from tracer.store.reading import (
    RequestRow,
    child_ids,
    request_markers,
    request_row,
    session_markers,
    session_requests,
)


class LoadedSession:
    """The requests of a session. Two threads may make the same thing at once: they make equals."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        row_id: int,
        session_id: str,
        verdicts: VerdictReader,
        kept: KeptContents,
    ) -> None:
        self.data = load_session(connection, row_id)
        self.row_id = row_id
        self.session_id = session_id
        self._verdicts = verdicts
        self._kept = kept
        self._contents: Contents | None = None
        self._whole: list[WholeRequest] | None = None
        self._requests: Sequence[RequestSummary] | None = None
        self._outline: Sequence[RequestOutline] | None = None
        self._timeline: Timeline | None = None
        self._presence: Presence | None = None
        self._segments: Mapping[int, RequestSegments] | None = None

    def segments(self, connection: sqlite3.Connection) -> Mapping[int, RequestSegments]:
        """How the prompts were laid out, by the requests' row ids, where the log says it."""
        if self._segments is None:
            self._segments = session_segments(connection, self.row_id, self.data.rows)
        return self._segments

    def contents(self, connection: sqlite3.Connection) -> Contents:
        """What the prompts contain."""
        if self._contents is None:
            self._contents = self._kept.get(connection, self.row_id, self.data)
        return self._contents

    def requests(self, connection: sqlite3.Connection) -> Sequence[RequestSummary]:
        """All requests by start time."""
        if self._requests is None:
            # Nothing here refers to the session itself: that would be a circle.
            whole, contents = self._all(connection), self.contents(connection)
            data, name = self.data, self.session_id
            self._requests = Lazy(
                len(whole),
                lambda i: summarise(data, name, i + 1, whole[i], contents.facts(i + 1)),
            )
        return self._requests

    def request(
        self, connection: sqlite3.Connection, seq: int
    ) -> tuple[RequestRow, RequestSummary]:
        """The request number `seq` (from 1), without reading all of them for it."""
        if self._whole is not None:
            return self._whole[seq - 1].row, self.requests(connection)[seq - 1]
        row_id = self.data.rows[seq - 1].id
        whole = WholeRequest(
            request_row(connection, row_id),
            request_markers(connection, row_id),
            self._verdicts.brief(connection, self.row_id, row_id),
            self.segments(connection).get(row_id),
        )
        facts = self.contents(connection).facts(seq)
        return whole.row, summarise(self.data, self.session_id, seq, whole, facts)

    def presence(self, connection: sqlite3.Connection) -> Presence:
        """The presence matrix."""
        if self._presence is None:
            anatomies = self.contents(connection).anatomies
            self._presence = build_presence(self.data, anatomies, self.session_id)
        return self._presence

    def outline(self, connection: sqlite3.Connection) -> Sequence[RequestOutline]:
        """All requests in short."""
        if self._outline is None:
            whole, tree = self._all(connection), self.contents(connection).tree
            self._outline = tuple(outlines(self.data, tree, whole))
        return self._outline

    def timeline(self, connection: sqlite3.Connection) -> Timeline:
        """The timeline."""
        if self._timeline is None:
            ids = [self.row_id, *child_ids(connection, self.session_id)]
            session, *children = summaries(connection, ids, sparks=False)
            self._timeline = build_timeline(
                connection,
                self.row_id,
                self.data,
                self._all(connection),
                self.contents(connection).tree,
                self.requests(connection),
                self.outline(connection),
                (session, *children),
            )
        return self._timeline

    def _all(self, connection: sqlite3.Connection) -> list[WholeRequest]:
        """All requests with their rows."""
        if self._whole is None:
            markers = session_markers(connection, self.row_id)
            verdicts = self._verdicts.briefs(connection, self.row_id)
            segments = self.segments(connection)
            self._whole = [
                WholeRequest(
                    row, markers.get(row.id, ()), verdicts.get(row.id), segments.get(row.id)
                )
                for row in session_requests(connection, self.row_id)
            ]
        return self._whole
