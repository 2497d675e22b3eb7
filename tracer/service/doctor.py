"""What is found where, which logs are missing, and how to switch them on (formats/zcode.md 1-3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tracer.errors import StoreError
from tracer.formats import detect
from tracer.ingest.files import open_regular
from tracer.model.doctor_views import DoctorLine, DoctorReport, SessionEvidence
from tracer.service.doctor_sessions import examine_sessions
from tracer.service.session_evidence import DEVELOPMENT, WATCH
from tracer.store.connect import open_reader
from tracer.store.sources import list_sources
from tracer.store.tokens import uncounted_total
from tracer.tokens import DEFAULT_ENCODING
from tracer.words import plural

HEAD_BYTES = 256 << 10
TAIL_BYTES = 4 << 20
KEPT_PRODUCTION_FILES = 3
LOG_DAYS = 7


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    size_bytes: int
    format: str


def examine(root: Path, db_path: Path | None, session_id: str = "") -> DoctorReport:
    """The report for one agent folder and, if it is named, one database with its sessions, or for
    one session of it alone."""
    if session_id and db_path is not None:
        return DoctorReport((), (), (), *examine_sessions(db_path, session_id))
    lines: list[DoctorLine] = []
    files: list[_File] = []
    if not root.is_dir():
        lines.append(
            DoctorLine(
                "missing",
                "The agent's folder was not found",
                f"{root} does not exist.",
                "Name the folder with --root (forks use another home folder), or name log files "
                "directly: `tracer ingest FILE`.",
            )
        )
    else:
        logs, rollout, debug = (_files(root / name) for name in ("log", "rollout", "debug"))
        files = [*logs, *rollout, *debug]
        lines += [
            _log_line(logs),
            _level_line(logs),
            _rollout_line(rollout),
            _debug_line(debug),
            *_other_lines(root, files),
        ]
    sessions: tuple[SessionEvidence, ...] = ()
    total = 0
    if db_path is not None:
        own, readable = _database_lines(db_path)
        lines += own
        if readable:
            sessions, total = examine_sessions(db_path)
    found = tuple((str(f.path), f.format, f.size_bytes) for f in files)
    return DoctorReport((str(root),), tuple(lines), found, sessions, total)


def _files(folder: Path) -> list[_File]:
    if not folder.is_dir():
        return []
    found = []
    for path in sorted(folder.glob("*.jsonl")):
        try:
            with open_regular(path) as file:
                head = file.read(HEAD_BYTES)
            log_format = detect(head)
            found.append(
                _File(path, path.stat().st_size, log_format.name if log_format else "unknown")
            )
        except OSError as error:
            found.append(_File(path, 0, f"unreadable: {error.strerror or error}"))
    return found


def _total(files: Sequence[_File]) -> str:
    size = sum(f.size_bytes for f in files)
    return f"{plural(len(files), 'file')}, {size / 1e6:,.1f} MB"


def _log_line(files: Sequence[_File]) -> DoctorLine:
    if files:
        return DoctorLine(
            "ok",
            "Structured log",
            f"{_total(files)}. The agent deletes files older than {LOG_DAYS} days; what was "
            "ingested stays here.",
        )
    return DoctorLine(
        "missing",
        "No structured log",
        "Turns, retries, failures and compactions will not be shown.",
        "The log folder can be moved by ZCODE_LOG_DIR: pass that folder to `tracer ingest`.",
    )


def _level_line(files: Sequence[_File]) -> DoctorLine:
    built = snapshots = debug = False
    for file in files[-2:]:
        tail = _tail(file.path)
        built = built or b'"context.built"' in tail
        snapshots = snapshots or b'"context_usage_snapshot"' in tail
        debug = debug or b'"level":"debug"' in tail
    if built or snapshots:
        return DoctorLine(
            "ok",
            "Debug level is on",
            "Sections (context.built) and context usage (context_usage_snapshot) are logged. Their "
            "token numbers are redacted by default and recomputed here.",
        )
    if debug:
        return DoctorLine(
            "note",
            "Debug lines, but no context lines yet",
            "context.built is written once a session and process, at its first turn.",
        )
    return DoctorLine(
        "missing",
        "The log is at info level",
        "Neither sections nor context usage are in it; prompts still come from model I/O.",
        DEVELOPMENT,
    )


def _tail(path: Path) -> bytes:
    try:
        with open_regular(path) as file:
            file.seek(max(0, path.stat().st_size - TAIL_BYTES))
            return file.read(TAIL_BYTES)
    except OSError:
        return b""


def _rollout_line(files: Sequence[_File]) -> DoctorLine:
    if files:
        return DoctorLine(
            "note" if len(files) >= KEPT_PRODUCTION_FILES else "ok",
            "Model I/O, production",
            f"{_total(files)}. The agent keeps {KEPT_PRODUCTION_FILES} files in all, subagents' "
            "included, starts a file over at 64 MiB, and writes the last 64 messages of a long "
            "prompt.",
            WATCH,
        )
    return DoctorLine(
        "missing",
        "No model I/O in rollout",
        "Without it there are no prompts and no usage. It is written after every attempt unless "
        "the agent runs in test mode.",
        "Make one request with the agent and look again; a development run writes to the debug "
        "folder instead.",
    )


def _debug_line(files: Sequence[_File]) -> DoctorLine:
    if files:
        return DoctorLine("ok", "Model I/O, development", f"{_total(files)}. No rotation.")
    return DoctorLine(
        "note",
        "No model I/O in debug",
        "It exists only for development runs: 256 messages a line, no rotation. Whole prompts on "
        "every line need the setting modelIoFullRetentionEnabled.",
        DEVELOPMENT,
    )


def _other_lines(root: Path, files: Sequence[_File]) -> list[DoctorLine]:
    lines = []
    unknown = [f for f in files if f.format.startswith("un")]
    if unknown:
        lines.append(
            DoctorLine(
                "note",
                f"{len(unknown)} files of an unknown format",
                ", ".join(f.path.name for f in unknown[:5]),
                "If one is a known format with damaged first lines, name it: "
                "`tracer ingest FILE --format NAME`.",
            )
        )
    if (root / "db" / "db.sqlite").exists():
        lines.append(
            DoctorLine(
                "ok",
                "Session database",
                f"{(root / 'db' / 'db.sqlite').stat().st_size / 1e6:,.1f} MB. Titles, turns, tools "
                "and the usage of every call, also of sessions whose prompts are gone. Reading it "
                "never makes the running agent wait.",
            )
        )
    else:
        lines.append(
            DoctorLine(
                "missing",
                "No session database",
                "Sessions have no titles, projects or turns with the user's words, and those whose "
                "model I/O was rotated away are unknown.",
                "It is db/db.sqlite in the agent's folder; name it if it lies elsewhere.",
            )
        )
    folders = len(list((root / "agents").glob("*/*/metadata.json")))
    if folders:
        lines.append(DoctorLine("ok", "Subagent folders", f"{folders:,} runs of subagents."))
    return lines


def _database_lines(db_path: Path) -> tuple[list[DoctorLine], bool]:
    """The lines, and whether the database can be read."""
    if not db_path.exists():
        nothing = DoctorLine(
            "note", "Nothing ingested yet", f"{db_path} does not exist.", "Run `tracer ingest`."
        )
        return [nothing], False
    try:
        connection = open_reader(db_path)
    except StoreError as error:
        return [DoctorLine("missing", "The database cannot be read", str(error))], False
    try:
        sources = list_sources(connection)
        skipped = sum(s.skipped for s in sources)
        gone = sum(s.status == "missing" for s in sources)
        uncounted = uncounted_total(connection, DEFAULT_ENCODING)
    finally:
        connection.close()
    lines = [
        DoctorLine(
            "ok",
            "Database",
            f"{db_path}, {db_path.stat().st_size / 1e6:,.1f} MB: {len(sources)} file segments, "
            f"{sum(s.records for s in sources):,} records; {gone} of the files are no longer on "
            "disk, their data is kept.",
        )
    ]
    if skipped:
        lines.append(
            DoctorLine(
                "note",
                f"{skipped:,} lines were left out",
                "`tracer sources --skipped` lists each with its reason.",
            )
        )
    if uncounted:
        lines.append(
            DoctorLine(
                "note",
                f"{uncounted:,} blocks have no token count",
                "Until they are counted, sizes are the agent's own estimate.",
                "Run `tracer ingest` again.",
            )
        )
    return lines, True
