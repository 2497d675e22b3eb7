"""What the doctor says of a file of the open trace format."""

from dataclasses import dataclass
from enum import StrEnum


class ProblemLevel(StrEnum):
    """An ERROR breaks the format. A NOTE is allowed, and worth knowing."""

    ERROR = "error"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class TraceProblem:
    """One thing about one line. `where` is the place in its object (`segments[0].n`), empty for the
    line as a whole; `what` is to be said of it, `fix` says what to do. A note on a word or a key
    that is not known is given where it stands first, and not again."""

    level: ProblemLevel
    line: int
    where: str
    what: str
    fix: str


@dataclass(frozen=True, slots=True)
class TraceFile:
    """One file. `format` is the name of the format that it is in, empty where it is none; only
    files of the open trace format have problems. `errors` and `notes` count all of them,
    `problems` may leave out the last ones of a long list. `failed` says why it was not read."""

    path: str
    format: str
    lines: int = 0
    events: int = 0
    requests: int = 0
    sessions: int = 0
    errors: int = 0
    notes: int = 0
    problems: tuple[TraceProblem, ...] = ()
    failed: str = ""
