"""Finding a query in texts: substrings of any length in any script, and the piece around a match.

Upper and lower case are the same unless asked otherwise. Most texts are only ruled out, by SQLite's
LIKE or in raw bytes; where a query stands exactly is worked out for the few that may hold it.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

BEFORE_CHARS = 70
AFTER_CHARS = 170
MOST_SPANS = 1_000
_LIKE_CHARS = 200
_ESCAPED = re.compile(r"([\\%_])")


class Snippet(NamedTuple):
    """A piece of a text: [start, end) of it, and where the matches stand inside the piece."""

    start: int
    end: int
    matches: tuple[tuple[int, int], ...]


class Matcher:
    """Finds one query. Offsets are code points."""

    def __init__(self, query: str, *, exact: bool = False) -> None:
        """`exact` tells upper from lower case."""
        self.exact = exact or query.lower() == query.upper()
        self._cased = not self.exact and any(map(_is_cased, query))
        self._needle = query if self.exact else ascii_lower(query)
        self._like = _like(query[:_LIKE_CHARS], cased=self._cased)
        self._bytes = _longest_uncased(self._needle) if self._cased else _utf8(self._needle)
        self._pattern = re.compile(re.escape(query), re.IGNORECASE)

    @property
    def like(self) -> str:
        """A pattern of SQLite's LIKE (escaped by a backslash) that every text with a match fits."""
        return self._like

    def may_be_in(self, data: bytes) -> bool:
        """False only where the text with these UTF-8 bytes holds no match."""
        return self._bytes in (data if self.exact else data.lower())

    def spans(self, text: str, most: int = MOST_SPANS) -> tuple[tuple[int, int], ...]:
        """Where the query stands in the text, `most` times at most; matches do not overlap."""
        return tuple(islice(self._all(text), most))

    def _all(self, text: str) -> Iterator[tuple[int, int]]:
        if self._cased:
            yield from (match.span() for match in self._pattern.finditer(text))
            return
        size, low = len(self._needle), text if self.exact else ascii_lower(text)
        at = low.find(self._needle)
        while at >= 0:
            yield at, at + size
            at = low.find(self._needle, at + size)


def ascii_lower(text: str) -> str:
    """The text with its ASCII letters in lower case: as long as it was, whatever else is in it."""
    if text.isascii():
        return text.lower()
    return text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")


def snippet(text: str, spans: Sequence[tuple[int, int]]) -> Snippet:
    """The piece of a text around its first match, and all matches that stand in it."""
    first_start, first_end = spans[0] if spans else (0, 0)
    start = max(0, first_start - BEFORE_CHARS)
    end = min(len(text), max(first_end, first_start + BEFORE_CHARS) + AFTER_CHARS)
    inside = tuple((a - start, b - start) for a, b in spans if a >= start and b <= end)
    return Snippet(start, end, inside)


def outside(
    spans: Sequence[tuple[int, int]], hidden: Sequence[tuple[int, int]]
) -> tuple[tuple[int, int], ...]:
    """The spans that touch none of the hidden ones; both are in order."""
    found, at = [], 0
    for start, end in spans:
        while at < len(hidden) and hidden[at][1] <= start:
            at += 1
        if at == len(hidden) or hidden[at][0] >= end:
            found.append((start, end))
    return tuple(found)


def _like(query: str, *, cased: bool) -> str:
    """LIKE knows the case of ASCII letters only: any other letter may be any character."""
    pattern = _ESCAPED.sub(r"\\\1", query)
    return f"%{''.join('_' if cased and _is_cased(c) else c for c in pattern)}%"


def _longest_uncased(query: str) -> bytes:
    """The longest piece of the query whose bytes do not depend on the case."""
    pieces = re.split("|".join(re.escape(c) for c in set(query) if _is_cased(c)), query)
    return _utf8(max(pieces, key=len))


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _is_cased(char: str) -> bool:
    """Whether SQLite and bytes do not know that a letter has two cases."""
    return not char.isascii() and char.lower() != char.upper()
