"""The verdict of each request: a dot for a hit, a sign for everything else."""

from tracer.model.surroundings import Surroundings
from tracer.model.verdict import Result
from tracer.model.views import Timeline
from web.layout.lanes.base import Lane, LaneMark, Piece, RowName, Scene

_GRAVEST = (
    Result.MISS, Result.PARTIAL, Result.EXPECTED_REBUILD, Result.FIRST, Result.NO_USAGE,
    Result.NOT_REPORTED, Result.HIT,
)  # fmt: skip
_HINT = "what became of the cache: a dot is a hit, a triangle a miss, a diamond a partial hit"


def _draw(scene: Scene) -> Piece:
    """The gravest verdict of each slot; nothing where none was given."""
    marks = []
    for slot in scene.axis.slots:
        found = {c.request.verdict.result for c in slot.columns if c.request.verdict}
        if found:
            result = min(found, key=_GRAVEST.index)
            marks.append(LaneMark(f"v-{result.value}", scene.axis.percent(slot.middle)))
    return Piece((RowName("Verdict", hint=_HINT),), marks=tuple(marks))


def _has(timeline: Timeline, around: Surroundings) -> bool:
    return any(request.result for request in timeline.outline)


LANE = Lane("verdict", 10, "Verdict", _HINT, _draw, _has)
