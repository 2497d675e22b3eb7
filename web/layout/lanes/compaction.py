"""Compactions: where the conversation was replaced by its summary."""

from tracer.model.surroundings import Surroundings
from tracer.model.views import Timeline
from web.layout.lanes._between import event_marks
from web.layout.lanes.base import Lane, Piece, RowName, Scene

_HINT = "where the conversation was replaced by its summary"


def _draw(scene: Scene) -> Piece:
    events = [event for event in scene.timeline.events if event.kind == "compaction"]
    marks = tuple(event_marks(scene, events))
    return Piece((RowName("Compactions", hint=_HINT),), marks=marks, ruled=True)


def _has(timeline: Timeline, around: Surroundings) -> bool:
    return any(event.kind == "compaction" for event in timeline.events)


LANE = Lane("compaction", 30, "Compactions", _HINT, _draw, _has)
