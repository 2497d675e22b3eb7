"""Which requests of a session the timeline shows: a window over its columns."""

from dataclasses import dataclass

DEFAULT_COLUMNS = 160
FEWEST_COLUMNS = 12


@dataclass(frozen=True, slots=True)
class Window:
    """Columns `first` to `last` of `total`, counted from 1, both included; 0 to 0 of nothing.

    `pinned` tells that the window stays where it is when the session grows.
    """

    first: int
    last: int
    total: int
    pinned: bool

    @property
    def count(self) -> int:
        """How many columns the window holds."""
        return self.last - self.first + 1 if self.total else 0

    @property
    def is_all(self) -> bool:
        """Whether the window holds every column."""
        return self.count == self.total

    def holds(self, column: int) -> bool:
        """Whether a column, counted from 1, is inside."""
        return self.first <= column <= self.last

    def panned(self, share: float) -> "Window":
        """The window moved by a share of its width, inside the session."""
        return _fitted(self.first + round(self.count * share), self.count, self.total)

    def zoomed(self, factor: float) -> "Window":
        """The window around the same middle, `factor` times as wide."""
        wide = max(FEWEST_COLUMNS, round(self.count * factor))
        return _fitted(self.first - (wide - self.count) // 2, wide, self.total)

    def around(self, column: int, count: int = 0) -> "Window":
        """A window with a column in its middle, as wide as this one or `count` columns."""
        wide = count or self.count
        return _fitted(column - wide // 2, wide, self.total)


def _fitted(first: int, count: int, total: int) -> Window:
    count = min(count, total)
    first = max(1, min(first, total - count + 1))
    return Window(first, first + count - 1, total, pinned=True)


def choose(total: int, first: int | None, last: int | None, selected: int | None) -> Window:
    """The window that the URL names, cut to the session; without one the last columns.

    A selected column that the last columns do not hold is put in the middle.
    """
    if not total:
        return Window(0, 0, 0, pinned=False)
    if first is not None or last is not None:
        start = min(max(1, first or 1), total)
        end = min(max(start, last if last is not None else total), total)
        return Window(start, end, total, pinned=True)
    tail = Window(max(1, total - DEFAULT_COLUMNS + 1), total, total, pinned=False)
    if selected is not None and not tail.holds(selected):
        return tail.around(selected)
    return tail
