"""A turn on its own clock: requests in the first row, tool calls below, none over another."""

from collections.abc import Sequence
from dataclasses import dataclass

from web.layout.scale import percent

ROW_HEIGHT = 18
AXIS_HEIGHT = 16
LEAST_PERCENT = 0.35
_TICK_STEPS_MS = tuple(
    n * unit
    for unit in (1, 10, 100, 1_000, 10_000, 60_000, 600_000, 3_600_000, 36_000_000)
    for n in (1, 2, 5)
)
_MOST_TICKS = 7
LAST_TICK_PERCENT = 94
"""A later one would have no room for its words."""


@dataclass(frozen=True, slots=True)
class LaneItem:
    """What is to be drawn. `end_ms` is None where the end is not known; `wait_ms` of its time at
    the start were spent waiting. `group` decides the rows: those of group 0 stand above."""

    group: int
    start_ms: int
    end_ms: int | None
    wait_ms: int
    label: str
    title: str
    href: str
    css: str


@dataclass(frozen=True, slots=True)
class LaneBar:
    """One bar: `x`, `width` and `wait` in percent, `y` in pixels."""

    x: float
    width: float
    wait: float
    y: int
    label: str
    title: str
    href: str
    css: str
    open_end: bool


@dataclass(frozen=True, slots=True)
class LaneTick:
    """A line of the clock at `x` percent, `ms` after the start."""

    x: float
    ms: int


@dataclass(frozen=True, slots=True)
class TurnLane:
    """The drawing; `height` in pixels, `span_ms` from the first start to the last end."""

    bars: tuple[LaneBar, ...]
    ticks: tuple[LaneTick, ...]
    height: int
    span_ms: int


def turn_lane(items: Sequence[LaneItem]) -> TurnLane | None:
    """The lane of one turn; None where nothing has a time."""
    if not items:
        return None
    start_ms = min(item.start_ms for item in items)
    end_ms = max(item.start_ms if item.end_ms is None else item.end_ms for item in items)
    span_ms = max(1, end_ms - start_ms)
    rows: list[tuple[int, float]] = []  # the group of each row, and where its last bar ends
    bars = []
    for item in sorted(items, key=lambda i: (i.group, i.start_ms)):
        x = percent(item.start_ms - start_ms, span_ms)
        known = 0 if item.end_ms is None else max(0, item.end_ms - item.start_ms)
        width = max(LEAST_PERCENT, percent(known, span_ms))
        x = min(x, 100 - width)
        row = _free_row(rows, item.group, x)
        rows[row] = (item.group, x + width)
        bars.append(
            LaneBar(
                x=round(x, 2),
                width=round(width, 2),
                wait=min(100.0, percent(item.wait_ms, known)),
                y=AXIS_HEIGHT + row * ROW_HEIGHT,
                label=item.label,
                title=item.title,
                href=item.href,
                css=item.css,
                open_end=item.end_ms is None,
            )
        )
    return TurnLane(tuple(bars), _ticks(span_ms), AXIS_HEIGHT + len(rows) * ROW_HEIGHT, span_ms)


def _free_row(rows: list[tuple[int, float]], group: int, x: float) -> int:
    for number, (owner, end) in enumerate(rows):
        if owner == group and end <= x:
            return number
    rows.append((group, 0.0))
    return len(rows) - 1


def _ticks(span_ms: int) -> tuple[LaneTick, ...]:
    step = next((s for s in _TICK_STEPS_MS if span_ms / s <= _MOST_TICKS), span_ms)
    ticks = (LaneTick(percent(ms, span_ms), ms) for ms in range(0, span_ms, step))
    return tuple(tick for tick in ticks if tick.x <= LAST_TICK_PERCENT)
