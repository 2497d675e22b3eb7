"""Use cases, called by the command line and by the web alike.

`ingest` and `follow` write; a `Service` reads. Every reading call opens its own read-only
connection and closes it: no snapshot is held between calls, and threads do not share anything.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event as StopEvent

from tracer.errors import InputError, NotFoundError
from tracer.ingest import IngestOptions, Ingestor, find_files
from tracer.model.views import (
    BlockView,
    DoctorReport,
    IngestResult,
    Progress,
    RequestDetail,
    RequestSummary,
    SessionPage,
    SessionSummary,
    SourceView,
    Timeline,
)
from tracer.service.cached import RevisionCache
from tracer.service.detail import build_detail
from tracer.service.doctor import examine
from tracer.service.paths import default_db_path, default_root
from tracer.service.requests import SessionData, load_session, prompt_facts, summarise
from tracer.service.sessions import summaries
from tracer.service.sources import all_sources, one_source
from tracer.service.timelines import build_timeline
from tracer.store.connect import open_reader
from tracer.store.reading import (
    child_ids,
    keys_like,
    request_session,
    session_ids,
    session_row_id,
    sessions_like,
)
from tracer.store.records import connection_revision

__all__ = ["Service", "default_db_path", "default_root", "doctor", "follow", "ingest"]

DEFAULT_MAX_LINE_BYTES = 64 << 20


def ingest(
    db_path: Path,
    paths: Sequence[str],
    *,
    root: Path | None = None,
    format_name: str | None = None,
    count_tokens: bool = True,
    max_line_bytes: int = DEFAULT_MAX_LINE_BYTES,
    progress: Callable[[Progress], None] | None = None,
) -> IngestResult:
    """Read what is new in `paths` (files, folders, globs; none: the default locations under
    `root`) into the database. Raises UsageError for an unknown format name, InputError if a path
    names nothing."""
    files = find_files(paths, root)
    ingestor = Ingestor(db_path, IngestOptions(format_name, count_tokens, max_line_bytes))
    try:
        result = ingestor.ingest(files, progress)
        ingestor.note_missing(files)
        return result
    finally:
        ingestor.close()


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
    a file."""
    files = find_files(paths, root)
    ingestor = Ingestor(db_path, IngestOptions(format_name, count_tokens, max_line_bytes))
    try:
        first = True
        while True:
            result = ingestor.ingest(files, progress if first else None)
            if on_result and (first or result.read_bytes):
                on_result(result)
            if first or result.read_bytes:
                ingestor.note_missing(files)
            first = False
            if stop.wait(interval_s):
                return
            files = _still_there(paths, root)
    finally:
        ingestor.close()


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


def doctor(root: Path | None = None, db_path: Path | None = None) -> DoctorReport:
    """What is found where, which logs are missing, and how to switch them on."""
    return examine(root or default_root(), db_path)


class Service:
    """Reads one database. Safe in threads."""

    def __init__(self, db_path: Path) -> None:
        self.db_path = db_path
        self._rows: RevisionCache[SessionData] = RevisionCache()
        self._timelines: RevisionCache[Timeline] = RevisionCache()

    @contextmanager
    def _read(self) -> Iterator[sqlite3.Connection]:
        connection = open_reader(self.db_path)
        try:
            connection.execute("BEGIN")  # one snapshot for all queries of a call
            yield connection
        finally:
            connection.close()

    def sessions(self, text: str = "", *, limit: int = 100, offset: int = 0) -> SessionPage:
        """Sessions by last activity, newest first. `text` filters by id, title, project, model."""
        with self._read() as connection:
            ids, total = session_ids(connection, text.strip(), limit, offset)
            return SessionPage(summaries(connection, ids, sparks=True), total)

    def session(self, session_id: str) -> SessionSummary:
        """One session. Raises NotFoundError."""
        with self._read() as connection:
            row_id = _session_row(connection, session_id)
            return summaries(connection, [row_id], sparks=False)[0]

    def session_ids_like(self, prefix: str) -> tuple[str, ...]:
        """At most ten session ids that begin with `prefix`."""
        with self._read() as connection:
            return tuple(sessions_like(connection, prefix))

    def keys_like(self, prefix: str) -> tuple[str, ...]:
        """At most ten request keys that begin with `prefix`."""
        with self._read() as connection:
            return tuple(keys_like(connection, prefix))

    def requests(self, session_id: str) -> tuple[RequestSummary, ...]:
        """All requests of a session by start time. Raises NotFoundError."""
        with self._read() as connection:
            data = load_session(connection, _session_row(connection, session_id), prompts=True)
            return tuple(
                summarise(data, session_id, seq, prompt_facts(data, row))
                for seq, row in enumerate(data.rows, 1)
            )

    def timeline(self, session_id: str) -> Timeline:
        """A session's timeline. Raises NotFoundError."""
        with self._read() as connection:
            row_id = _session_row(connection, session_id)
            return self._timelines.get(
                connection, row_id, lambda: _load_timeline(connection, row_id, session_id)
            )

    def request(
        self, key: str, *, block_from: int = 0, block_limit: int | None = 200, text: bool = False
    ) -> RequestDetail:
        """One request; `block_limit` None gives all blocks. Raises NotFoundError."""
        with self._read() as connection:
            found = request_session(connection, key)
            if found is None:
                raise NotFoundError(f"There is no request {key!r} in this database.")
            row_id, _ = found
            data = self._rows.get(
                connection, row_id, lambda: load_session(connection, row_id, prompts=False)
            )
            session = summaries(connection, [row_id], sparks=False)[0]
            return build_detail(
                connection,
                data,
                row_id,
                session,
                key,
                block_from=max(block_from, 0),
                block_limit=block_limit,
                text=text,
            )

    def block(self, key: str, index: int) -> BlockView:
        """One block of a request's prompt, with its text. Raises NotFoundError."""
        detail = self.request(key, block_from=max(index, 0), block_limit=1, text=True)
        if index < 0 or not detail.blocks:
            raise NotFoundError(f"Request {key} has {detail.block_total:,} blocks, not {index:,}.")
        return detail.blocks[0]

    def sources(self) -> tuple[SourceView, ...]:
        """All files, with at most 5 skipped lines each."""
        with self._read() as connection:
            return all_sources(connection, skipped_limit=5)

    def source(self, source_id: int) -> SourceView:
        """One file with all its skipped lines (10,000 at most). Raises NotFoundError."""
        with self._read() as connection:
            return one_source(connection, source_id)

    def revision(self) -> int:
        """A number that grows whenever something was stored: pages poll it."""
        with self._read() as connection:
            return connection_revision(connection)


def _load_timeline(connection: sqlite3.Connection, row_id: int, session_id: str) -> Timeline:
    ids = [row_id, *child_ids(connection, session_id)]
    session, *children = summaries(connection, ids, sparks=False)
    data = load_session(connection, row_id, prompts=True)
    return build_timeline(connection, data, row_id, session, tuple(children))


def _session_row(connection: sqlite3.Connection, session_id: str) -> int:
    row_id = session_row_id(connection, session_id)
    if row_id is None:
        raise NotFoundError(
            f"There is no session {session_id!r} in this database. `tracer sessions` lists them."
        )
    return row_id
