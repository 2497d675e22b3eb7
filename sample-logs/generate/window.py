"""Which part of a message list a model I/O record keeps (formats/zcode.md section 3.6)."""

from collections.abc import Sequence
from dataclasses import dataclass

from generate.text import Json, utf16_len, utf16_slice

PRODUCTION_WINDOW = 64
DEVELOPMENT_WINDOW = 256

_EDGE_UNITS = 512
_MAX_KEYS = 12
_MAX_DEPTH = 3


def fingerprint(value: object, depth: int = 0) -> object:
    """Return a sampled, comparable print of a JSON value.

    A string gives its length, its first and its last 512 UTF-16 units; an object its key count and
    its first 12 sorted keys; an array its length, first and last item; below depth 3 only shapes.
    """
    if isinstance(value, str):
        size = utf16_len(value)
        if depth > _MAX_DEPTH:
            return ("text", size)
        tail = utf16_slice(value, max(0, size - _EDGE_UNITS), size)
        return ("text", size, utf16_slice(value, 0, _EDGE_UNITS), tail)
    if isinstance(value, dict):
        if depth > _MAX_DEPTH:
            return ("object", len(value))
        keys = sorted(value)[:_MAX_KEYS]
        return ("object", len(value), tuple((k, fingerprint(value[k], depth + 1)) for k in keys))
    if isinstance(value, list):
        if depth > _MAX_DEPTH or not value:
            return ("array", len(value))
        ends = (value[0], value[-1])
        return ("array", len(value), tuple(fingerprint(item, depth + 1) for item in ends))
    return value


def sampled_indexes(count: int) -> list[int]:
    """Return the indexes compared before a delta: first, last and the quarters between."""
    return sorted({(count - 1) * quarter // 4 for quarter in range(5)})


@dataclass(frozen=True)
class Cut:
    """The part of a list that is written."""

    kind: str
    offset: int
    messages: list[Json]


class Window:
    """The memory a writing process keeps about the previous record of one file."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._count = 0
        self._prints: dict[int, object] = {}

    def reset(self) -> None:
        """Forget the previous record."""
        self._count, self._prints = 0, {}

    def cut(self, messages: Sequence[Json]) -> Cut:
        """Return the part of `messages` to write and remember the full list."""
        offset = self._delta_offset(messages)
        if offset is not None:
            kind = "delta"
        elif len(messages) > self._limit:
            kind, offset = "tail", len(messages) - self._limit
        else:
            kind, offset = "full", 0
        self._count = len(messages)
        indexes = sampled_indexes(len(messages)) if messages else []
        self._prints = {index: fingerprint(messages[index]) for index in indexes}
        return Cut(kind, offset, list(messages[offset:]))

    def _delta_offset(self, messages: Sequence[Json]) -> int | None:
        if self._count == 0 or len(messages) < self._count:
            return None
        same = all(fingerprint(messages[i]) == value for i, value in self._prints.items())
        return self._count if same else None
