"""The presence matrix: how each section, reminder, message and tool lived, on the timeline's axis.

A row is a thin line while nothing happens and a glyph where something does. Lines are a few paths
in the timeline's stretched box, glyphs are placed in percent of the width. Columns that share a
slot share a glyph: the gravest of them, with the others in its words. A row with more changes than
can be told apart is drawn as ticks; a click on a column then leads to them.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from tracer.model.anatomy_views import Presence, PresenceLane, PresenceRowView, PresenceRun
from web.filters import num, one_line, plural
from web.layout.scale import coord, percent

UNIT = 10
ROW_HEIGHT, HEAD_HEIGHT, AXIS_HEIGHT = 18, 26, 22
PLOT_PX = 860
GLYPH_PX = 10
MOST_ROW_LINKS = 90
MOST_LINKS = 900
MOST_MESSAGES = 6
GROUPS = ("section", "reminder", "mcs", "tool")
FOLDS = ("tools", "messages", "lanes")
EVENTS = ("changed", "moved", "gone", "appeared")
"""The cells that are drawn as glyphs, the gravest first."""

_TITLES = {
    "section": "Sections", "reminder": "Reminders", "mcs": "Mid-conversation", "tool": "Tools",
}  # fmt: skip
_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


@dataclass(frozen=True, slots=True)
class Slots:
    """The x axis: `count` slots of `each` requests from `first_seq` on, `used` of them filled."""

    first_seq: int
    last_seq: int
    each: int
    count: int

    @property
    def used(self) -> int:
        """How many slots hold a request."""
        return (self.last_seq - self.first_seq) // self.each + 1

    def of(self, seq: int) -> int:
        """The slot of a request, from 0; outside of the window below 0 or not below `used`."""
        return (seq - self.first_seq) // self.each


@dataclass(frozen=True, slots=True)
class Hap:
    """Something that happened to a row in one request of a lane. `hidden_between` tells that the
    requests between it and the one it is compared with do not show what they had there."""

    cell: str
    seq: int
    run: PresenceRun
    baseline_seq: int | None
    hidden_between: bool = False


@dataclass(frozen=True, slots=True)
class Glyph:
    """A glyph at x percent and y pixels. `href` leads to the text or to the difference."""

    cell: str
    thin: bool
    x: float
    y: int
    words: str
    href: str


@dataclass(frozen=True, slots=True)
class RowName:
    """The name of a row, with its target or channel."""

    name: str
    note: str


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Rows of one kind under a title. `fold` names what a click shows or hides, if anything."""

    title: str
    note: str
    rows: tuple[RowName, ...]
    fold: str = ""
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Layer:
    """All lines or ticks of one kind, as path data in the stretched box."""

    css: str
    path: str


@dataclass(frozen=True, slots=True)
class Tick:
    """A request's number on the axis, at x percent; `anchor` keeps it inside at either end."""

    x: float
    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class PresenceDrawing:
    """Everything that the matrix's templates draw. `ticked_rows` rows hold too much to link."""

    height: int
    box_width: int
    groups: tuple[RowGroup, ...]
    layers: tuple[Layer, ...]
    glyphs: tuple[Glyph, ...]
    axis: tuple[Tick, ...]
    ticked_rows: int


@dataclass(slots=True)
class _Row:
    """One row while it is made: what it is made of, in which lane."""

    name: str
    note: str
    parts: list[tuple[PresenceLane, PresenceRowView]]
    y: int = 0
    marks: dict[int, list[Hap]] = field(default_factory=dict)


Address = Callable[[str, Hap, str], str]
"""From a group, what happened and the row's name to where a click on the glyph leads."""


