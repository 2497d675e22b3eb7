"""The x axis that all lanes share: by request, a place each, or by time, as long as it took.

Positions are in places: a place is ten units of the stretched box in which bars are drawn. By time,
a request is as wide as it lasted, and a pause that would take more than `MOST_PAUSE` of the axis is
cut to that and labelled with its true length.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from tracer.model.views import TimelineColumn
from web.filters import clock, duration, num
from web.layout.scale import bucket_size, percent

UNIT = 10
FEWEST_SLOTS = 20
MOST_SLOTS = 400
PLOT_PX = 860
TIME_PLACES, TIME_MARGIN = 400.0, 3.0
NARROWEST = 1.0
MOST_PAUSE = 0.08
AXES = ("request", "time")
_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
_TICK_PX = 52


@dataclass(frozen=True, slots=True)
class Slot:
    """A stretch of the axis: a request, or neighbours with the largest of them to be drawn."""

    left: float
    right: float
    column: TimelineColumn
    columns: tuple[TimelineColumn, ...]

    @property
    def first_seq(self) -> int:
        """The first request in it."""
        return self.columns[0].request.seq

    @property
    def last_seq(self) -> int:
        """The last request in it."""
        return self.columns[-1].request.seq

    @property
    def middle(self) -> float:
        """Where a glyph stands, in places."""
        return (self.left + self.right) / 2

    def holds(self, key: str) -> bool:
        """Whether a request is in it."""
        return any(column.request.key == key for column in self.columns)


@dataclass(frozen=True, slots=True)
class Tick:
    """A label on the axis, at x percent; `anchor` keeps it inside at either end."""

    x: float
    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause that is drawn shorter than it was, from x percent on, `width` wide; `words` is the
    time between the starts of the requests around it."""

    x: float
    width: float
    words: str


@dataclass(frozen=True, slots=True)
class Axis:
    """The slots of a window in order, on `places` places. `each` requests share a slot at most
    where the axis runs by request."""

    by: str
    slots: tuple[Slot, ...]
    places: float
    each: int
    pauses: tuple[Pause, ...] = ()

    @property
    def box_width(self) -> int:
        """The width of the stretched box in units."""
        return ceil(self.places * UNIT)

    @property
    def spare(self) -> int:
        """Empty places behind the last slot, where the axis runs by request."""
        return 0 if self.by == "time" else int(self.places) - len(self.slots)

    def percent(self, place: float) -> float:
        """A position as a share of the axis."""
        return percent(place, self.places)

    def slot_of(self, seq: int) -> int:
        """The index of the slot of a request; below 0 before the window, the number of slots
        behind it."""
        if not self.slots or seq < self.slots[0].first_seq:
            return -1
        return bisect_left(self.slots, seq, key=lambda slot: slot.last_seq)

    def after(self, seq: int) -> float:
        """The place right behind a request; 0 for what is before the window."""
        index = min(self.slot_of(seq), len(self.slots) - 1)
        return 0.0 if index < 0 else self.slots[index].right

    def until(self, seq: int) -> float:
        """Where the request behind this one starts; the end of the last for the last one."""
        index = self.slot_of(seq) + 1
        return self.slots[index].left if 0 < index < len(self.slots) else self.after(seq)

    def ticks(self) -> tuple[Tick, ...]:
        """Labels far enough from each other to be read: round numbers of requests, or the times at
        which requests started."""
        return _time_ticks(self) if self.by == "time" else _request_ticks(self)


def make_axis(by: str, columns: Sequence[TimelineColumn]) -> Axis:
    """The axis of a window. Without times it runs by request, whatever was asked for."""
    starts = [column.request.started_at_ms for column in columns]
    if by == "time" and len([s for s in starts if s is not None]) > 1:
        return _by_time(columns, _filled(starts))
    each = bucket_size(len(columns), MOST_SLOTS)
    groups = [columns[i : i + each] for i in range(0, len(columns), each)]
    slots = tuple(_slot(float(i), i + 1.0, group) for i, group in enumerate(groups))
    return Axis("request", slots, float(max(len(slots), FEWEST_SLOTS)), each)


