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
from tracer.words import plural
from web.filters import num, one_line
from web.layout.axis import PLOT_PX, UNIT, Axis, Tick
from web.layout.scale import coord

ROW_HEIGHT, HEAD_HEIGHT, AXIS_HEIGHT = 18, 26, 22
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
class RowLabel:
    """The name of a row, with its target or channel. `row` names it in the address."""

    name: str
    note: str
    row: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Rows of one kind under a title. `fold` names what a click shows or hides, if anything."""

    title: str
    note: str
    rows: tuple[RowLabel, ...]
    fold: str = ""
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Layer:
    """All lines or ticks of one kind, as path data in the stretched box."""

    css: str
    path: str


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
    row: str
    y: int = 0
    marks: dict[int, list[Hap]] = field(default_factory=dict)


def row_id(group: str, name: str) -> str:
    """What names a row in the address; all mid-conversation messages together have no name."""
    return f"{group}:{name}"


def row_events(presence: Presence, row: str) -> tuple[int, ...]:
    """The requests in which something happened to a row, over the whole session."""
    group, _, name = row.partition(":")
    found: set[int] = set()
    for lane in presence.lanes:
        for view in lane.rows:
            if view.group != group or name not in ("", view.name):
                continue
            for run in view.runs:
                if run.cell in EVENTS:
                    start = bisect_left(lane.seqs, run.first_seq)
                    found.update(lane.seqs[start : bisect_right(lane.seqs, run.last_seq)])
    return tuple(sorted(found))


Address = Callable[[str, Hap, str], str]
"""From a group, what happened and the row's name to where a click on the glyph leads."""


def draw_presence(
    presence: Presence,
    axis: Axis,
    side_lanes: Collection[str],
    shown: Collection[str],
    address: Address,
    *,
    kinds: Collection[str] = GROUPS,
    chosen: str = "",
) -> PresenceDrawing | None:
    """The matrix of a window; `shown` names the folds that are open, `kinds` the groups that are
    drawn, `chosen` the row that is picked out. None where no prompt of the session is logged, and
    so nothing is known."""
    main = [lane for lane in presence.lanes if lane.lane not in side_lanes and lane.rows]
    side = [lane for lane in presence.lanes if lane.lane in side_lanes and lane.rows]
    if not main and not side:
        return None
    made: list[tuple[RowGroup, list[_Row]]] = _groups(main, shown, "", kinds, chosen)
    for lane in side if "lanes" in shown or not main else ():
        made += _groups([lane], shown, lane.lane.partition("@")[0], kinds, chosen)
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
                _read(lane, view, axis, row, lines)
            drawn.append((row.parts[0][1].group, row))
    glyphs, ticked = _glyphs(drawn, axis, address, lines)
    layers = ((css, "".join(lines.get(css, ()))) for css in ("same", "unseen", *EVENTS[::-1]))
    return PresenceDrawing(
        height=y + 6,
        box_width=axis.box_width,
        groups=tuple(group for group, _ in made),
        layers=tuple(Layer(css, path) for css, path in layers if path),
        glyphs=glyphs,
        axis=axis.ticks(),
        ticked_rows=ticked,
    )


def _fold(title: str, count: int, what: str, fold: str, shown: Collection[str]) -> RowGroup:
    return RowGroup(title, plural(count, what), (), fold, fold not in shown)


def _groups(
    lanes: Sequence[PresenceLane],
    shown: Collection[str],
    prefix: str,
    kinds: Collection[str],
    chosen: str,
) -> list[tuple[RowGroup, list[_Row]]]:
    """The groups of lanes drawn as one: the same item in several lanes has one row."""
    rows: dict[tuple[str, str], _Row] = {}
    for lane in lanes:
        for view in lane.rows:
            key = (view.group, view.name)
            row = rows.setdefault(
                key, _Row(one_line(view.name), one_line(view.note), [], row_id(*key))
            )
            row.parts.append((lane, view))
    made = []
    for kind in (kind for kind in GROUPS if kind in kinds):
        own = [row for (group, _), row in rows.items() if group == kind]
        if own:
            title = f"{_TITLES[kind]} · {one_line(prefix)}" if prefix else _TITLES[kind]
            made.append(_group(kind, title, own, shown, chosen))
    return made


