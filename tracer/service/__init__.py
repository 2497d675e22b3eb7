"""Use cases, called by the command line and by the web alike.

`ingest` and `follow` write; a `Service` reads. Every reading call has a read-only connection for
itself: no snapshot is held between calls, and threads share none that is in use.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event as StopEvent

from tracer.compare.sessions import compare_sessions
from tracer.errors import InputError, NotFoundError, StoreError
from tracer.ingest import IngestOptions, Ingestor, find_files, left_out
from tracer.model.anatomy_views import Presence
from tracer.model.compare_views import (
    CONTEXT_LINES,
    PAGE_HUNKS,
    ComparisonView,
    HunksAsked,
    HunksView,
)
from tracer.model.doctor_views import DoctorReport
from tracer.model.ingest_views import IngestResult, Progress, SourceView
from tracer.model.new_blocks import RequestAdditions
from tracer.model.session_comparison import SessionComparison
from tracer.model.session_list import ANY_SESSION, SessionChoices, SessionFilter
from tracer.model.story import SessionStory
from tracer.model.surroundings import Surroundings
from tracer.model.trace_views import TraceFile
from tracer.model.unfolded import Texts
from tracer.model.verdict_views import Misses, VerdictView
from tracer.model.views import (
    BlockView,
    RequestDetail,
    RequestOutline,
    RequestSummary,
    SessionPage,
    SessionSummary,
    Timeline,
)
from tracer.service.additions import session_additions
from tracer.service.anatomy_detail import PromptReader
from tracer.service.cached import RevisionCache
from tracer.service.checking.keeping import FollowedChecks
from tracer.service.checking.reader import CheckReader, ChecksOfService
from tracer.service.comparing import Comparer, hunks_of
from tracer.service.comparing_sessions import session_side
from tracer.service.contents import KeptContents
from tracer.service.detail import build_detail
from tracer.service.doctor import examine
from tracer.service.existing import session_of, session_row
from tracer.service.judging.rounds import judge_for, judged
from tracer.service.kept import MOST_REQUESTS
from tracer.service.loaded import LoadedSession
from tracer.service.outgoing import Outgoing, masked, masked_result
from tracer.service.paths import default_db_path, default_root
from tracer.service.pricing import load_prices
from tracer.service.searching import Searcher, SearchOfService
from tracer.service.segment_story import SegmentsOfService
from tracer.service.sessions import session_choices, session_page, summaries
from tracer.service.snapshots import Snapshots
from tracer.service.sources import all_sources, one_source
from tracer.service.story import build_story
from tracer.service.surroundings import build_surroundings
from tracer.service.validating import validate_traces
from tracer.service.verdicts import SessionCache, VerdictReader
from tracer.store.connect import open_reader, open_writer
from tracer.store.reading import (
    keys_like,
    sessions_like,
)
from tracer.store.records import connection_revision

__all__ = [
    "Service",
    "bring_up_to_date",
    "default_db_path",
    "default_root",
    "doctor",
    "follow",
    "ingest",
    "validate",
]

DEFAULT_MAX_LINE_BYTES = 64 << 20
JUDGING_SECONDS = 1.0
MOST_LEFT_OUT = 200
"""How many files that are not read an ingest names."""


@masked_result
def ingest(
    db_path: Path,
    paths: Sequence[str],
    *,
    root: Path | None = None,
    format_name: str | None = None,
    count_tokens: bool = True,
    max_line_bytes: int = DEFAULT_MAX_LINE_BYTES,
    all_verdicts: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> IngestResult:
    """Read what is new in `paths` (files, folders, globs; none: the default locations under
    `root`) into the database, and give verdicts; `all_verdicts` False leaves most sessions without
    any prompt for later. Raises UsageError for an unknown format name, InputError if a path names
    nothing."""
    files = find_files(paths, root)
    ingestor = Ingestor(db_path, IngestOptions(format_name, count_tokens, max_line_bytes))
    with _failures_told(db_path), closing(ingestor):
        result = ingestor.ingest(files, progress)
        ingestor.note_missing(files)
        result = judged(ingestor.connection, result, progress, promptless=all_verdicts)
    others = list(left_out(paths, root))
    return replace(result, left_out=tuple(others[:MOST_LEFT_OUT]), left_out_total=len(others))


def follow(
    db_path: Path,
    paths: Sequence[str],
    *,
    root: Path | None = None,
    format_name: str | None = None,
    count_tokens: bool = True,
    max_line_bytes: int = DEFAULT_MAX_LINE_BYTES,
    interval_s: float = 0.5,
    stop: StopEvent,
    on_result: Callable[[IngestResult], None] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> None:
    """Ingest, then go on reading what is appended, until `stop` is set. `on_result` is called after
    the first round and after each round that read something. A round without news costs a `stat`
    a file. Verdicts are given after each round, so long as not to keep the next one waiting."""
    files = find_files(paths, root)
    ingestor = Ingestor(db_path, IngestOptions(format_name, count_tokens, max_line_bytes))
    with _failures_told(db_path), closing(ingestor):
        first, all_judged = True, False
        checks = FollowedChecks(ingestor.connection)
        while True:
            result = ingestor.ingest(files, progress if first else None)
            if on_result and (first or result.read_bytes):
                on_result(Outgoing().result(result))
            if first or result.read_bytes:
                ingestor.note_missing(files)
            if result.read_bytes or not all_judged:
                all_judged = judge_for(ingestor.connection, JUDGING_SECONDS)
            checks.round(JUDGING_SECONDS, news=bool(result.read_bytes))
            first = False
            if stop.wait(interval_s):
                return
            files = _still_there(paths, root)


@contextmanager
def _failures_told(db_path: Path) -> Iterator[None]:
    """What SQLite says of a full disk, a damaged file and the like is told to the user as such."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise StoreError(
            f"The database {db_path} could not be written: {error}. What was stored before is kept;"
            " make sure that its disk has room and can be written to, then run it again."
        ) from error


