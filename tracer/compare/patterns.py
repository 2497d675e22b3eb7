"""Pieces of a line that change by nature: stamps, dates, times, ids, token counts.

Two lines differ by such pieces only if they are equal once every piece is replaced by its kind.
"""

import re
from typing import NamedTuple

from tracer.model.comparison import TextKind

MAX_LINE_CHARS = 4_000

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_DAY = r"(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?"
_CLOCK = r"(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?"
_ZONE = r"(?:Z|[+-]\d{2}:?\d{2})"
_YMD = r"\d{4}[-/.](?:0?[1-9]|1[0-2])[-/.](?:0?[1-9]|[12]\d|3[01])"
_UUID = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"

# The order counts: the first alternative that fits at a place wins.
_PIECES = re.compile(
    rf"(?P<iso_timestamp>\b{_YMD}[T ]{_CLOCK} ?{_ZONE}|\b{_YMD}T{_CLOCK})"
    rf"|(?P<uuid>\b{_UUID}\b)"
    rf"|(?P<date>(?:\b{_DAY},? )?(?:\b{_YMD}\b|\b{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}\b"
    rf"|\b\d{{1,2}}\.? {_MONTH}\.?,? \d{{4}}\b|\b\d{{1,2}}/\d{{1,2}}/\d{{4}}\b"
    rf"|\b\d{{1,2}}\.\d{{1,2}}\.\d{{4}}\b)|\b{_DAY}\b|\d{{4}}\u5e74\d{{1,2}}\u6708\d{{1,2}}\u65e5)"
    rf"|(?P<time>\b{_CLOCK}(?: ?[AaPp]\.?[Mm]\b\.?)?(?: (?:UTC|GMT|{_ZONE})\b)?)"
    r"|(?P<hex>\b[0-9a-fA-F]{5,}\b)"
    r"|(?P<number>\d[\d,]*(?:\.\d+)?)"
)
_ID_BEFORE = re.compile(
    r"(?:\b|_)(?:cch|nonce|uuid|guid|salt|seed|token|key|id|session|request|trace|run|hash|etag)"
    r"[\"']?\s*[=:]\s*[\"']?$",
    re.IGNORECASE,
)
_USAGE = re.compile(
    r"\btokens?\b|\busage\b|\bcontext (?:window|left|used|remaining|size)\b|\bcost\b|\bbudget\b"
    r"|\bremaining\b|[$%]",
    re.IGNORECASE,
)
_LEAST_HEX = 8
_KINDS = {
    "iso_timestamp": TextKind.ISO_TIMESTAMP,
    "uuid": TextKind.NONCE,
    "date": TextKind.DATE,
    "time": TextKind.TIME,
}


class Piece(NamedTuple):
    """A part of a line, [start, end)."""

    start: int
    end: int


def differing_pieces(x: str, y: str) -> list[tuple[TextKind, Piece, Piece]]:
    """The pieces in which two lines differ; empty if they differ in anything else, or if the kind
    of a piece is not certain. A number counts only on a line about usage, hexadecimal digits only
    where they look random or are called an id."""
    if max(len(x), len(y)) > MAX_LINE_CHARS:
        return []
    old, new = list(_PIECES.finditer(x)), list(_PIECES.finditer(y))
    if len(old) != len(new) or _skeleton(x, old) != _skeleton(y, new):
        return []
    found = []
    for p, q in zip(old, new, strict=True):
        if p[0] == q[0]:
            continue
        kind = _KINDS.get(p.lastgroup or "") or _number_kind(x, y, p, q)
        if kind is None:
            return []
        found.append((kind, Piece(*p.span()), Piece(*q.span())))
    return found


def _number_kind(x: str, y: str, p: re.Match[str], q: re.Match[str]) -> TextKind | None:
    """What two runs of digits, decimal or hexadecimal, are."""
    if _is_id(x, p) and _is_id(y, q):
        return TextKind.NONCE
    decimal = not any(char.isalpha() for char in p[0] + q[0])
    if decimal and _USAGE.search(x) and _USAGE.search(y):
        return TextKind.USAGE
    return None


def _skeleton(line: str, pieces: list[re.Match[str]]) -> list[str]:
    """The line with the names of its pieces in their place."""
    parts = []
    at = 0
    for piece in pieces:
        name = piece.lastgroup or ""
        parts += [line[at : piece.start()], "number" if name == "hex" else name]
        at = piece.end()
    parts.append(line[at:])
    return parts


def _is_id(line: str, piece: re.Match[str]) -> bool:
    """Whether digits are called an id, or look like a random one."""
    text = piece[0]
    if _ID_BEFORE.search(line[: piece.start()]):
        return True
    return len(text) >= _LEAST_HEX and not text.isdigit() and not text.isalpha()
