"""What the checks found: broken rules, and rules that a log cannot decide (design.md 9)."""

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How bad a broken rule is, the worst first."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Finding:
    """A broken rule at its place.

    `key` is that of the request, `message_index` counts in its whole message list, leading system
    messages included (None: the request as a whole). `message` is one sentence about this case,
    `evidence` what was seen, as (label, value) pairs with the numbers and short excerpts.
    """

    rule: str
    level: Level
    key: str
    message: str
    message_index: int | None = None
    evidence: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """A rule that the log cannot decide. `needs` says what would decide it ("the whole message
    list: the log holds a window"); `keys` are the requests, none for the session as a whole."""

    rule: str
    needs: str
    keys: tuple[str, ...] = ()
