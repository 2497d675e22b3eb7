"""Reading the rows of databases that other programs wrote: any column may be missing, NULL, or of
another type than expected."""

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from tracer.formats._json import MAX_INT, clean, compact, int_of, text_of
from tracer.formats._time import epoch_ms
from tracer.tokens import clean_surrogates

_SOON_ENOUGH_MS = 10_000_000_000_000  # the year 2286


def words(names: str) -> frozenset[str]:
    """Names that are separated by white space."""
    return frozenset(names.split())


def text(row: Mapping[str, Any], name: str) -> str:
    """A text column; bytes are decoded, numbers written out, NULL is empty."""
    value = row.get(name)
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def number(row: Mapping[str, Any], name: str) -> int | None:
    """A whole number, or None."""
    value = row.get(name)
    if isinstance(value, str) and value.strip().lstrip("-").isdigit():
        value = int(value)
    return int_of(value)


def count(row: Mapping[str, Any], name: str) -> int | None:
    """A whole number that is not negative, or None."""
    value = row.get(name)
    if type(value) is int and 0 <= value <= MAX_INT:
        return value  # as nearly all are
    found = number(row, name)
    return found if found is not None and found >= 0 else None


def flag(row: Mapping[str, Any], name: str) -> int:
    """1 or 0; unknown is 0."""
    return int(bool(number(row, name)))


def optional_flag(row: Mapping[str, Any], name: str) -> int | None:
    """1, 0, or None where the column is missing or NULL."""
    found = number(row, name)
    return None if found is None else int(bool(found))


def time(row: Mapping[str, Any], name: str) -> int | None:
    """UTC epoch milliseconds of a column that holds them, or an ISO time."""
    value = row.get(name)
    if value is None or (type(value) is int and 0 <= value <= _SOON_ENOUGH_MS):
        return value
    return epoch_ms(value)


def decoded(value: str) -> dict[str, Any] | None:
    """The object in a JSON column, or None where the text is none."""
    try:
        found = msgspec.json.decode(value)
    except (ValueError, RecursionError):
        try:
            found = clean(json.loads(value))
        except (ValueError, RecursionError):
            return None
    return found if isinstance(found, dict) else None


def json_text(value: Any) -> str:
    """A JSON value as compact text; nothing for nothing."""
    return "" if value is None or value in ("", {}, []) else compact(value)


def rest(row: Mapping[str, Any], known: frozenset[str]) -> str:
    """The columns that are not in `known` and hold something, as a compact object."""
    others = {}
    for name, value in row.items():
        if name in known or value is None or value == "":
            continue
        others[name] = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    return compact(others) if others else ""


def inner(value: Any, *path: str) -> Any:
    """The value at a path of keys, or None."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def inner_text(value: Any, *path: str) -> str:
    """The text at a path of keys, or an empty one."""
    return text_of(inner(value, *path))


def inner_int(value: Any, *path: str) -> int | None:
    """The whole number at a path of keys, or None."""
    return int_of(inner(value, *path))


def inner_time(value: Any, *path: str) -> int | None:
    """The time at a path of keys, in epoch milliseconds."""
    return epoch_ms(inner(value, *path))


def safe(value: str) -> str:
    """A text that can be stored: half surrogate pairs are replaced."""
    return clean_surrogates(value)
