"""Everything else that the log tells: restarts of a log file, subagents started, other events."""

from tracer.model.surroundings import Surroundings
from tracer.model.views import Timeline, TimelineEvent
from web.layout.lanes._between import event_marks
from web.layout.lanes.base import Lane, Piece, RowName, Scene

_ELSEWHERE = ("compaction", "model", "error", "retry")
_HINT = "other events: a log file that began anew, a subagent that started, a session that resumed"


def _others(timeline: Timeline) -> list[TimelineEvent]:
    return [event for event in timeline.events if event.kind not in _ELSEWHERE]


def _draw(scene: Scene) -> Piece:
    marks = tuple(event_marks(scene, _others(scene.timeline)))
    return Piece((RowName("Other events", hint=_HINT),), marks=marks, ruled=True)


def _has(timeline: Timeline, around: Surroundings) -> bool:
    return bool(_others(timeline))


LANE = Lane("log", 70, "Other events", _HINT, _draw, _has)