def _still_there(paths: Sequence[str], root: Path | None) -> list[Path]:
    """The files of a later round: a path that has gone is no reason to stop watching the others,
    and it may come back under the same name."""
    if not paths:
        return find_files(paths, root)
    found: dict[Path, None] = {}
    for path in paths:
        try:
            found.update(dict.fromkeys(find_files([path], root)))
        except InputError:
            continue
    return sorted(found)


def bring_up_to_date(db_path: Path) -> None:
    """Make the database where there is none, and bring an older one up to date, so that whoever
    reads it from now on finds all tables; one that is up to date may be read-only. Raises
    StoreError, NewerStoreError."""
    try:
        open_reader(db_path).close()
    except StoreError:
        open_writer(db_path).close()


def require_paths(paths: Sequence[str]) -> None:
    """Raises InputError for a path that names nothing now: better said before than while a server
    already runs."""
    if paths:
        find_files(paths, None)


@masked_result
def doctor(
    root: Path | None = None, db_path: Path | None = None, session_id: str = ""
) -> DoctorReport:
    """What is found where, which logs are missing, how to switch them on; of the sessions with the
    latest activity, or of one alone, what is known and what is gone. Raises NotFoundError for an
    unknown session."""
    return examine(root or default_root(), db_path, session_id)


@masked_result
def validate(paths: Sequence[str]) -> tuple[TraceFile, ...]:
    """What is to be said of files of the open trace format. Raises InputError for a path that names
    nothing."""
    return validate_traces(paths)