def _group(
    kind: str, title: str, own: list[_Row], shown: Collection[str], chosen: str
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
            parts = [part for row in own for part in row.parts]
            rows = [_Row("MCS messages", note, parts, row_id(kind, ""))]
    names = tuple(RowLabel(row.name, row.note, row.row, row.row == chosen) for row in rows)
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
    axis: Axis,
    row: _Row,
    lines: dict[str, list[str]],
) -> None:
    """The lines and marks of a row in one lane, inside the window.

    A line goes on until the next thing is known: the requests of other lanes do not cut it.
    """
    if not axis.slots:
        return
    first_seq, last_seq = axis.slots[0].first_seq, axis.slots[-1].last_seq
    runs = view.runs
    at = max(0, bisect_left(runs, first_seq, key=lambda run: run.last_seq) - 1)
    begin = edge = 0.0
    kind = ""
    for run in runs[at:]:
        if run.first_seq > last_seq:
            break
        slot = axis.slots[max(0, axis.slot_of(run.first_seq))]
        inside = run.last_seq >= first_seq
        sort = "" if run.cell == "gone" else "unseen" if run.cell == "unseen" else "same"
        if sort != kind or run.cell == "appeared":
            middle = slot.middle if inside and run.cell in EVENTS else slot.left
            _line(lines, kind, begin, edge if run.cell == "appeared" else middle, row.y)
            begin, kind = middle, sort
        edge = axis.until(min(run.last_seq, last_seq))
        if run.cell in EVENTS and inside:
            _mark(lane, run, axis, row)
    _line(lines, kind, begin, edge, row.y)


def _line(lines: dict[str, list[str]], kind: str, begin: float, end: float, y: int) -> None:
    if kind and end > begin:
        wide = coord((end - begin) * UNIT)
        # What was not observed is a dashed stroke, so that its dashes are not stretched.
        shape = f"{y + 9}h{wide}" if kind == "unseen" else f"{y + 7}h{wide}v4h-{wide}z"
        lines.setdefault(kind, []).append(f"M{coord(begin * UNIT)} {shape}")


def _mark(lane: PresenceLane, run: PresenceRun, axis: Axis, row: _Row) -> None:
    """The requests of a run that are in the window, each as a mark in its slot."""
    start = bisect_left(lane.seqs, max(run.first_seq, axis.slots[0].first_seq))
    stop = bisect_right(lane.seqs, min(run.last_seq, axis.slots[-1].last_seq))
    for position in range(start, stop):
        seq = lane.seqs[position]
        before = lane.seqs[position - 1] if position else None
        hidden = False
        if seq == run.first_seq and run.baseline_seq is not None:
            hidden = before is not None and run.baseline_seq < before
            before = run.baseline_seq
        row.marks.setdefault(axis.slot_of(seq), []).append(Hap(run.cell, seq, run, before, hidden))


def _glyphs(
    drawn: Sequence[tuple[str, _Row]],
    axis: Axis,
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
                lines.setdefault(cell, []).append(_tick(axis, slot, row.y))
            continue
        spent += count
        order = sorted(row.marks)
        middles = [axis.slots[slot].middle for slot in order]
        for number, slot in enumerate(order):
            near = min(
                (abs(middles[other] - middles[number]) for other in (number - 1, number + 1)
                 if 0 <= other < count),
                default=axis.places,
            )  # fmt: skip
            thin = near * PLOT_PX < GLYPH_PX * axis.places
            haps = row.marks[slot]
            hap = min(haps, key=lambda h: EVENTS.index(h.cell))
            glyphs.append(
                Glyph(hap.cell, thin, axis.percent(middles[number]), row.y + ROW_HEIGHT // 2,
                      _words(row.name, hap, haps), address(group, hap, row.name))
            )  # fmt: skip
    return tuple(glyphs), ticked


def _tick(axis: Axis, slot: int, y: int) -> str:
    left, right = axis.slots[slot].left * UNIT + 1, axis.slots[slot].right * UNIT - 1
    return f"M{coord(left)} {y + 3}h{coord(right - left)}v12h-{coord(right - left)}z"


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
