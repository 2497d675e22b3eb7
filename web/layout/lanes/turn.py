"""The turns, from one message of the user to the next."""

from tracer.model.surroundings import Surroundings
from tracer.model.views import Timeline
from web.layout.lanes.base import Lane, LaneSpan, Piece, RowName, Scene

_HINT = "a turn is what the agent does from one message of the user to the next"


def _draw(scene: Scene) -> Piece:
    """The turns that touch the window, alternating, with their numbers."""
    axis = scene.axis
    spans = []
    for turn in scene.timeline.turns:
        first, last = axis.slot_of(turn.first_seq), axis.slot_of(turn.last_seq)
        if last < 0 or first >= len(axis.slots):
            continue
        left = axis.slots[max(first, 0)].left
        right = axis.slots[min(last, len(axis.slots) - 1)].right
        x, width = axis.percent(left), axis.percent(right - left)
        text = str(turn.number)
        room = width * 8.6 >= 6.5 * len(text) + 4
        css = "turn odd" if turn.number % 2 else "turn even"
        title = f"Turn {text}: requests {turn.first_seq} to {turn.last_seq}"
        spans.append(LaneSpan(css, x, width, text if room else "", title=title))
    return Piece((RowName("Turn", hint=_HINT),), tuple(spans))


def _has(timeline: Timeline, around: Surroundings) -> bool:
    return bool(timeline.turns)


LANE = Lane("turn", 50, "Turns", _HINT, _draw, _has)