@masked
class Service(ChecksOfService, SearchOfService, SegmentsOfService):
    """Reads one database. Safe in threads."""

    def __init__(
        self,
        db_path: Path,
        prices: Path | None = None,
        rules_off: frozenset[str] = frozenset(),
        *,
        reveal_secrets: bool = False,
    ) -> None:
        """`prices` names a table of prices instead of that of TRACER_PRICES or the shipped one;
        `rules_off` are names of rules whose findings are left out. Secrets in results are masked
        unless `reveal_secrets` (`tracer.service.outgoing`)."""
        self.db_path = db_path
        self.snapshots = Snapshots(db_path)
        self._read = self.snapshots.read
        self.reveals_secrets = reveal_secrets
        self.outgoing = Outgoing()
        self._prices = prices
        self._sessions: RevisionCache[LoadedSession] = RevisionCache(
            weigh=lambda session: session.weight, limit=MOST_REQUESTS
        )
        self._stories: RevisionCache[SessionStory] = RevisionCache(
            weigh=lambda story: len(story.tools), limit=4 * MOST_REQUESTS
        )
        self._surroundings: RevisionCache[Surroundings] = RevisionCache()
        self._contents = KeptContents()
        self._prompts = PromptReader()
        self._comparer = Comparer()
        self._verdicts = VerdictReader()
        self._checks = CheckReader(rules_off)
        self._searcher = Searcher(reveal=reveal_secrets)

    def sessions(
        self, wanted: SessionFilter | str = ANY_SESSION, *, limit: int = 100, offset: int = 0
    ) -> SessionPage:
        """Those sessions that are wanted, by last activity, newest first. A text alone is looked
        for in id, title, project, agent and model."""
        with self._read() as connection:
            return session_page(connection, wanted, limit, offset, self._checks.off)

    def session_choices(self) -> SessionChoices:
        """The projects, agents and models that the sessions can be filtered by."""
        with self._read() as connection:
            return session_choices(connection)

    def session(self, session_id: str) -> SessionSummary:
        """One session. Raises NotFoundError."""
        with self._read() as connection:
            row_id = session_row(connection, session_id)
            off = self._checks.off
            return summaries(connection, [row_id], sparks=False, rules_off=off)[0]

    def session_ids_like(self, prefix: str) -> tuple[str, ...]:
        """At most ten session ids that begin with `prefix`."""
        with self._read() as connection:
            return tuple(sessions_like(connection, prefix))

    def keys_like(self, prefix: str) -> tuple[str, ...]:
        """At most ten request keys that begin with `prefix`."""
        with self._read() as connection:
            return tuple(keys_like(connection, prefix))

    def requests(self, session_id: str) -> Sequence[RequestSummary]:
        """All requests of a session by start time. Raises NotFoundError."""
        with self._read() as connection:
            row_id = session_row(connection, session_id)
            loaded = self._loaded(connection, row_id, session_id)
            if not self.snapshots.lasts:
                loaded.read_all(connection)
            return loaded.requests(connection)

    def outline(self, session_id: str) -> Sequence[RequestOutline]:
        """All requests of a session in short, by start time. Raises NotFoundError."""
        with self._read() as connection:
            row_id = session_row(connection, session_id)
            return self._loaded(connection, row_id, session_id).outline(connection)

    def timeline(self, session_id: str) -> Timeline:
        """A session's timeline. Raises NotFoundError."""
        with self._read() as connection:
            row_id = session_row(connection, session_id)
            loaded = self._loaded(connection, row_id, session_id)
            if not self.snapshots.lasts:
                loaded.read_all(connection)
            return loaded.timeline(connection)

    def presence(self, session_id: str) -> Presence:
        """How every section, reminder, mid-conversation message and tool of a session lived, lane
        by lane. Raises NotFoundError."""
        with self._read() as connection:
            row_id = session_row(connection, session_id)
            return self._loaded(connection, row_id, session_id).presence(connection)

    def surroundings(self, session_id: str, first_seq: int, last_seq: int) -> Surroundings:
        """What stands around some requests of a session: the age of their cache, the tool calls of
        their responses, the sessions of subagents. Raises NotFoundError."""
        with self._read() as connection:
            row_id = session_row(connection, session_id)
            loaded = self._loaded(connection, row_id, session_id)
            requests, seqs = loaded.requests(connection), loaded.data(connection).seqs
            asked = (row_id, session_id, requests, seqs, first_seq, last_seq)
            off = self._checks.off
            return self._surroundings.get(
                connection,
                (row_id, first_seq, last_seq),
                lambda: build_surroundings(connection, *asked, rules_off=off),
            )

    def _loaded(
        self, connection: sqlite3.Connection, row_id: int, session_id: str
    ) -> LoadedSession:
        asked = (row_id, session_id, self._verdicts, self._contents)
        return self._sessions.get(connection, row_id, lambda: LoadedSession(self._read, *asked))

    def request(
        self, key: str, *, block_from: int = 0, block_limit: int | None = 200, text: Texts = False
    ) -> RequestDetail:
        """One request; `block_limit` None gives all blocks, `text` tells which of them have their
        texts. Raises NotFoundError."""
        return self._request(key, block_from, block_limit, text=text, anatomy=True)

    def _request(
        self, key: str, block_from: int, block_limit: int | None, *, text: Texts, anatomy: bool
    ) -> RequestDetail:
        with self._read() as connection:
            row_id, _ = session_of(connection, key)
            session = summaries(connection, [row_id], sparks=False)[0]
            return build_detail(
                connection,
                self._loaded(connection, row_id, session.session_id),
                session,
                self._prompts,
                key,
                block_from=max(block_from, 0),
                block_limit=block_limit,
                text=text,
                anatomy=anatomy,
            )

    def additions(self, session_id: str, *, texts: bool = False) -> tuple[RequestAdditions, ...]:
        """What each request of a session added to the prompts before it, by start time: every
        stored block once. Raises NotFoundError."""
        with self._read() as connection:
            row_id = session_row(connection, session_id)
            return tuple(session_additions(connection, row_id, texts=texts))

    def block(self, key: str, index: int) -> BlockView:
        """One block of a request's prompt, with its text. Raises NotFoundError."""
        detail = self._request(key, index, 1, text=True, anatomy=False)
        if index < 0 or not detail.blocks:
            raise NotFoundError(f"Request {key} has {detail.block_total:,} blocks, not {index:,}.")
        return detail.blocks[0]

    def baseline(self, key: str) -> str:
        """The key of the request that this one is compared with unless told otherwise: the one that
        its verdict is judged against, or else the one before it in its lane; empty where there is
        none. Raises NotFoundError."""
        with self._read() as connection:
            return self._comparer.baseline(connection, key)

    def compare(self, a_key: str, b_key: str) -> ComparisonView:
        """Two requests compared, A being the baseline. Raises NotFoundError."""
        with self._read() as connection:
            return self._comparer.get(connection, a_key, b_key).view

    def hunks(
        self,
        a_key: str,
        b_key: str,
        change_index: int,
        *,
        offset: int = 0,
        limit: int = PAGE_HUNKS,
        context: int = CONTEXT_LINES,
    ) -> HunksView:
        """The inside of one change of `compare`: hunks from `offset` on, `limit` at most, with
        `context` equal lines around them. Raises NotFoundError."""
        asked = HunksAsked(offset=offset, limit=limit, context=context)
        return self.many_hunks(a_key, b_key, {change_index: asked})[0]

    def many_hunks(
        self, a_key: str, b_key: str, asked: Mapping[int, HunksAsked]
    ) -> tuple[HunksView, ...]:
        """The inside of several changes, by their index. Raises NotFoundError."""
        with self._read() as connection:
            compared = self._comparer.get(connection, a_key, b_key)
            reveal = self.reveals_secrets
            return tuple(
                hunks_of(compared, index, replace(how, reveal=reveal))
                for index, how in asked.items()
            )

    def compare_sessions(self, a: str, b: str) -> SessionComparison:
        """Two sessions aligned by what their prompts were made of. Raises NotFoundError."""
        with self._read() as connection:
            sides = []
            for session_id in (a, b):
                row_id = session_row(connection, session_id)
                session = summaries(connection, [row_id], sparks=True)[0]
                requests = self._loaded(connection, row_id, session_id).requests(connection)
                sides.append(session_side(connection, row_id, session, requests))
            return compare_sessions(*sides)

    def explain(self, key: str, against: str = "") -> VerdictView:
        """Why a request read what it read: the verdict against its baseline, or `against` another
        request of its session. Raises NotFoundError; UsageError for a request against itself;
        InputError for a broken table of prices."""
        prices = load_prices(self._prices)
        with self._read() as connection:
            row_id, session_id = session_of(connection, key)
            order = self._loaded(connection, row_id, session_id).order(connection)
            reveal = self.reveals_secrets
            return self._verdicts.explain(
                connection, row_id, order, key, against, prices, reveal=reveal
            )

    def misses(
        self, session_id: str = "", *, code: str = "", limit: int = 100, offset: int = 0
    ) -> Misses:
        """Misses of a session or of all, of one cause or of all, the costliest first. Raises
        NotFoundError."""
        with self._read() as connection:
            row_id = session_row(connection, session_id) if session_id else None
            return self._verdicts.misses(connection, row_id, code, limit, offset)

    def session_cache(self, session_id: str) -> SessionCache:
        """What the cache did over a session: rates with their formulas, losses by cause, patterns.
        Raises NotFoundError."""
        with self._read() as connection:
            return self._verdicts.session_cache(connection, session_row(connection, session_id))

    def sources(self) -> tuple[SourceView, ...]:
        """All files, with at most 5 skipped lines each."""
        with self._read() as connection:
            return all_sources(connection, skipped_limit=5)

    def source(self, source_id: int) -> SourceView:
        """One file with all its skipped lines (10,000 at most). Raises NotFoundError."""
        with self._read() as connection:
            return one_source(connection, source_id)

    def story(self, session_id: str) -> SessionStory:
        """What the files beside the prompts say of a session: turns, tools, children, rewinds,
        usage rows with their ties, what is missing. Raises NotFoundError."""
        with self._read() as connection:
            row_id = session_row(connection, session_id)
            return self._stories.get(
                connection, row_id, lambda: build_story(connection, row_id, session_id)
            )

    def revision(self) -> int:
        """A number that grows whenever something was stored: pages poll it."""
        with self._read() as connection:
            return connection_revision(connection)
