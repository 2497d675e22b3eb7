"""Reading JSON lines that other programs wrote: strict and fast first, lenient second.

JavaScript slices strings by UTF-16 unit, so a log can hold half a surrogate pair as `\\udXXX`
(formats/zcode.md 14, case 5). The fast decoder refuses those lines; the lenient one reads them and
puts U+FFFD in place of the half, so that every text can be stored and served.
"""

import json
from typing import Any

import msgspec

from tracer.model.source import SkipKind, Skipped
from tracer.tokens import clean_surrogates

BOM = b"\xef\xbb\xbf"
EXCERPT_CHARS = 200
# The integers that JavaScript can count with. A larger one is no count of anything, and added to
# another it would not fit into a column of the database.
MAX_INT = 2**53 - 1

_encoder = msgspec.json.Encoder()


def excerpt(line: bytes) -> str:
    """The first 200 characters of a line, for people."""
    return line[: EXCERPT_CHARS * 4].decode("utf-8", "replace")[:EXCERPT_CHARS]


def skipped(kind: SkipKind, reason: str, line: bytes) -> Skipped:
    """A record of a line that could not be used."""
    return Skipped(kind, reason, excerpt(line))


def strip_line(line: bytes) -> bytes:
    """The line without white space around it and without a byte-order mark."""
    line = line.strip()
    return line[len(BOM) :].lstrip() if line.startswith(BOM) else line


def clean(value: Any) -> Any:
    """The same JSON value with every lone surrogate in it replaced by U+FFFD."""
    if isinstance(value, str):
        return clean_surrogates(value)
    if isinstance(value, list):
        return [clean(v) for v in value]
    if isinstance(value, dict):
        return {clean_surrogates(k): clean(v) for k, v in value.items()}
    return value


def too_deep(line: bytes) -> Skipped:
    """The reason for a line whose nesting is beyond what can be read."""
    return skipped(SkipKind.NOT_JSON, "The line is nested too deeply to be read.", line)


def decode_object(line: bytes) -> tuple[dict[str, Any], bytes] | Skipped:
    """The object of a line, and the bytes that stand for it.

    The bytes are the line itself, or its re-encoding where the lenient reader had to clean it.
    A line that is no JSON object gives the reason.
    """
    try:
        value = msgspec.json.decode(line)
    except (ValueError, RecursionError):
        value = _decode_lenient(line)
        if isinstance(value, Skipped):
            return value
        if isinstance(value, dict):
            return value, _encoder.encode(value)
    if not isinstance(value, dict):
        reason = f"The line is JSON but not an object: it is {kind_of(value)}."
        return skipped(SkipKind.NOT_OBJECT, reason, line)
    return value, line


def _decode_lenient(line: bytes) -> Any:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        return skipped(
            SkipKind.ENCODING,
            f"The line is not UTF-8 at byte {error.start} of the line; it was left out.",
            line,
        )
    try:
        return clean(json.loads(text))
    except RecursionError:
        return too_deep(line)
    except ValueError as error:
        return skipped(SkipKind.NOT_JSON, f"The line is not JSON: {error}.", line)


def kind_of(value: Any) -> str:
    """What a JSON value is, in the words of JSON."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"the number {value}"
        case str():
            return "a string"
        case list():
            return "a list"
        case _:
            return "an object"


def compact(value: Any) -> str:
    """A JSON value as compact text, keys in the order they have."""
    return _encoder.encode(value).decode("utf-8")


def text_of(value: Any) -> str:
    """A string as it is, anything else as an empty string."""
    return value if isinstance(value, str) else ""


def int_of(value: Any) -> int | None:
    """A whole number, or None: "[Redacted]", true, 1.5, 1e300 and missing values are unknown."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and -MAX_INT <= value <= MAX_INT else None


def count_of(value: Any) -> int | None:
    """A whole number from 0 on, or None: what is less is no count of anything."""
    found = int_of(value)
    return found if found is not None and found >= 0 else None


def float_of(value: Any) -> float | None:
    """A number, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if -MAX_INT <= value <= MAX_INT else None


def rest_json(value: dict[str, Any], known: frozenset[str]) -> str:
    """The keys of an object that are not in `known`, as a compact object; empty if none."""
    rest = {k: v for k, v in value.items() if k not in known}
    return compact(rest) if rest else ""


def sniff_lines(head: bytes, limit: int = 20) -> list[bytes]:
    """The first lines of a file that are not blank, the last of them perhaps cut."""
    lines = []
    for raw in head.split(b"\n"):
        line = strip_line(raw)
        if line:
            lines.append(line)
        if len(lines) >= limit:
            break
    return lines
