"""The lines of hunks as rows of a table: one column of text, or A and B side by side."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tracer.model.compare_views import LinePiece
from tracer.model.comparison import Hunk, Line
from tracer.service.comparing_words import line_pieces
from tracer.words import plural
from web.filters import num

_CSS = {" ": "same", "-": "gone", "+": "came"}
_NAMES = {" ": "", "-": "removed", "+": "added"}


@dataclass(frozen=True, slots=True)
class Cell:
    """One line on one side. `name` is read aloud, `before` and `after` say what was cut off."""

    css: str
    sign: str
    name: str
    pieces: tuple[LinePiece, ...]
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class LineRow:
    """A row of a hunk. Unified: `right` is None, and one number may be missing. Side by side: the
    line of A and the line of B, either may be missing."""

    a_line: int | None
    b_line: int | None
    left: Cell | None
    right: Cell | None = None


@dataclass(frozen=True, slots=True)
class HunkBox:
    """A hunk with what was left out before it."""

    folded: str
    rows: tuple[LineRow, ...]


def hunk_boxes(
    hunks: Iterable[Hunk], view: str, most_lines: int | None = None
) -> tuple[HunkBox, ...]:
    """Hunks as rows in a view; `most_lines` cuts a hunk."""
    made = []
    for hunk in hunks:
        lines = hunk.lines[:most_lines]
        rows = _split(lines) if view == "split" else map(_unified, lines)
        folded = plural(hunk.folded_before, "equal line") if hunk.folded_before else ""
        made.append(HunkBox(folded, tuple(rows)))
    return tuple(made)


def unified_rows(lines: Iterable[Line]) -> tuple[LineRow, ...]:
    """Lines as rows of one column."""
    return tuple(map(_unified, lines))


def _cell(line: Line) -> Cell:
    return Cell(
        css=_CSS[line.op],
        sign=line.op.strip(),
        name=_NAMES[line.op],
        pieces=tuple(line_pieces(line)),
        before=f"… {num(line.cut_before)} characters … " if line.cut_before else "",
        after=f" … {num(line.cut_after)} characters more" if line.cut_after else "",
    )


def _unified(line: Line) -> LineRow:
    return LineRow(line.a_line, line.b_line, _cell(line))


def _split(lines: Iterable[Line]) -> Iterator[LineRow]:
    """Removed lines beside the added ones that follow them, in order."""
    removed: list[Line] = []
    added: list[Line] = []
    for line in lines:
        if line.op == "+":
            added.append(line)
            continue
        if line.op == " " or added:
            yield from _beside(removed, added)
            removed, added = [], []
        if line.op == "-":
            removed.append(line)
        else:
            cell = _cell(line)
            yield LineRow(line.a_line, line.b_line, cell, cell)
    yield from _beside(removed, added)


def _beside(removed: list[Line], added: list[Line]) -> Iterator[LineRow]:
    for n in range(max(len(removed), len(added))):
        left = removed[n] if n < len(removed) else None
        right = added[n] if n < len(added) else None
        yield LineRow(
            left.a_line if left else None,
            right.b_line if right else None,
            _cell(left) if left else None,
            _cell(right) if right else None,
        )
