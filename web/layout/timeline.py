"""The timeline: a column a request, all lanes on one x axis.

Bars are drawn in a stretched box (ten units a column), glyphs and texts are placed in percent of
the width, so that the drawing fills any width and letters keep their shape. A window with more
columns than `MOST_SLOTS` merges neighbours: the largest is drawn, and a click zooms in.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tracer.model.prompt import Part
from tracer.model.usage import Usage
from tracer.model.views import RequestSummary, Timeline, TimelineColumn
from web.filters import short
from web.layout import lanes
from web.layout.lanes import LaneMark, LaneSpan, Slot
from web.layout.scale import bucket_size, coord, rect
from web.layout.window import Window
from web.layout.words import column_words

UNIT = 10
FEWEST_SLOTS = 40
MOST_SLOTS = 400
PROMPT_Y, PROMPT_HEIGHT = 8, 152
CACHE_Y, CACHE_HEIGHT = 176, 60
EXPECTED_LINE = 1.2
ROWS_Y, ROW_HEIGHT = 246, 21
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


def _areas(order: Sequence[str], paths: dict[str, list[str]]) -> tuple[Area, ...]:
    drawn = ((css, "".join(paths.get(css, ()))) for css in order)
    return tuple(Area(css, path, css in HATCHED) for css, path in drawn if path)


@dataclass(frozen=True, slots=True)
class Hit:
    """What a click on a column does. `query` is the query of the page's address; `number` is that
    of the selected request, or of the first in the column."""

    seq: int
    number: int
    key: str
    query: str
    words: str
    selected: bool


@dataclass(frozen=True, slots=True)
class LaneName:
    """A lane's name at the left, with a note in small letters."""

    y: int
    name: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class TimelineDrawing:
    """Everything that the timeline's template draws."""

    height: int
    box_width: int
    merged: int
    names: tuple[LaneName, ...]
    prompt: tuple[Area, ...]
    cache: tuple[Area, ...]
    spans: tuple[LaneSpan, ...]
    marks: tuple[LaneMark, ...]
    rules: tuple[int, ...]
    hits: tuple[Hit, ...]
    spare_slots: int


def draw_timeline(
    timeline: Timeline,
    window: Window,
    selected_key: str,
    query_of: Callable[[RequestSummary], str],
    query_of_window: Callable[[Window], str],
    scale: str = "window",
) -> TimelineDrawing:
    """The drawing of a window of a session."""
    columns = timeline.columns[window.first - 1 : window.last] if window.total else ()
    each = bucket_size(len(columns), MOST_SLOTS)
    slots = _slots(columns, each)
    count = max(len(slots), FEWEST_SLOTS)
    shown = [slot.column for slot in slots]
    among = timeline.columns if scale == "session" else columns
    prompt_top = max(map(_prompt_size, among), default=0)
    cache_top = max((_input(c.request.usage) for c in among), default=0)
    hits = tuple(
        Hit(
            seq=slot.first_seq,
            number=slot.first_seq
            + (slot.keys.index(selected_key) if selected_key in slot.keys else 0),
            key=slot.column.request.key if each == 1 else "",
            query=query_of(slot.column.request) if each == 1
            else query_of_window(window.around(window.first + i * each, MOST_SLOTS // 2)),
            words=_hit_words(slot, each),
            selected=any(key == selected_key for key in slot.keys),
        )
        for i, slot in enumerate(slots)
    )  # fmt: skip
    rows = lanes.draw_rows(timeline, slots, count, ROWS_Y, ROW_HEIGHT)
    return TimelineDrawing(
        height=ROWS_Y + ROW_HEIGHT * len(rows.names) + 4,
        box_width=count * UNIT,
        merged=each,
        names=_names(prompt_top, cache_top, scale, rows.names),
        prompt=_prompt_areas(shown, prompt_top, scale),
        cache=_cache_areas(shown, cache_top, scale),
        spans=rows.spans,
        marks=rows.marks,
        rules=tuple(ROWS_Y + ROW_HEIGHT * i + 10 for i in rows.ruled),
        hits=hits,
        spare_slots=count - len(slots),
    )


def _slots(columns: Sequence[TimelineColumn], each: int) -> tuple[Slot, ...]:
    groups = (columns[i : i + each] for i in range(0, len(columns), each))
    return tuple(
        Slot(
            first_seq=group[0].request.seq,
            last_seq=group[-1].request.seq,
            column=group[0] if each == 1 else max(group, key=_prompt_size),
            columns=tuple(group),
            keys=tuple(column.request.key for column in group),
        )
        for group in groups
    )


def _hit_words(slot: Slot, each: int) -> str:
    words = column_words(slot.column)
    if each == 1:
        return words
    return f"Requests {slot.first_seq} to {slot.last_seq}; the largest: {words}. Click to zoom in"


def _prompt_size(column: TimelineColumn) -> int:
    return column.prompt_tokens or _input(column.request.usage)


def _input(usage: Usage | None) -> int:
    return 0 if usage is None else usage.input_tokens or 0


def _expected(column: TimelineColumn) -> int | None:
    """What could be read at best; None where that is not known."""
    verdict = column.request.verdict
    return verdict.expected_read_tokens if verdict else None


def _names(
    prompt_top: int, cache_top: int, scale: str, rows: Sequence[str]
) -> tuple[LaneName, ...]:
    prompt = "share by part" if scale == "share" else f"tokens, top {short(prompt_top)}"
    cache = "share of input" if scale == "share" else f"billed, top {short(cache_top)} · expected −"
    return (
        LaneName(PROMPT_Y + 11, "Prompt", prompt),
        LaneName(CACHE_Y + 11, "Cache", cache),
        *(LaneName(ROWS_Y + ROW_HEIGHT * i + 14, name) for i, name in enumerate(rows)),
    )


def _bar(count: int) -> float:
    """The width of a bar in its slot of ten units: a gap only where it can be seen."""
    return 8.8 if count <= 130 else 9.2 if count <= 200 else UNIT


def _prompt_areas(columns: Sequence[TimelineColumn], top: int, scale: str) -> tuple[Area, ...]:
    """Stacked bars, a path a part: parts in stacking order, what is new on top.

    New tools, system and context keep the colour of their part. A prompt that was not logged is
    an outline as high as its billed input.
    """
    paths: dict[str, list[str]] = {}
    wide = _bar(len(columns))
    for i, column in enumerate(columns):
        x = float(i * UNIT)
        whole = _prompt_size(column) if scale == "share" else top
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


def _cache_areas(columns: Sequence[TimelineColumn], top: int, scale: str) -> tuple[Area, ...]:
    """Stacked bars of billed input: read below, then written, fresh on top, and over them a line
    at what could be read.

    Input whose cache share was not reported is one hatched bar; no usage at all is a short dash.
    """
    paths: dict[str, list[str]] = {}
    wide = _bar(len(columns))
    for i, column in enumerate(columns):
        x = float(i * UNIT)
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
