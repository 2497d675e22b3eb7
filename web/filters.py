"""How numbers, times and texts from logs are written on a page.

Pure: value in, text out. Numbers in tables are exact (125,440), numbers in charts are short
(125 K), estimates carry `≈`, and what is unknown is `–`. Texts from logs are hostile: `visible`
turns characters that could change the layout or the reading order into something one can see.
"""

import json
import re
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from tracer import words
from tracer.words import plural

UNKNOWN = "–"
_TILDE = re.compile("~(2E|2F|7E)")
_NARROW = "\u202f"
_BEFORE_UNIT = re.compile(r"(?<=\d) ")
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_BIDI = {
    0x200E: "LRM", 0x200F: "RLM", 0x202A: "LRE", 0x202B: "RLE", 0x202C: "PDF", 0x202D: "LRO",
    0x202E: "RLO", 0x2066: "LRI", 0x2067: "RLI", 0x2068: "FSI", 0x2069: "PDI",
}  # fmt: skip


def _reveal(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code in _BIDI:
        return f"⟦{_BIDI[code]}⟧"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def visible(text: str) -> str:
    """The text with control characters, direction overrides and halves of pairs made visible.

    Line feeds and tabs stay; a carriage return before a line feed is dropped.
    """
    return _HIDDEN.sub(_reveal, text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """The text on one line: runs of white space become one space."""
    return visible(" ".join(text.split()))


def num(value: int | None) -> str:
    """An exact count with thousands separators: 125,440."""
    return UNKNOWN if value is None else f"{value:,}"


def approx(value: int | None) -> str:
    """An estimated count: ≈ 125,440."""
    return UNKNOWN if value is None else f"≈{_NARROW}{value:,}"


def short(value: int | None) -> str:
    """A count for charts, three significant digits: 940, 1.15 K, 125 K, 5.61 M."""
    if value is None:
        return UNKNOWN
    size = float(value)
    for unit in ("", "K", "M", "G"):
        if abs(size) < 999.5 or unit == "G":
            break
        size /= 1000
    if not unit:
        return str(value)
    digits = 0 if abs(size) >= 99.95 else 1 if abs(size) >= 9.995 else 2
    return f"{size:.{digits}f}{_NARROW}{unit}"


def pct(value: float | None) -> str:
    """A share as a percentage with one digit: 96.8 %."""
    return UNKNOWN if value is None else f"{value * 100:.1f}{_NARROW}%"


def share(part: int | None, whole: int | None) -> str:
    """One count as a percentage of another; unknown where either is, or the whole is 0."""
    return UNKNOWN if part is None or not whole else pct(part / whole)


def factor(value: float | None) -> str:
    """A ratio with three digits: × 1.042."""
    return UNKNOWN if value is None else f"×{_NARROW}{value:.3f}"


def duration(ms: int | None) -> str:
    """A length of time in its two largest units: 850 ms, 12.3 s, 4 min 5 s, 1 h 15 min. A number
    and its unit stay together."""
    return UNKNOWN if ms is None else _BEFORE_UNIT.sub(_NARROW, words.duration(ms))


def size(value: int | None) -> str:
    """A size in bytes, decimal units: 912 B, 1.2 MB."""
    if value is None:
        return UNKNOWN
    amount = float(value)
    for unit in ("B", "KB", "MB", "GB"):
        if amount < 999.5 or unit == "GB":
            break
        amount /= 1000
    return f"{value}{_NARROW}B" if unit == "B" else f"{amount:.3g}{_NARROW}{unit}"


def _moment(ms: int) -> datetime | None:
    try:
        return datetime.fromtimestamp(ms / 1000, tz=UTC)
    except (OverflowError, OSError, ValueError):
        return None


def utc(ms: int | None) -> str:
    """A UTC time to the second: 2026-01-12 09:02:11. The word UTC stands beside or above it."""
    moment = None if ms is None else _moment(ms)
    return UNKNOWN if moment is None else f"{moment:%Y-%m-%d %H:%M:%S}"


def utc_minute(ms: int | None) -> str:
    """A UTC time to the minute, for lists: 2026-01-12 09:02."""
    return utc(ms)[:16]


def clock(ms: int | None) -> str:
    """The UTC time of day: 09:02:11."""
    text = utc(ms)
    return text[11:] if len(text) > 11 else text


def iso(ms: int | None) -> str:
    """A UTC time for machines: 2026-01-12T09:02:11Z; empty where unknown."""
    text = utc(ms)
    return "" if text == UNKNOWN else text.replace(" ", "T") + "Z"


def span(start_ms: int | None, end_ms: int | None) -> str:
    """The time between two moments; unknown where either is."""
    return UNKNOWN if start_ms is None or end_ms is None else duration(max(0, end_ms - start_ms))


def basename(path: str) -> str:
    """The last part of a path."""
    return visible(path.replace("\\", "/").rstrip("/").rpartition("/")[2] or path)


def pretty(text: str, most: int = 20_000) -> str:
    """JSON with line breaks, cut to `most` characters; anything else as it is."""
    with suppress(ValueError, RecursionError):
        text = json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    shown = visible(text[:most])
    return shown if len(text) <= most else f"{shown}\n… {len(text) - most:,} more characters"


def file_tail(path: str, most: int = 18) -> str:
    """The end of a file's name, which tells files of one kind apart: …4f2a.jsonl."""
    name = basename(path)
    return name if len(name) <= most else "…" + name[1 - most :]


def segment(text: str) -> str:
    """A text as one segment of a URL's path. Browsers and servers undo `%2F` and take `.` and `..`
    for places: a slash and such a text are written with a tilde (`of_segment` reads it)."""
    if text in (".", ".."):
        return text.replace(".", "~2E")
    return quote(text.replace("~", "~7E").replace("/", "~2F"), safe="", errors="surrogatepass")


def of_segment(written: str) -> str:
    """The text that `segment` wrote, after percent signs were undone."""
    return _TILDE.sub(lambda found: chr(int(found[1], 16)), written)


FILTERS: dict[str, Callable[..., Any]] = {
    "approx": approx,
    "basename": basename,
    "clock": clock,
    "duration": duration,
    "factor": factor,
    "file_tail": file_tail,
    "iso": iso,
    "num": num,
    "one_line": one_line,
    "pct": pct,
    "plural": plural,
    "pretty": pretty,
    "share": share,
    "short": short,
    "size": size,
    "span": span,
    "utc": utc,
    "utc_minute": utc_minute,
    "visible": visible,
}
