"""A session as far as it was asked for: its requests, what their prompts say, and what is made of
them.

All of it belongs to one revision of the database: `tracer.service.cached` keeps a session only as
long as that is the newest. So a connection that a method is given reads what the session was loaded
from.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence

from tracer.anatomy.calibration import Calibration
from tracer.anatomy.prompt import PromptAnatomy
from tracer.anatomy.section_spans import LoggedText
from tracer.model.anatomy_views import Presence
from tracer.model.segment_views import RequestSegments
from tracer.model.views import RequestOutline, RequestSummary, Timeline
from tracer.service.contents import Contents, KeptContents
from tracer.service.facts import NO_PROMPT, PromptFacts
from tracer.service.lazy import Lazy
from tracer.service.presences import build_presence
from tracer.service.requests import WholeRequest, load_session, logged_before, summarise
from tracer.service.segmenting import session_segments
from tracer.service.sessions import summaries
from tracer.service.stored_contents import StoredContents
from tracer.service.timelines import build_timeline, outlines
from tracer.service.verdicts import VerdictReader
from tracer.store.prompts import BlockRow
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
        self._stored_contents: StoredContents | None = None

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

    def request(self, connection: sqlite3.Connection, seq: int) -> WholeRequest:
        """The request number `seq` (from 1), without reading all of them for it."""
        if self._whole is not None:
            return self._whole[seq - 1]
        row_id = self.data.rows[seq - 1].id
        return WholeRequest(
            request_row(connection, row_id),
            tuple(request_markers(connection, row_id)),
            self._verdicts.brief(connection, self.row_id, row_id),
            self.segments(connection).get(row_id),
        )

    def summary(
        self,
        connection: sqlite3.Connection,
        seq: int,
        whole: WholeRequest,
        blocks: Sequence[BlockRow],
        read: Callable[[], PromptAnatomy],
    ) -> RequestSummary:
        """The summary of the request number `seq`; `blocks` are its prompt, empty where it has
        none, and `read` gives their anatomy."""
        if self._whole is not None:
            return self.requests(connection)[seq - 1]
        facts = self._facts(connection, seq, whole.row, blocks, read) if blocks else NO_PROMPT
        return summarise(self.data, self.session_id, seq, whole, facts)

    def _facts(
        self,
        connection: sqlite3.Connection,
        seq: int,
        row: RequestRow,
        blocks: Sequence[BlockRow],
        read: Callable[[], PromptAnatomy],
    ) -> PromptFacts:
        """From what is stored of the session where that will do, else from all of its prompts."""
        stored = self._stored(connection)
        if self._contents is None and stored.knows_lives():
            logged = logged_before(self.data.sections, row)
            facts = stored.facts(connection, seq, row, blocks, read(), logged)
            if facts is not None:
                return facts
        return self.contents(connection).facts(seq)

    def calibration(self, connection: sqlite3.Connection, lane: str) -> Calibration | None:
        """Billed tokens per counted token in a lane."""
        if self._contents is None:
            known = self._stored(connection).calibrations()
            if known is not None:
                return known.get(lane)
        return self.contents(connection).calibration(lane)

    def known_texts(
        self, connection: sqlite3.Connection, started_at_ms: int | None
    ) -> tuple[LoggedText, ...]:
        """The texts of sections that the log tells before a request, those of the newest line
        last."""
        logged = self.data.sections
        logged.read_texts(connection)
        return logged.texts(logged.version(started_at_ms))

    def _stored(self, connection: sqlite3.Connection) -> StoredContents:
        if self._stored_contents is None:
            self._stored_contents = StoredContents(connection, self.row_id)
        return self._stored_contents

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
