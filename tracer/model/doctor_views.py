"""What the doctor says: of the agent's folder, of the database, and of each session."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class DoctorLine:
    """One line of `tracer doctor`: `level` is `ok`, `note` or `missing`."""

    level: str
    title: str
    detail: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class SessionEvidence:
    """How much the files tell of one session: requests, those of them whose model I/O was read
    (`prompts`), those of these whose record holds only the end of the prompt (`windowed_prompts`),
    lines and rows of each kind of file, files that are no longer on disk."""

    session_id: str
    title: str
    requests: int
    prompts: int
    windowed_prompts: int
    log_lines: int
    section_lines: int
    usage_rows: int
    messages: int
    session_events: int
    missing_files: int
    lines: tuple[DoctorLine, ...]


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """What is found where, which logs are missing, and how to switch them on; of `session_total`
    sessions in the database those with the latest activity."""

    roots: tuple[str, ...]
    lines: tuple[DoctorLine, ...]
    files: tuple[tuple[str, str, int], ...] = field(default=())
    sessions: tuple[SessionEvidence, ...] = ()
    session_total: int = 0