def _slot(left: float, right: float, group: Sequence[TimelineColumn]) -> Slot:
    return Slot(left, right, max(group, key=column_size), tuple(group))


def column_size(column: TimelineColumn) -> int:
    """How high a column is drawn: its prompt, else its billed input, in tokens."""
    usage = column.request.usage
    return column.prompt_tokens or (0 if usage is None else usage.input_tokens or 0)


def _filled(starts: Sequence[int | None]) -> list[int]:
    """Start times without holes and steps back: an unknown one is that of the one before."""
    known = next((s for s in starts if s is not None), 0)
    filled = []
    for start in starts:
        known = max(known, known if start is None else start)
        filled.append(known)
    return filled


def _by_time(columns: Sequence[TimelineColumn], starts: Sequence[int]) -> Axis:
    lasting = columns[-1].request.duration_ms or 0
    gaps = [b - a for a, b in zip(starts, starts[1:], strict=False)] + [max(lasting, 1)]
    most = _longest_drawn(gaps)
    shown = [min(gap, most) for gap in gaps]
    scale = (TIME_PLACES - TIME_MARGIN) / (sum(shown) or 1)
    lefts = [TIME_MARGIN]
    for gap in shown[:-1]:
        lefts.append(lefts[-1] + gap * scale)
    slots: list[Slot] = []
    start = 0
    for end in range(1, len(columns) + 1):
        if end < len(columns) and lefts[end] - lefts[start] < NARROWEST:
            continue
        until = lefts[end] if end < len(columns) else TIME_PLACES
        took = (columns[end - 1].request.duration_ms or 0) * scale
        right = min(max(lefts[end - 1] + took, lefts[start] + NARROWEST), until)
        slots.append(_slot(lefts[start], right, columns[start:end]))
        start = end
    pauses = []
    for before, after in zip(slots, slots[1:], strict=False):
        gap = gaps[after.first_seq - columns[0].request.seq - 1]
        if gap > most:
            x, width = percent(before.right, TIME_PLACES), after.left - before.right
            pauses.append(Pause(x, percent(width, TIME_PLACES), duration(gap)))
    return Axis("time", tuple(slots), TIME_PLACES, 1, tuple(pauses))


def _longest_drawn(gaps: Sequence[int]) -> float:
    """The length to which pauses are cut, so that none takes more than its share of the axis."""
    share = max(MOST_PAUSE, 2 / len(gaps))
    most = float(max(gaps))
    for _ in range(12):
        most = min(most, max(share * sum(min(gap, most) for gap in gaps), 1.0))
    return most


def _request_ticks(axis: Axis) -> tuple[Tick, ...]:
    if not axis.slots:
        return ()
    first, last = axis.slots[0].first_seq, axis.slots[-1].last_seq
    per_px = axis.places * axis.each / PLOT_PX
    step = next((step for step in _STEPS if step >= _TICK_PX * per_px), _STEPS[-1])
    seqs = dict.fromkeys([first, *range(-(-first // step) * step, last + 1, step)])
    return _spread([(axis.slots[axis.slot_of(seq)].middle, num(seq)) for seq in seqs], axis, 4)


def _time_ticks(axis: Axis) -> tuple[Tick, ...]:
    return _spread(
        [(slot.left, clock(slot.columns[0].request.started_at_ms)) for slot in axis.slots], axis, 9
    )


def _spread(labels: Sequence[tuple[float, str]], axis: Axis, apart: float) -> tuple[Tick, ...]:
    ticks: list[Tick] = []
    for place, text in labels:
        x = axis.percent(place)
        if not ticks or x - ticks[-1].x > apart:
            anchor = "start" if x < 2 else "end" if x > 96 else "middle"
            ticks.append(Tick(x, text, anchor))
    return tuple(ticks)
