"""Side calls: requests outside of the conversation, by a letter."""

from tracer.model.surroundings import Surroundings
from tracer.model.views import Timeline
from web.layout.lanes.base import Lane, LaneMark, Piece, RowName, Scene
from web.layout.words import side_call

_HINT = "calls outside the conversation: T title, C compaction, S subagent, + several"


def _draw(scene: Scene) -> Piece:
    marks = []
    for slot in scene.axis.slots:
        letters = {side_call(c.request)[0] for c in slot.columns if c.request.side_call}
        if letters:
            text = letters.pop() if len(letters) == 1 else "+"
            marks.append(LaneMark("side", scene.axis.percent(slot.middle), text=text))
    return Piece((RowName("Side calls", hint=_HINT),), marks=tuple(marks), ruled=True)


def _has(timeline: Timeline, around: Surroundings) -> bool:
    return any(request.side_call for request in timeline.outline)


LANE = Lane("side", 60, "Side calls", _HINT, _draw, _has)
