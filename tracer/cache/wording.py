"""How verdicts speak: numbers, times and sentences, like a colleague."""

import re

from tracer.model.prompt import Tier
from tracer.words import TIER_WORDS, plural

MAX_EXCERPT = 160
_PLAIN_VALUE = re.compile(r"[\w.+-]{1,24}")


def tokens(count: int) -> str:
    """`1 token`, `25,472 tokens`."""
    return plural(count, "token")


def duration(ms: int) -> str:
    """A span as a sentence says it, rounder than in a table (`tracer.words.duration`): `9 s`,
    `7 min 20 s`, `3 h 5 min`."""
    seconds = round(ms / 1_000)
    if seconds < 60:
        return f"{ms / 1_000:.1f} s" if 0 < ms < 10_000 and ms % 1_000 else f"{seconds} s"
    minutes, rest = divmod(seconds, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if rest else f"{hours} h"


def excerpt(text: str) -> str:
    """A short text on one line."""
    flat = " ".join(text.split())
    return flat if len(flat) <= MAX_EXCERPT else f"{flat[: MAX_EXCERPT - 1]}…"


def quoted(text: str) -> str:
    """A text of the log in a sentence: a plain value as it is, anything else in quotation marks, by
    which a redacted view knows what is not ours."""
    return text if _PLAIN_VALUE.fullmatch(text) else f"“{excerpt(text)}”"


def names(found: list[str], limit: int = 5) -> str:
    """`a, b and 3 more`."""
    if len(found) <= limit:
        return ", ".join(found)
    return f"{', '.join(found[:limit])} and {len(found) - limit} more"


def times(count: int) -> str:
    """`once`, `twice`, `4 times`."""
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def percent(part: float, whole: float) -> str:
    """`94.1 %`, or a dash where there is no whole."""
    return f"{100 * part / whole:.1f} %" if whole else "–"


def tier_place(tier: Tier, index: int | None) -> str:
    """`tool 4`, `system block 0`, `message 12`."""
    word = TIER_WORDS[tier]
    return word if index is None else f"{word} {index}"
