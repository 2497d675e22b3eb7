"""Where two texts differ, JSON laid out for reading, and characters that cannot be seen."""

import re
import unicodedata
from collections.abc import Sequence

import msgspec

from tracer.masking import mask_piece
from tracer.model.comparison import Invisible

SNIPPET_CHARS = 60
"""Characters of context on either side of a place."""

_ESCAPE = re.compile(r"\\(.)")
_INDENT = re.compile(r" *")
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffc"
    "\U000e0000-\U000e0fff]"
)
_CONTROLS = {"\r": "CARRIAGE RETURN", "\x1b": "ESCAPE", "\x00": "NULL", "\x0c": "FORM FEED"}
MAX_INVISIBLE = 20


def first_difference(a: Sequence[object], b: Sequence[object]) -> int:
    """The offset of the first item that differs, a code point of a text; the shorter length if
    there is none. Compares slices by bisection: the cost is that of copying them once."""
    low, high = 0, min(len(a), len(b))
    if a[:high] == b[:high]:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def common_suffix(a: str, b: str, most: int) -> int:
    """How many code points the ends of two texts share, `most` at most."""
    low, high = 0, min(len(a), len(b), most)
    while low < high:
        middle = (low + high + 1) // 2
        if a[len(a) - middle : len(a) - low] == b[len(b) - middle : len(b) - low]:
            low = middle
        else:
            high = middle - 1
    return low


def snippet(text: str, offset: int) -> str:
    """The text around an offset, SNIPPET_CHARS on either side; its secrets are masked."""
    return mask_piece(text, offset - SNIPPET_CHARS, offset + SNIPPET_CHARS)


def pretty_json(text: str) -> str | None:
    """The same JSON on many lines, keys and numbers as they were written; a line break inside a
    string begins a new line, too. None where the text is no JSON."""
    try:
        laid_out = msgspec.json.format(text, indent=2)
    except (ValueError, RecursionError):
        return None
    if "\\n" not in laid_out:
        return laid_out
    return "\n".join(_break_line(line) for line in laid_out.split("\n"))


def _break_line(line: str) -> str:
    if "\\n" not in line:
        return line
    match = _INDENT.match(line)
    behind = "\n" + (match[0] if match else "") + "  "
    return _ESCAPE.sub(lambda found: found[0] + behind if found[1] == "n" else found[0], line)


def invisible_chars(line: str) -> tuple[Invisible, ...]:
    """The characters of a line that cannot be seen, MAX_INVISIBLE at most. Tabs are left out."""
    if line.isascii() and line.isprintable():
        return ()
    found = []
    for match in _INVISIBLE.finditer(line):
        found.append(Invisible(match.start(), char_name(match[0])))
        if len(found) == MAX_INVISIBLE:
            break
    return tuple(found)


def char_name(char: str) -> str:
    """A character's code and name: `U+200B ZERO WIDTH SPACE`."""
    name = unicodedata.name(char, "") or _CONTROLS.get(char, "CONTROL CHARACTER")
    return f"U+{ord(char):04X} {name}"
