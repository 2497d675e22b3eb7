"""What went wrong: failed, cancelled and repeated requests, and the errors that the log tells."""

from tracer.model.events import Status
from tracer.model.surroundings import Surroundings
from tracer.model.views import RequestOutline, RequestSummary, Timeline
from web.layout.lanes._between import event_marks
from web.layout.lanes.base import Lane, LaneMark, Piece, RowName, Scene

_ORDER = ("failed", "cancelled", "retry", "unknown")
_EVENTS = ("error", "retry")
_HINT = "failed, cancelled and repeated requests, and errors that the log tells"


def _glyph(request: RequestSummary | RequestOutline) -> str:
    """The glyph of what went wrong in a request; empty for what went well."""
    if request.status == Status.FAILED:
        return "failed"
    if request.status == Status.CANCELLED:
        return "cancelled"
    if request.attempt > 1:
        return "retry"
    return "unknown" if request.status == Status.UNKNOWN else ""


def _draw(scene: Scene) -> Piece:
    marks = []
    for slot in scene.axis.slots:
        glyphs = {_glyph(column.request) for column in slot.columns} - {""}
        if glyphs:
            marks.append(LaneMark(min(glyphs, key=_ORDER.index), scene.axis.percent(slot.middle)))
    failures = {request.seq for request in scene.timeline.outline if _glyph(request)}
    events = [e for e in scene.timeline.events if e.kind in _EVENTS and e.after_seq not in failures]
    marks += event_marks(scene, events)
    return Piece((RowName("Retries, errors", hint=_HINT),), marks=tuple(marks), ruled=True)


def _has(timeline: Timeline, around: Surroundings) -> bool:
    return any(_glyph(request) for request in timeline.outline) or any(
        event.kind in _EVENTS for event in timeline.events
    )


LANE = Lane("trouble", 20, "Retries, errors", _HINT, _draw, _has)
