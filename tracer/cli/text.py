"""Text for a terminal: nothing from a log reaches it unseen, and columns line up.

Logs are hostile input. A raw ESC could move the cursor or rewrite the title of the window, a
bidirectional override could show other text than there is, so every piece of a log goes through
`visible` before it is printed.
"""

import re
import unicodedata

from tracer import words
from tracer.jsonview.core import utc
from tracer.jsonview.encoding import UNSAFE

UNKNOWN = "-"

_UNSAFE = re.compile(f"[{UNSAFE}]")


def _picture(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def visible(text: str, *, keep_lines: bool = False) -> str:
    """`text` with every control character in a visible form (ESC becomes U+241B).

    `keep_lines` leaves line feeds and tabs as they are.
    """
    if keep_lines:
        return _UNSAFE.sub(lambda m: m.group() if m.group() in "\n\t" else _picture(m), text)
    return _UNSAFE.sub(_picture, text)


def _char_width(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def display_width(text: str) -> int:
    """How many columns of a terminal `text` takes: East Asian wide characters take two."""
    return len(text) if text.isascii() else sum(map(_char_width, text))


def clip(text: str, width: int) -> str:
    """`text` cut to `width` columns, ending in an ellipsis where something was cut."""
    if display_width(text) <= width:
        return text
    kept, used = [], 0
    for char in text:
        used += _char_width(char)
        if used > width - 1:
            break
        kept.append(char)
    return "".join(kept) + "…"


def pad(text: str, width: int, *, right: bool = False) -> str:
    """`text` filled with blanks to `width` columns, on its left side if `right`."""
    blanks = " " * max(0, width - display_width(text))
    return blanks + text if right else text + blanks


def number(value: int | None) -> str:
    """A count with thousands separators; a dash where it is unknown."""
    return UNKNOWN if value is None else f"{value:,}"


def byte_size(value: int | None) -> str:
    """A size in decimal units: `812 B`, `12.3 MB`."""
    if value is None:
        return UNKNOWN
    size, unit = float(value), "B"
    for unit in ("B", "KB", "MB", "GB", "TB"):
        if size < 999.95 or unit == "TB":
            break
        size /= 1000
    return f"{value:,} B" if unit == "B" else f"{size:.1f} {unit}"


def duration(value_ms: int | None) -> str:
    """A length of time; a dash where it is unknown."""
    return UNKNOWN if value_ms is None else words.duration(value_ms)


def percent(share: float | None) -> str:
    """A share in percent with one decimal; a dash where it is unknown."""
    return UNKNOWN if share is None else f"{share * 100:.1f} %"


def moment(value_ms: int | None) -> str:
    """A UTC time to the second, for people: `2026-03-01 09:15:02`."""
    at = utc(value_ms)
    return UNKNOWN if at is None else f"{at:%Y-%m-%d %H:%M:%S}"
