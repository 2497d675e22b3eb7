"""Tool calls: how many each response asked for."""

from collections import Counter

from tracer.model.surroundings import Surroundings
from tracer.model.views import Timeline
from tracer.words import plural
from web.filters import num, one_line
from web.layout.axis import UNIT
from web.layout.lanes.base import Lane, LaneBars, Piece, RowName, Scene
from web.layout.scale import rect

HEIGHT = 16
FULL_AT = 4
MOST_NAMED = 8
_HINT = "tool calls that the response asked for: the higher, the more"


def calls_words(calls: dict[str, int]) -> str:
    """The calls in words: 5 tool calls: Read × 3, Bash, Edit."""
    total = sum(calls.values())
    named = [f"{one_line(name)} × {count}" if count > 1 else one_line(name)
             for name, count in list(calls.items())[:MOST_NAMED]]  # fmt: skip
    more = f" and {len(calls) - MOST_NAMED} more" if len(calls) > MOST_NAMED else ""
    return f"{plural(total, 'tool call')}: {', '.join(named)}{more}"


def _draw(scene: Scene) -> Piece:
    found = []
    for slot in scene.axis.slots:
        calls: Counter[str] = Counter()
        for column in slot.columns:
            calls.update(dict(scene.around.calls.get(column.request.key, ())))
        if calls:
            found.append((slot, dict(calls)))
    top_count = max((sum(calls.values()) for _, calls in found), default=0)
    whole = max(top_count, FULL_AT)

    def bars(top: int) -> tuple[LaneBars, ...]:
        pieces = []
        for slot, calls in found:
            high = HEIGHT * sum(calls.values()) / whole
            wide = max(slot.right - slot.left - 0.12, 0.5) * UNIT
            pieces.append(rect(slot.left * UNIT, top + HEIGHT + 3 - high, wide, high))
        return (LaneBars("calls", "".join(pieces)),) if pieces else ()

    hint = f"{_HINT}; at most {num(top_count)} in this window" if top_count else _HINT
    return Piece((RowName("Tool calls", hint=hint),), bars=bars)


def _has(timeline: Timeline, around: Surroundings) -> bool:
    return around.has_calls


LANE = Lane("calls", 55, "Tool calls", _HINT, _draw, _has)
