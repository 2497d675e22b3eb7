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
from tracer.service.logged import LoggedSections
from tracer.service.presences import build_presence
from tracer.service.requests import (
    SessionData,
    ToldBeside,
    WholeRequest,
    load_session,
    logged_before,
    summarise,
    told_beside,
)
from tracer.service.segmenting import session_segments
from tracer.service.sessions import summaries
from tracer.service.standing import LoadedOrder, Order, Standing, StoredOrder
from tracer.service.stored_contents import StoredContents
from tracer.service.timelines import build_timeline, outlines
from tracer.service.verdicts import VerdictReader
from tracer.service.whole import Reading, WholeRequests
from tracer.store.events import session_sections
from tracer.store.layout_reading import has_layouts
from tracer.store.prompts import BlockRow
from tracer.store.reading import (
    RequestRow,
    child_ids,
    more_counts,
    request_markers,
    request_of_key,
)
from tracer.store.sources import source_paths


class LoadedSession:
    """The requests of a session. Two threads may make the same thing at once: they make equals."""

    def __init__(
        self,
        reading: Reading,
        row_id: int,
        session_id: str,
        verdicts: VerdictReader,
        kept: KeptContents,
    ) -> None:
        self.row_id = row_id
        self.session_id = session_id
        self._reading = reading
        self._verdicts = verdicts
        self._kept = kept
        self._data: SessionData | None = None
        self._sections: LoggedSections | None = None
        self._paths: Mapping[int, str] | None = None
        self._contents: Contents | None = None
        self._whole: WholeRequests | None = None
        self._requests: Sequence[RequestSummary] | None = None
        self._outline: Sequence[RequestOutline] | None = None
        self._timeline: Timeline | None = None
        self._presence: Presence | None = None
        self._segments: Mapping[int, RequestSegments] | None = None
        self._stored_contents: StoredContents | None = None

    @property
    def weight(self) -> int:
        """How many requests are in memory."""
        return len(self._data.rows) if self._data is not None else 0

    def data(self, connection: sqlite3.Connection) -> SessionData:
        """All requests, in short."""
        if self._data is None:
            self._data = data = load_session(connection, self.row_id)
            self._sections, self._paths = data.sections, data.paths
        return self._data

    def order(self, connection: sqlite3.Connection) -> Order:
        """The order of the requests, without loading them for it."""
        if self._data is None:
            return StoredOrder(connection, self.row_id)
        return LoadedOrder(connection, self._data)

    def sections(self, connection: sqlite3.Connection) -> LoggedSections:
        """The sections that the log tells."""
        if self._sections is None:
            self._sections = LoggedSections(session_sections(connection, self.row_id))
        return self._sections

    def paths(self, connection: sqlite3.Connection) -> Mapping[int, str]:
        """The paths of all sources, by row id."""
        if self._paths is None:
            self._paths = source_paths(connection)
        return self._paths

    def segments(self, connection: sqlite3.Connection) -> Mapping[int, RequestSegments]:
        """How the prompts were laid out, by the requests' row ids, where the log says it."""
        if self._segments is None:
            traced = has_layouts(connection, self.row_id)
            rows = self.data(connection).rows if traced else ()
            self._segments = session_segments(connection, self.row_id, rows) if traced else {}
        return self._segments

    def contents(self, connection: sqlite3.Connection) -> Contents:
        """What the prompts contain."""
        if self._contents is None:
            self._contents = self._kept.get(connection, self.row_id, self.data(connection))
        return self._contents

    def requests(self, connection: sqlite3.Connection) -> Sequence[RequestSummary]:
        """All requests by start time."""
        if self._requests is None:
            # Nothing here refers to the session itself: that would be a circle.
            whole, contents = self._all(connection), self.contents(connection)
            data, name = self.data(connection), self.session_id
            self._requests = Lazy(
                len(whole),
                lambda i: summarise(
                    told_beside(data, whole[i].row.key),
                    name,
                    i + 1,
                    whole[i],
                    contents.facts(i + 1),
                ),
            )
        return self._requests

    def request(self, connection: sqlite3.Connection, key: str) -> WholeRequest:
        """One request, without reading all of them for it."""
        if self._whole is not None:
            return self._whole[self.data(connection).seqs[key] - 1]
        row = request_of_key(connection, key)
        return WholeRequest(
            row,
            tuple(request_markers(connection, row.id)),
            self._verdicts.brief(connection, self.row_id, row.id),
            self.segments(connection).get(row.id),
        )

    def summary(
        self,
        connection: sqlite3.Connection,
        standing: Standing,
        whole: WholeRequest,
        blocks: Sequence[BlockRow],
        read: Callable[[], PromptAnatomy],
    ) -> RequestSummary:
        """The summary of a request; `blocks` are its prompt, empty where it has none, and `read`
        gives their anatomy."""
        seq = standing.seq
        if self._whole is not None:
            return self.requests(connection)[seq - 1]
        facts = self._facts(connection, seq, whole.row, blocks, read) if blocks else NO_PROMPT
        told = ToldBeside(standing.grouped, self.sections(connection), self.paths(connection))
        return summarise(told, self.session_id, seq, whole, facts)

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
            logged = logged_before(self.sections(connection), row)
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
        logged = self.sections(connection)
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
            self._presence = build_presence(self.data(connection), anatomies, self.session_id)
        return self._presence

    def outline(self, connection: sqlite3.Connection) -> Sequence[RequestOutline]:
        """All requests in short."""
        if self._outline is None:
            tree = self.contents(connection).tree
            counts = more_counts(connection, self.row_id)
            verdicts = self._verdicts.results(connection, self.row_id)
            self._outline = tuple(outlines(self.data(connection), tree, counts, verdicts))
        return self._outline

    def timeline(self, connection: sqlite3.Connection) -> Timeline:
        """The timeline."""
        if self._timeline is None:
            ids = [self.row_id, *child_ids(connection, self.session_id)]
            session, *children = summaries(connection, ids, sparks=False)
            self._timeline = build_timeline(
                connection,
                self.row_id,
                self.data(connection),
                self.contents(connection).tree,
                self.requests(connection),
                self.outline(connection),
                (session, *children),
            )
        return self._timeline

    def read_all(self, connection: sqlite3.Connection) -> None:
        """Read all of the requests, which are to be asked for when the connection is gone."""
        self._all(connection).read_all(connection)

    def _all(self, connection: sqlite3.Connection) -> WholeRequests:
        if self._whole is None:
            segments = self.segments(connection)
            rows = self.data(connection).rows
            asked = (self.row_id, rows, self._verdicts, segments)
            self._whole = WholeRequests(connection, self._reading, *asked)
        return self._whole