def draw_presence(
    presence: Presence,
    slots: Slots,
    side_lanes: Collection[str],
    shown: Collection[str],
    address: Address,
) -> PresenceDrawing | None:
    """The matrix of a window; `shown` names the folds that are open. None where no prompt of the
    session is logged, and so nothing is known."""
    main = [lane for lane in presence.lanes if lane.lane not in side_lanes and lane.rows]
    side = [lane for lane in presence.lanes if lane.lane in side_lanes and lane.rows]
    if not main and not side:
        return None
    made: list[tuple[RowGroup, list[_Row]]] = _groups(main, shown, "")
    for lane in side if "lanes" in shown or not main else ():
        made += _groups([lane], shown, lane.lane.partition("@")[0])
    if side and main:
        made.append((_fold("Side calls", len(side), "lane", "lanes", shown), []))
    y = AXIS_HEIGHT
    lines: dict[str, list[str]] = {}
    drawn: list[tuple[str, _Row]] = []
    for _, rows in made:
        y += HEAD_HEIGHT
        for row in rows:
            row.y = y
            y += ROW_HEIGHT
            for lane, view in row.parts:
                _read(lane, view, slots, row, lines)
            drawn.append((row.parts[0][1].group, row))
    glyphs, ticked = _glyphs(drawn, slots, address, lines)
    layers = ((css, "".join(lines.get(css, ()))) for css in ("same", "unseen", *EVENTS[::-1]))
    return PresenceDrawing(
        height=y + 6,
        box_width=slots.count * UNIT,
        groups=tuple(group for group, _ in made),
        layers=tuple(Layer(css, path) for css, path in layers if path),
        glyphs=glyphs,
        axis=_axis(slots),
        ticked_rows=ticked,
    )


def _fold(title: str, count: int, what: str, fold: str, shown: Collection[str]) -> RowGroup:
    return RowGroup(title, plural(count, what), (), fold, fold not in shown)


def _groups(
    lanes: Sequence[PresenceLane], shown: Collection[str], prefix: str
) -> list[tuple[RowGroup, list[_Row]]]:
    """The groups of lanes drawn as one: the same item in several lanes has one row."""
    rows: dict[tuple[str, str], _Row] = {}
    for lane in lanes:
        for view in lane.rows:
            key = (view.group, view.name)
            row = rows.setdefault(key, _Row(one_line(view.name), one_line(view.note), []))
            row.parts.append((lane, view))
    made = []
    for kind in GROUPS:
        own = [row for (group, _), row in rows.items() if group == kind]
        if own:
            title = f"{_TITLES[kind]} · {one_line(prefix)}" if prefix else _TITLES[kind]
            made.append(_group(kind, title, own, shown))
    return made


def _group(
    kind: str, title: str, own: list[_Row], shown: Collection[str]
) -> tuple[RowGroup, list[_Row]]:
    """A group with what is folded left out: tools that never changed, messages one by one."""
    fold = note = ""
    rows = own
    if kind == "tool":
        changed = [row for row in own if any(_changes(lane, view) for lane, view in row.parts)]
        if len(changed) < len(own):
            fold = "tools"
            rows = own if "tools" in shown else changed
        note = f"{num(len(changed))} of {num(len(own))} changed"
    elif kind == "mcs" and len(own) > MOST_MESSAGES:
        fold, note = "messages", plural(len(own), "message")
        if "messages" not in shown:
            rows = [_Row("MCS messages", note, [part for row in own for part in row.parts])]
    names = tuple(RowName(row.name, row.note) for row in rows)
    return RowGroup(title, note, names, fold, fold not in shown), rows


def _changes(lane: PresenceLane, view: PresenceRowView) -> bool:
    """Whether anything but its first appearance, with the first request, happened to a row."""
    start = lane.seqs[0] if lane.seqs else 0
    return any(
        run.cell in EVENTS and not (run.cell == "appeared" and run.first_seq == start)
        for run in view.runs
    )


def _read(
    lane: PresenceLane,
    view: PresenceRowView,
    slots: Slots,
    row: _Row,
    lines: dict[str, list[str]],
) -> None:
    """The lines and marks of a row in one lane, inside the window.

    A line goes on until the next thing is known: the requests of other lanes do not cut it.
    """
    runs = view.runs
    at = max(0, bisect_left(runs, slots.first_seq, key=lambda run: run.last_seq) - 1)
    begin = edge = 0.0
    kind = ""
    for run in runs[at:]:
        if run.first_seq > slots.last_seq:
            break
        first, last = max(0, slots.of(run.first_seq)), slots.of(run.last_seq)
        sort = "" if run.cell == "gone" else "unseen" if run.cell == "unseen" else "same"
        if sort != kind or run.cell == "appeared":
            middle = first + (0.5 if last >= 0 and run.cell in EVENTS else 0)
            _line(lines, kind, begin, edge if run.cell == "appeared" else middle, row.y)
            begin, kind = middle, sort
        edge = min(last + 1, slots.used)
        if run.cell in EVENTS and last >= 0:
            _mark(lane, run, slots, row)
    _line(lines, kind, begin, edge, row.y)


