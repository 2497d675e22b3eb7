"""Use cases, called by the command line and by the web alike."""

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event as StopEvent

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


def default_db_path() -> Path:
    """The database's place where neither `--db` nor TRACER_DB names one: the platform's data
    folder."""
    raise NotImplementedError


def default_root() -> Path:
    """ZCode's folder, `~/.zcode/cli` unless TRACER_ROOT names another."""
    raise NotImplementedError


def ingest(
    db_path: Path,
    paths: Sequence[str],
    *,
    root: Path | None = None,
    format_name: str | None = None,
    count_tokens: bool = True,
    max_line_bytes: int = 64 << 20,
    progress: Callable[[Progress], None] | None = None,
) -> IngestResult:
    """Read what is new in `paths` (files, folders, globs; none: the default locations under
    `root`) into the database. Raises UsageError for an unknown format name, InputError if a path
    matches nothing."""
    raise NotImplementedError


def follow(
    db_path: Path,
    paths: Sequence[str],
    *,
    root: Path | None = None,
    format_name: str | None = None,
    count_tokens: bool = True,
    interval_s: float = 0.5,
    stop: StopEvent,
    on_result: Callable[[IngestResult], None] | None = None,
) -> None:
    """Ingest, then go on reading what is appended, until `stop` is set. `on_result` is called after
    each round that read something."""
    raise NotImplementedError


def doctor(root: Path | None = None, db_path: Path | None = None) -> DoctorReport:
    """What is found where, which logs are missing, and how to switch them on."""
    raise NotImplementedError


class Service:
    """Reads one database. Every call uses its own read-only connection; safe in threads."""

    def __init__(self, db_path: Path) -> None:
        self.db_path = db_path

    def sessions(self, text: str = "", *, limit: int = 100, offset: int = 0) -> SessionPage:
        """Sessions by last activity, newest first. `text` filters by id, title, project, model."""
        raise NotImplementedError

    def session(self, session_id: str) -> SessionSummary:
        """One session. Raises NotFoundError."""
        raise NotImplementedError

    def requests(self, session_id: str) -> tuple[RequestSummary, ...]:
        """All requests of a session by start time. Raises NotFoundError."""
        raise NotImplementedError

    def timeline(self, session_id: str) -> Timeline:
        """A session's timeline. Raises NotFoundError."""
        raise NotImplementedError

    def request(
        self, key: str, *, block_from: int = 0, block_limit: int | None = 200, text: bool = False
    ) -> RequestDetail:
        """One request; `block_limit` None gives all blocks. Raises NotFoundError."""
        raise NotImplementedError

    def block(self, key: str, index: int) -> BlockView:
        """One block of a request's prompt, with its text. Raises NotFoundError."""
        raise NotImplementedError

    def sources(self) -> tuple[SourceView, ...]:
        """All files, with at most 5 skipped lines each."""
        raise NotImplementedError

    def source(self, source_id: int) -> SourceView:
        """One file with all its skipped lines (10,000 at most). Raises NotFoundError."""
        raise NotImplementedError

    def revision(self) -> int:
        """A number that grows whenever something was stored: pages poll it."""
        raise NotImplementedError
