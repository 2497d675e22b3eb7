"""The timeline: a column a request, all lanes on one x axis.

Bars are drawn in a stretched box (ten units a place), glyphs and texts are placed in percent of the
width, so that the drawing fills any width and letters keep their shape. Columns that share a slot
are drawn as the largest of them, and a click zooms in.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from tracer.model.prompt import Part
from tracer.model.surroundings import Surroundings
from tracer.model.usage import Usage
from tracer.model.views import RequestSummary, Timeline, TimelineColumn
from web.filters import num, short
from web.layout.axis import MOST_SLOTS, UNIT, Axis, Pause, Slot, column_size, make_axis
from web.layout.lanes import LaneMark, LaneSpan, draw_rows
from web.layout.lanes.base import ROW_HEIGHT, LaneBars, RowName, Scene
from web.layout.lanes.calls import calls_words
from web.layout.lanes.clock import clock_words
from web.layout.lanes.findings import finding_words
from web.layout.scale import coord, rect
from web.layout.window import Window
from web.layout.words import column_words

TOP = 8
PROMPT_HEIGHT, CACHE_HEIGHT = 152, 60
BELOW_BARS = 16
EXPECTED_LINE = 1.2
HATCHED = frozenset({"gap", "unlogged", "side", "unsplit"})
SCALES = ("window", "session", "share")


@dataclass(frozen=True, slots=True)
class Area:
    """All bars of one colour in one lane, as path data in the lane's stretched box.

    `hatched` areas are filled with the pattern of their name.
    """

    css: str
    path: str
    hatched: bool


@dataclass(frozen=True, slots=True)
class Band:
    """A tall lane of bars: its place and the areas in its own stretched box."""

    y: int
    height: int
    areas: tuple[Area, ...]


def _areas(order: Sequence[str], paths: dict[str, list[str]]) -> tuple[Area, ...]:
    drawn = ((css, "".join(paths.get(css, ()))) for css in order)
    return tuple(Area(css, path, css in HATCHED) for css, path in drawn if path)


@dataclass(frozen=True, slots=True)
class Hit:
    """What a click on a slot does. `query` is the query of the page's address; `key` is empty where
    it zooms in; `number` is that of the selected request, or of the first in the slot. `x` and
    `width` are in percent."""

    seq: int
    number: int
    key: str
    query: str
    words: str
    selected: bool
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class TimelineDrawing:
    """Everything that the timeline's template draws."""

    by: str
    height: int
    box_width: int
    merged: int
    names: tuple[RowName, ...]
    prompt: Band | None
    cache: Band | None
    spans: tuple[LaneSpan, ...]
    marks: tuple[LaneMark, ...]
    bars: tuple[LaneBars, ...]
    rules: tuple[int, ...]
    hits: tuple[Hit, ...]
    pauses: tuple[Pause, ...]
    spare_slots: int

    @property
    def links(self) -> tuple[LaneMark, ...]:
        """The marks that lead somewhere by themselves."""
        return tuple(mark for mark in self.marks if mark.href)


@dataclass(frozen=True, slots=True)
class Addresses:
    """The queries and addresses that a drawing links to."""

    select: Callable[[RequestSummary], str]
    zoom: Callable[[Window], str]
    child: Callable[[str, str], str]


def draw_timeline(
    timeline: Timeline,
    window: Window,
    selected_key: str,
    to: Addresses,
    *,
    around: Surroundings | None = None,
    axis: Axis | None = None,
    lanes: Collection[str] = (),
    scale: str = "window",
) -> TimelineDrawing:
    """The drawing of a window of a session, with the lanes that are named."""
    columns = window_columns(timeline, window)
    axis = axis or make_axis("request", columns)
    around = around or Surroundings()
    among = timeline.columns if scale == "session" else columns
    prompt_top = max(map(column_size, among), default=0)
    cache_top = max((_input(c.request.usage) for c in among), default=0)
    y, names, prompt, cache = TOP, [], None, None
    if "prompt" in lanes:
        prompt = Band(y, PROMPT_HEIGHT, _prompt_areas(axis, prompt_top, scale))
        counted = "tokens" if timeline.uncounted_blocks else "BPE tokens"
        note = "share by part" if scale == "share" else f"{counted}, top {short(prompt_top)}"
        names.append(RowName("Prompt", note, PROMPT_HINT, y=y + 11))
        y += PROMPT_HEIGHT + BELOW_BARS
    if "cache" in lanes:
        cache = Band(y, CACHE_HEIGHT, _cache_areas(axis, cache_top, scale))
        note = f"billed, top {short(cache_top)} · expected −"
        note = "share of input" if scale == "share" else note
        names.append(RowName("Cache", note, CACHE_HINT, y=y + 11))
        y += CACHE_HEIGHT + BELOW_BARS - 6
    rows = draw_rows(Scene(timeline, around, axis, to.child), lanes, y)
    return TimelineDrawing(
        by=axis.by,
        height=max(y + rows.height, ROW_HEIGHT) + 4,
        box_width=axis.box_width,
        merged=axis.each,
        names=(*names, *rows.names),
        prompt=prompt,
        cache=cache,
        spans=rows.spans,
        marks=rows.marks,
        bars=rows.bars,
        rules=rows.ruled,
        hits=_hits(axis, window, selected_key, around, to),
        pauses=axis.pauses,
        spare_slots=axis.spare,
    )


PROMPT_HINT = "what a prompt is made of, in the order of the cache: tools below, what is new on top"
CACHE_HINT = "billed input: cache read below, then written, fresh on top; the line is what could"
CACHE_HINT += " have been read"


