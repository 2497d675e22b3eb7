"""Cache breakpoints: how many a request set, told where that is another number than before."""

from tracer.model.surroundings import Surroundings
from tracer.model.views import Timeline
from web.layout.lanes.base import Lane, LaneMark, Piece, RowName, Scene

_HINT = "cache breakpoints that the client set: their number where it changes, a dot where not"


def _draw(scene: Scene) -> Piece:
    marks = []
    before: dict[str, int] = {}
    for slot in scene.axis.slots:
        request = slot.column.request
        count = len(request.markers)
        changed = before.get(request.lane) != count
        before[request.lane] = count
        x = scene.axis.percent(slot.middle)
        if changed and (count or slot is not scene.axis.slots[0]):
            marks.append(LaneMark("side", x, text=str(count)))
        elif count:
            marks.append(LaneMark("v-hit", x))
    return Piece((RowName("Markers", hint=_HINT),), marks=tuple(marks), ruled=True)


def _has(timeline: Timeline, around: Surroundings) -> bool:
    return any(request.markers for request in timeline.outline)


LANE = Lane("markers", 90, "Markers", _HINT, _draw, _has, shown=False)
