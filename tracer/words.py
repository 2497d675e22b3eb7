"""Words that every layer uses: one for one thing, wherever it is said."""

from collections.abc import Mapping

from tracer.model.prompt import Tier
from tracer.model.verdict import Certainty, Fault, Result

RESULT_WORDS: Mapping[str, str] = {
    Result.FIRST: "first request",
    Result.HIT: "hit",
    Result.PARTIAL: "partial hit",
    Result.MISS: "miss",
    Result.EXPECTED_REBUILD: "expected rebuild",
    Result.NO_USAGE: "no usage",
    Result.NOT_REPORTED: "cache not reported",
}
"""What became of a request's cache."""

CERTAINTY_WORDS: Mapping[str, str] = {
    Certainty.CERTAIN: "certain",
    Certainty.HIGH: "very likely",
    Certainty.MEDIUM: "likely",
    Certainty.ELIMINATION: "by elimination",
    Certainty.UNKNOWN: "not established",
}
"""How sure a cause is."""

FAULT_WORDS: Mapping[str, str] = {
    Fault.CLIENT: "the client's side",
    Fault.PROVIDER: "the provider's side",
    Fault.USER: "the user's doing",
    Fault.NOBODY: "nobody's fault",
}
"""Whose doing a cause is."""

TIER_WORDS: Mapping[str, str] = {
    Tier.TOOLS: "tool",
    Tier.SYSTEM: "system block",
    Tier.MESSAGES: "message",
}
"""What a tier of a prompt consists of."""


def plural(count: int, one: str, many: str = "") -> str:
    """A count with its noun: `1 file`, `1,200 files`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def capital(text: str) -> str:
    """The text with a capital first letter."""
    return text[:1].upper() + text[1:]


def duration(ms: int) -> str:
    """A length of time in its two largest units: `850 ms`, `12.3 s`, `4 min 5 s`, `1 h 15 min`,
    `2 d 3 h`."""
    if ms < 1_000:
        return f"{ms} ms"
    if ms < 59_950:
        return f"{ms / 1_000:.1f} s"
    seconds = round(ms / 1_000)
    minutes = seconds // 60
    if minutes < 60:
        return f"{minutes} min {seconds % 60} s"
    hours = minutes // 60
    if hours < 48:
        return f"{hours} h {minutes % 60} min"
    return f"{hours // 24} d {hours % 24} h"
