"""For each session: which files tell of it, what is gone, and what to switch on to see more."""

from tracer.model.doctor_views import DoctorLine
from tracer.service.trace_evidence import trace_evidence
from tracer.store.session_reading import FactsRow, SourceKinds

WATCH = (
    "Run `tracer ingest --watch` (or `tracer serve`) beside the agent, so that records are copied "
    "before they are rotated away."
)
"""What to do so that no record is lost."""

_WHOLE = (
    "A development run (ZCODE_RUNTIME_ENV=development) logs 256 messages of a prompt instead of "
    "64; with modelIoFullRetentionEnabled it logs whole prompts."
)
DEVELOPMENT = (
    "Start the agent with ZCODE_RUNTIME_ENV=development: the log then goes to debug level and "
    "model I/O to the debug folder, without rotation."
)
"""What to do so that sections and context usage are logged."""

_DATABASE = "Ingest the agent's db/db.sqlite as well: `tracer ingest` without a path reads it."


def session_evidence(kinds: SourceKinds, facts: FactsRow | None) -> tuple[DoctorLine, ...]:
    """The lines, prompts first; of the open trace format what its own lines can tell."""
    if kinds.trace is not None and not (kinds.usage_rows or kinds.messages or facts):
        return (*trace_evidence(kinds.trace), *_others(kinds))
    return (
        _prompts(kinds),
        _levels(kinds),
        _usage(kinds, facts),
        *_removed(facts),
        *_others(kinds),
    )


def _prompts(kinds: SourceKinds) -> DoctorLine:
    known_elsewhere = kinds.log_requests + kinds.event_requests + kinds.database_requests
    if kinds.records and not known_elsewhere:
        return DoctorLine(
            "note" if kinds.windowed else "ok",
            "Some prompts are windowed" if kinds.windowed else "Prompts",
            f"Model I/O of all {kinds.records:,} requests was read.{_windows(kinds)}",
            _WHOLE if kinds.windowed else "",
        )
    if kinds.records:
        return DoctorLine(
            "note",
            "Some prompts are gone",
            f"Model I/O of {kinds.records:,} requests was read. Others are known from the log, "
            "from events or from the session database only: their records were rotated away, or a "
            f"file was started over at its size limit.{_windows(kinds)}",
            f"{WATCH} {_WHOLE}" if kinds.windowed else WATCH,
        )
    return DoctorLine(
        "missing",
        "No prompts",
        "No model I/O record of this session was read: the agent keeps the files of three sessions "
        "only. Usage and times are shown; what a prompt contained, and which block changed, cannot "
        "be known. Reasons for a low cache read are then likely at best.",
        WATCH,
    )


def _windows(kinds: SourceKinds) -> str:
    """How many records hold only the end of a prompt."""
    if not kinds.windowed:
        return ""
    they = "is" if kinds.windowed == 1 else "are"
    return (
        f" {kinds.windowed:,} of them {they} windowed: the record holds only the last messages. "
        "What stands before them is carried over from earlier records as far as those prove it."
    )


def _levels(kinds: SourceKinds) -> DoctorLine:
    if kinds.sections or kinds.usage_snapshots:
        return DoctorLine(
            "ok",
            "Sections and context usage",
            f"The log is at debug level: {kinds.sections:,} context.built and "
            f"{kinds.usage_snapshots:,} context_usage_snapshot lines.",
        )
    if kinds.log_lines:
        return DoctorLine(
            "missing",
            "The log is at info level" if not kinds.debug_lines else "No context lines",
            f"{kinds.log_lines:,} lines tell of turns, retries and failures, not of sections.",
            DEVELOPMENT,
        )
    return DoctorLine(
        "missing",
        "No structured log",
        "The log of those days was not read, or was deleted after seven days: retries, failed "
        "attempts and compactions may be missing.",
        WATCH,
    )


def _usage(kinds: SourceKinds, facts: FactsRow | None) -> DoctorLine:
    if kinds.usage_rows or facts is not None:
        return DoctorLine(
            "ok",
            "Session database",
            f"{kinds.usage_rows:,} usage rows and {kinds.messages:,} messages: title, turns, tools "
            "and rewinds are known.",
        )
    return DoctorLine(
        "missing",
        "Not in a session database",
        "Project, tool times, permissions and rewinds are unknown; the user's words are taken from "
        "prompts, where those were logged.",
        _DATABASE,
    )


def _removed(facts: FactsRow | None) -> list[DoctorLine]:
    if facts is None or facts.removed_at_ms is None:
        return []
    return [
        DoctorLine(
            "note",
            "Removed from the agent's database",
            "The session was deleted there since it was read; what it said is kept here.",
        )
    ]


def _others(kinds: SourceKinds) -> list[DoctorLine]:
    found = []
    if kinds.folders:
        found.append(
            DoctorLine("ok", "Subagent folder", "Its brief, status and final text are known.")
        )
    if kinds.session_events:
        found.append(
            DoctorLine(
                "ok",
                "Session events",
                f"{kinds.session_events:,} events; an older build's transcript or a sink's file.",
            )
        )
    if kinds.missing_files:
        files = "file is" if kinds.missing_files == 1 else "files are"
        found.append(
            DoctorLine(
                "note",
                f"{kinds.missing_files} {files} no longer on disk",
                "What was read from there is kept.",
            )
        )
    return found