def window_columns(timeline: Timeline, window: Window) -> tuple[TimelineColumn, ...]:
    """The columns of a window."""
    return tuple(timeline.columns[window.first - 1 : window.last]) if window.total else ()


def _hits(
    axis: Axis, window: Window, selected_key: str, around: Surroundings, to: Addresses
) -> tuple[Hit, ...]:
    hits = []
    for slot in axis.slots:
        alone = len(slot.columns) == 1
        request = slot.column.request
        middle = slot.first_seq + len(slot.columns) // 2
        inside = window.around(middle, min(MOST_SLOTS // 2, max(12, 4 * len(slot.columns))))
        if axis.by == "request":
            inside = window.around(slot.first_seq, MOST_SLOTS // 2)
        chosen = next((c for c in slot.columns if c.request.key == selected_key), None)
        hits.append(
            Hit(
                seq=slot.first_seq,
                number=chosen.request.seq if chosen else slot.first_seq,
                key=request.key if alone else "",
                query=to.select(request) if alone else to.zoom(inside),
                words=_hit_words(slot, around),
                selected=chosen is not None,
                x=axis.percent(slot.left),
                width=axis.percent(slot.right - slot.left),
            )
        )
    return tuple(hits)


def _hit_words(slot: Slot, around: Surroundings) -> str:
    """All that the column shows, with exact numbers."""
    key = slot.column.request.key
    words = column_words(slot.column)
    if calls := around.calls.get(key):
        words += f"; {calls_words(dict(calls))}"
    if clock := around.clocks.get(key):
        words += f"; {clock_words(clock)}"
    if found := around.findings.get(key):
        words += f"; rules: {finding_words(found)}"
    if len(slot.columns) == 1:
        return words
    first, last = num(slot.first_seq), num(slot.last_seq)
    return f"Requests {first} to {last}; the largest: {words}. Click to zoom in"


def _input(usage: Usage | None) -> int:
    return 0 if usage is None else usage.input_tokens or 0


def _expected(column: TimelineColumn) -> int | None:
    """What could be read at best; None where that is not known."""
    verdict = column.request.verdict
    return verdict.expected_read_tokens if verdict else None


def _bar(axis: Axis, slot: Slot) -> float:
    """The width of a bar in units: a gap to the next only where it can be seen."""
    wide = (slot.right - slot.left) * UNIT
    if axis.by == "time":
        return max(wide - 0.6, 6.0)
    return wide * (0.88 if len(axis.slots) <= 130 else 0.92 if len(axis.slots) <= 200 else 1)


def _prompt_areas(axis: Axis, top: int, scale: str) -> tuple[Area, ...]:
    """Stacked bars, a path a part: parts in stacking order, what is new on top.

    New tools, system and context keep the colour of their part. A prompt that was not logged is
    an outline as high as its billed input.
    """
    paths: dict[str, list[str]] = {}
    for slot in axis.slots:
        column, x, wide = slot.column, slot.left * UNIT, _bar(axis, slot)
        whole = column_size(column) if scale == "share" else top
        if not whole:
            continue
        unit = PROMPT_HEIGHT / whole
        if not column.parts:
            high = _input(column.request.usage) * unit
            paths.setdefault("unlogged", []).append(rect(x, PROMPT_HEIGHT - high, wide, high))
            continue
        y = float(PROMPT_HEIGHT)
        fresh = 0
        for size in column.parts:
            new = 0 if size.part in (Part.TOOLS, Part.SYSTEM, Part.CONTEXT) else size.new_tokens
            fresh += new
            high = (size.tokens - new) * unit
            y -= high
            paths.setdefault(size.part.value, []).append(rect(x, y, wide, high))
        if fresh:
            high = fresh * unit
            y -= high
            paths.setdefault("new", []).append(rect(x, y, wide, high))
        if column.request.side_call:
            paths.setdefault("side", []).append(rect(x, y, wide, PROMPT_HEIGHT - y))
    order = [part.value for part in Part] + ["new", "unlogged", "side"]
    return _areas(order, paths)


def _cache_areas(axis: Axis, top: int, scale: str) -> tuple[Area, ...]:
    """Stacked bars of billed input: read below, then written, fresh on top, and over them a line
    at what could be read.

    Input whose cache share was not reported is one hatched bar; no usage at all is a short dash.
    """
    paths: dict[str, list[str]] = {}
    for slot in axis.slots:
        column, x, wide = slot.column, slot.left * UNIT, _bar(axis, slot)
        usage = column.request.usage
        whole = _input(usage)
        if usage is None or not whole:
            paths.setdefault("none", []).append(
                f"M{coord(x + wide * 0.25)} {CACHE_HEIGHT - 1.5}h{coord(wide / 2)}v1.5"
                f"h-{coord(wide / 2)}z"
            )
            continue
        unit = CACHE_HEIGHT / (whole if scale == "share" else top)
        read = usage.cache_read_tokens
        write = usage.cache_write_tokens or 0
        pieces = (
            (("unsplit", whole),)
            if read is None
            else (("read", read), ("write", write), ("fresh", max(0, whole - read - write)))
        )
        y = float(CACHE_HEIGHT)
        for css, tokens in pieces:
            high = tokens * unit
            y -= high
            paths.setdefault(css, []).append(rect(x, y, wide, high))
        expected = _expected(column)
        if expected is not None:
            y = max(0.0, CACHE_HEIGHT - expected * unit - EXPECTED_LINE / 2)
            paths.setdefault("expected", []).append(rect(x, y, wide, EXPECTED_LINE))
    order = ("read", "write", "fresh", "unsplit", "none", "expected")
    return _areas(order, paths)
