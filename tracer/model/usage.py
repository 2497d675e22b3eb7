"""Token usage as a provider billed it, in four disjoint counts."""

from dataclasses import dataclass
from enum import StrEnum


class Convention(StrEnum):
    """Does the reported input contain the cache counts? (cache-rules.md 1.8)"""

    INCLUSIVE = "inclusive"
    EXCLUSIVE = "exclusive"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ReportedUsage:
    """The numbers as logged; None where the log has none. `declared` is what the format says,
    `left_out` names numbers that count nothing (negative, or beyond all counts)."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    declared: Convention = Convention.UNKNOWN
    raw_json: str = ""
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Normalised usage: input = fresh + cache read + cache write, where all are known.

    A count that was not reported is None, never 0. `reason` says in words how the convention
    was found.
    """

    input_tokens: int | None
    fresh_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    convention: Convention
    reason: str
    raw_json: str = ""
