"""The thin lanes under the bars: status, model, turns, side calls, events."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from tracer.model.events import Status
from tracer.model.verdict import Result
from tracer.model.views import Timeline, TimelineColumn, TimelineEvent
from web.filters import one_line, utc
from web.layout.scale import percent
from web.layout.words import side_call

_GRAVEST = (
    Result.MISS, Result.PARTIAL, Result.EXPECTED_REBUILD, Result.FIRST, Result.NO_USAGE,
    Result.NOT_REPORTED, Result.HIT,
)  # fmt: skip
_EVENT_ORDER = ("reset", "compaction", "model", "subagent", "error", "retry", "log")


@dataclass(frozen=True, slots=True)
class Slot:
    """One place on the x axis: a request, or neighbours with the one that is drawn."""

    first_seq: int
    last_seq: int
    column: TimelineColumn
    columns: tuple[TimelineColumn, ...]
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LaneMark:
    """A glyph at x percent, y pixels. `title` is empty where the column's name says it all."""

    glyph: str
    x: float
    y: int
    text: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class LaneSpan:
    """A stretch of a lane in percent, with its label where there is room for it."""

    css: str
    x: float
    width: float
    y: int
    label: str
    label_x: float


@dataclass(frozen=True, slots=True)
class Rows:
    """The thin lanes together. `ruled` are the rows that have a base line."""

    names: tuple[str, ...]
    spans: tuple[LaneSpan, ...]
    marks: tuple[LaneMark, ...]
    ruled: tuple[int, ...]


def draw_rows(
    timeline: Timeline, slots: Sequence[Slot], count: int, top: int, row_height: int
) -> Rows:
    """All thin lanes of a window of `count` slots, from `top` downwards."""
    y = [top + row_height * i for i in range(6)]
    spans = [*_models(slots, count, y[2]), *_turns(timeline, slots, count, y[3])]
    marks = [
        *_verdicts(slots, count, y[0] + 10),
        *_statuses(slots, count, y[1] + 10),
        *_side_calls(slots, count, y[4] + 10),
        *_events(timeline.events, slots, count, y[5] + 10),
    ]
    return Rows(
        ("Verdict", "Status", "Model", "Turn", "Side calls", "Events"),
        tuple(spans),
        tuple(marks),
        (1, 4, 5),
    )


def _middle(index: int, count: int) -> float:
    return percent(index + 0.5, count)


def _verdicts(slots: Sequence[Slot], count: int, y: int) -> list[LaneMark]:
    """The gravest verdict of each slot; nothing where none was given."""
    marks = []
    for i, slot in enumerate(slots):
        found = {c.request.verdict.result for c in slot.columns if c.request.verdict}
        if found:
            result = min(found, key=_GRAVEST.index)
            marks.append(LaneMark(f"v-{result.value}", _middle(i, count), y))
    return marks


def _status_glyph(column: TimelineColumn) -> str:
    """The glyph of what went wrong in a request; empty for what went well."""
    request = column.request
    if request.status is Status.FAILED:
        return "failed"
    if request.status is Status.CANCELLED:
        return "cancelled"
    if request.attempt > 1:
        return "retry"
    return "unknown" if request.status is Status.UNKNOWN else ""


def _statuses(slots: Sequence[Slot], count: int, y: int) -> list[LaneMark]:
    order = ("failed", "cancelled", "retry", "unknown")
    marks = []
    for i, slot in enumerate(slots):
        glyphs = {_status_glyph(column) for column in slot.columns} - {""}
        if glyphs:
            marks.append(LaneMark(min(glyphs, key=order.index), _middle(i, count), y))
    return marks


def _side_calls(slots: Sequence[Slot], count: int, y: int) -> list[LaneMark]:
    marks = []
    for i, slot in enumerate(slots):
        letters = {side_call(c.request)[0] for c in slot.columns if c.request.side_call}
        if letters:
            text = letters.pop() if len(letters) == 1 else "+"
            marks.append(LaneMark("side", _middle(i, count), y, text))
    return marks


def _label(text: str, width: float) -> str:
    """The text cut to what fits in a stretch of `width` percent of a usual screen."""
    room = int(width * 8.6 / 6.2) - 1
    if len(text) <= room:
        return text
    return text[: room - 1] + "…" if room >= 5 else ""


def _models(slots: Sequence[Slot], count: int, y: int) -> list[LaneSpan]:
    """Runs of one model in the conversation; side calls do not interrupt a run."""
    runs: list[tuple[int, str]] = []
    for i, slot in enumerate(slots):
        request = slot.column.request
        if not request.side_call and (not runs or runs[-1][1] != request.model_id):
            runs.append((i if runs else 0, request.model_id))
    ends = ([start for start, _ in runs] + [len(slots)])[1:]
    spans = []
    for number, ((start, model), end) in enumerate(zip(runs, ends, strict=True)):
        width = percent(end - start, count)
        css = "model first" if not number else "model switched"
        label = _label(one_line(model), width)
        spans.append(LaneSpan(css, percent(start, count), width, y, label, percent(start, count)))
    return spans


def _turns(timeline: Timeline, slots: Sequence[Slot], count: int, y: int) -> list[LaneSpan]:
    """The turns that touch the window, alternating, with their numbers."""
    if not slots:
        return []
    firsts = [slot.first_seq for slot in slots]
    lasts = [slot.last_seq for slot in slots]
    spans = []
    for turn in timeline.turns:
        if turn.last_seq < firsts[0] or turn.first_seq > lasts[-1]:
            continue
        start = bisect_left(lasts, turn.first_seq)
        end = max(start + 1, bisect_right(firsts, turn.last_seq))
        x, width = percent(start, count), percent(end - start, count)
        label = str(turn.number)
        css = "turn odd" if turn.number % 2 else "turn even"
        room = width * 8.6 >= 6.5 * len(label) + 4
        spans.append(LaneSpan(css, x, width, y, label if room else "", x))
    return spans


def _events(
    events: Sequence[TimelineEvent], slots: Sequence[Slot], count: int, y: int
) -> list[LaneMark]:
    """A glyph between columns for each place where something happened; the gravest is drawn."""
    if not slots:
        return []
    lasts = [slot.last_seq for slot in slots]
    begin = slots[0].first_seq - 1
    places: dict[int, list[TimelineEvent]] = {}
    for event in events:
        if begin <= event.after_seq <= lasts[-1]:
            first = event.after_seq == begin
            edge = 0 if first else bisect_left(lasts, event.after_seq) + 1
            places.setdefault(edge, []).append(event)
    marks = []
    for edge, found in sorted(places.items()):
        found.sort(key=lambda event: _rank(event.kind))
        kind = found[0].kind if found[0].kind in _EVENT_ORDER else "log"
        lines = [
            f"{one_line(e.title)} ({utc(e.at_ms)} UTC) {one_line(e.detail)[:200]}".strip()
            for e in found[:6]
        ]
        if len(found) > 6:
            lines.append(f"and {len(found) - 6} more")
        marks.append(LaneMark(kind, percent(edge, count), y, "", "\n".join(lines)))
    return marks


def _rank(kind: str) -> int:
    return _EVENT_ORDER.index(kind) if kind in _EVENT_ORDER else len(_EVENT_ORDER)