def _line(lines: dict[str, list[str]], kind: str, begin: float, end: float, y: int) -> None:
    if kind and end > begin:
        wide = coord((end - begin) * UNIT)
        # What was not observed is a dashed stroke, so that its dashes are not stretched.
        shape = f"{y + 9}h{wide}" if kind == "unseen" else f"{y + 7}h{wide}v4h-{wide}z"
        lines.setdefault(kind, []).append(f"M{coord(begin * UNIT)} {shape}")


def _mark(lane: PresenceLane, run: PresenceRun, slots: Slots, row: _Row) -> None:
    """The requests of a run that are in the window, each as a mark in its slot."""
    start = bisect_left(lane.seqs, max(run.first_seq, slots.first_seq))
    stop = bisect_right(lane.seqs, min(run.last_seq, slots.last_seq))
    for position in range(start, stop):
        seq = lane.seqs[position]
        before = lane.seqs[position - 1] if position else None
        hidden = False
        if seq == run.first_seq and run.baseline_seq is not None:
            hidden = before is not None and run.baseline_seq < before
            before = run.baseline_seq
        row.marks.setdefault(slots.of(seq), []).append(Hap(run.cell, seq, run, before, hidden))


def _glyphs(
    drawn: Sequence[tuple[str, _Row]],
    slots: Slots,
    address: Address,
    lines: dict[str, list[str]],
) -> tuple[tuple[Glyph, ...], int]:
    """A link for each mark of the quiet rows; ticks for rows that change all the time."""
    glyphs: list[Glyph] = []
    ticked = spent = 0
    for group, row in drawn:
        count = len(row.marks)
        if count > MOST_ROW_LINKS or spent + count > MOST_LINKS:
            ticked += 1
            for slot, haps in row.marks.items():
                cell = min((hap.cell for hap in haps), key=EVENTS.index)
                lines.setdefault(cell, []).append(_tick(slot, row.y))
            continue
        spent += count
        order = sorted(row.marks)
        for place, slot in enumerate(order):
            near = min(
                (abs(order[other] - slot) for other in (place - 1, place + 1)
                 if 0 <= other < count),
                default=slots.count,
            )  # fmt: skip
            thin = near * PLOT_PX < GLYPH_PX * slots.count
            haps = row.marks[slot]
            hap = min(haps, key=lambda h: EVENTS.index(h.cell))
            glyphs.append(
                Glyph(hap.cell, thin, percent(slot + 0.5, slots.count), row.y + ROW_HEIGHT // 2,
                      _words(row.name, hap, haps), address(group, hap, row.name))
            )  # fmt: skip
    return tuple(glyphs), ticked


def _tick(slot: int, y: int) -> str:
    return f"M{coord(slot * UNIT + 1)} {y + 3}h8v12h-8z"


def _words(name: str, hap: Hap, haps: Sequence[Hap]) -> str:
    """What a glyph says aloud: skills changed in request 14, compared with request 13."""
    words = f"{name} {_VERBS[hap.cell]} in request {num(hap.seq)}"
    if hap.cell in ("changed", "gone") and hap.baseline_seq is not None:
        words += f", compared with request {num(hap.baseline_seq)}"
        if hap.hidden_between:
            words += "; the records of the requests between do not show it"
    if len(haps) > 1:
        words += f"; {plural(len(haps) - 1, 'more event')} in this column"
    return words


_VERBS = {"appeared": "appeared", "changed": "changed", "moved": "moved", "gone": "is gone"}


def _axis(slots: Slots) -> tuple[Tick, ...]:
    """Round numbers of requests, far enough from each other to be read."""
    per_px = slots.count * slots.each / PLOT_PX
    step = next((step for step in _STEPS if step >= 52 * per_px), _STEPS[-1])
    first = -(-slots.first_seq // step) * step
    seqs = dict.fromkeys([slots.first_seq, *range(first, slots.last_seq + 1, step)])
    ticks: list[Tick] = []
    for seq in seqs:
        x = percent(slots.of(seq) + 0.5, slots.count)
        if not ticks or x - ticks[-1].x > 4:
            anchor = "start" if x < 2 else "end" if x > 98 else "middle"
            ticks.append(Tick(x, num(seq), anchor))
    return tuple(ticks)
