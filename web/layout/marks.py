"""A text cut into pieces, some of them marked: how a span of a prompt is shown in place."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` to `end` (code points) of a text. `css` says how it is marked, `title` in
    words why; `anchor` is its id in the page."""

    start: int
    end: int
    css: str
    title: str = ""
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a text; `css` is empty where it is not marked."""

    text: str
    css: str = ""
    title: str = ""
    anchor: str = ""


def cut(text: str, spans: Sequence[Span]) -> tuple[Piece, ...]:
    """The text in pieces, in order and without loss. Spans are cut to the text; of two that
    overlap the later one gives way."""
    pieces: list[Piece] = []
    at = 0
    for span in sorted(spans, key=lambda s: (s.start, -s.end)):
        start, end = max(span.start, at), min(span.end, len(text))
        if start >= end:
            continue
        if start > at:
            pieces.append(Piece(text[at:start]))
        pieces.append(Piece(text[start:end], span.css, span.title, span.anchor))
        at = end
    if at < len(text) or not pieces:
        pieces.append(Piece(text[at:]))
    return tuple(pieces)


def first_line(text: str, most: int = 160) -> str:
    """The beginning of a text, up to its first line break that something stands before."""
    return text[: 4 * most].strip().partition("\n")[0][:most]
