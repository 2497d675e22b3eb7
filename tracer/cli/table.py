"""Aligned tables of plain text."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress

from tracer.cli.text import UNKNOWN, clip, display_width, pad, visible

GAP = "  "
LEAST_FLEXIBLE_WIDTH = 12


@dataclass(frozen=True, slots=True)
class Column:
    """One column. `right` aligns numbers; `flexible` gives way where the terminal is narrow."""

    title: str
    right: bool = False
    flexible: bool = False


def render(
    columns: Sequence[Column], rows: Iterable[Sequence[str]], max_width: int | None = None
) -> list[str]:
    """The lines of a table, its header first. Control characters in cells are made visible.

    Lines are kept within `max_width` by shortening flexible columns, as far as that goes.
    A flexible column in which nothing is known is left out.
    """
    cells = [[visible(cell) for cell in row] for row in rows]
    kept = [
        not column.flexible or not cells or any(row[i] != UNKNOWN for row in cells)
        for i, column in enumerate(columns)
    ]
    columns = list(compress(columns, kept))
    cells = [list(compress(row, kept)) for row in cells]
    table = [[column.title for column in columns], *cells]
    widths = [max(display_width(row[i]) for row in table) for i in range(len(columns))]
    if max_width is not None:
        widths = _narrowed(columns, widths, max_width)
    return [
        GAP.join(
            pad(clip(cell, width), width, right=column.right)
            for column, cell, width in zip(columns, row, widths, strict=True)
        ).rstrip()
        for row in table
    ]


def _narrowed(columns: Sequence[Column], widths: list[int], max_width: int) -> list[int]:
    widths = list(widths)
    excess = sum(widths) + len(GAP) * (len(widths) - 1) - max_width
    while excess > 0:
        candidates = [
            i for i, c in enumerate(columns) if c.flexible and widths[i] > LEAST_FLEXIBLE_WIDTH
        ]
        if not candidates:
            break
        widest = max(candidates, key=lambda i: widths[i])
        widths[widest] -= 1
        excess -= 1
    return widths
