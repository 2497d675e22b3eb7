"""Subagents: the requests of each session that this one started, nested under its own."""

from bisect import bisect_right
from dataclasses import replace

from tracer.model.events import Status
from tracer.model.surroundings import ChildRequest, ChildSession, Surroundings
from tracer.model.verdict import Result
from tracer.model.views import Timeline
from tracer.words import plural
from web.filters import num, one_line, short
from web.layout.lanes.base import (
    MIDDLE,
    ROW_HEIGHT,
    Lane,
    LaneMark,
    LaneSpan,
    Piece,
    RowName,
    Scene,
)

MOST_CHILDREN = 8
MOST_LINKS = 60
_HINT = "sessions that this one started, with their requests; each leads to its session"


def _draw(scene: Scene) -> Piece:
    shown = [child for child in scene.around.children if _inside(scene, child)]
    rows, spans, marks = [], [], []
    for number, child in enumerate(shown[:MOST_CHILDREN]):
        session = child.session
        title = one_line(session.title) or session.session_id
        rows.append(
            RowName(f"↳ {title}", "", _words(child), scene.child_href(session.session_id, ""))
        )
        places = _places(scene, child)
        left, right = scene.axis.percent(min(places)), scene.axis.percent(max(places) + 0.6)
        y = number * ROW_HEIGHT
        spans.append(
            LaneSpan("child", left, round(max(right - left, 0.3), 2), "", y, _words(child))
        )
        marks += [replace(mark, y=y + MIDDLE) for mark in _marks(scene, child, places)]
    left_out = len(shown) - MOST_CHILDREN
    if left_out > 0:
        rows.append(RowName(f"and {num(left_out)} more", "", "listed below the timeline"))
    if not rows:
        rows.append(RowName("Subagents", "none here", _HINT))
    return Piece(tuple(rows), tuple(spans), tuple(marks))


def _inside(scene: Scene, child: ChildSession) -> bool:
    """Whether a child began in the window."""
    slots = scene.axis.slots
    started = child.session.started_at_ms
    if not slots or started is None:
        return False
    first = slots[0].columns[0].request.started_at_ms or 0
    later = scene.timeline.columns[slots[-1].last_seq :][:1]
    end = later[0].request.started_at_ms if later else None
    return started >= first and (end is None or started < end)


def _places(scene: Scene, child: ChildSession) -> list[float]:
    """Where the child's requests stand: after the request of this session that started last, those
    after the same one side by side."""
    slots = scene.axis.slots
    starts = [slot.columns[0].request.started_at_ms or 0 for slot in slots]
    after = [
        max(0, bisect_right(starts, request.started_at_ms or 0) - 1) for request in child.requests
    ] or [max(0, bisect_right(starts, child.session.started_at_ms or 0) - 1)]
    places = []
    for number, index in enumerate(after):
        same = [i for i, other in enumerate(after) if other == index]
        slot, end = slots[index], slots[index].right
        end = slots[index + 1].left if index + 1 < len(slots) else max(end, slot.left + 1)
        share = (same.index(number) + 0.5) / len(same)
        places.append(slot.left + (end - slot.left) * share)
    return places


def _marks(scene: Scene, child: ChildSession, places: list[float]) -> list[LaneMark]:
    if len(child.requests) > MOST_LINKS:
        return []
    return [
        LaneMark(
            _glyph(request), scene.axis.percent(place), 0, "",
            f"Request {num(request.seq)} of {one_line(child.session.title)}: {_state(request)}",
            scene.child_href(child.session.session_id, request.key),
        )
        for request, place in zip(child.requests, places, strict=False)
    ]  # fmt: skip


def _glyph(request: ChildRequest) -> str:
    if request.status is Status.FAILED:
        return "failed"
    if request.result in (Result.MISS, Result.PARTIAL):
        return f"v-{request.result.value}"
    return "child"


def _state(request: ChildRequest) -> str:
    result = request.result.value.replace("_", " ") if request.result else "not judged yet"
    return f"{request.status.value}, {result}"


def _words(child: ChildSession) -> str:
    session = child.session
    title = one_line(session.title) or session.session_id
    told = plural(session.requests, "request")
    return f"{title}: {told}, {short(session.usage.input_tokens)} input"


def _has(timeline: Timeline, around: Surroundings) -> bool:
    return bool(around.children)


LANE = Lane("subagents", 80, "Subagents", _HINT, _draw, _has)
