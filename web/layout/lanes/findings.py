"""What the agent's own rules found: a sign a request, for the gravest finding."""

from collections.abc import Mapping

from tracer.model.findings import Level
from tracer.model.surroundings import Surroundings
from tracer.model.views import Timeline
from web.layout.lanes.base import Lane, LaneMark, Piece, RowName, Scene

_HINT = "where a request breaks a rule of its own agent: filled for an error, hollow for a warning"


def _draw(scene: Scene) -> Piece:
    marks = []
    for slot in scene.axis.slots:
        counts: dict[Level, int] = {}
        for column in slot.columns:
            for level, count in scene.around.findings.get(column.request.key, {}).items():
                counts[level] = counts.get(level, 0) + count
        if counts:
            worst = min(counts, key=tuple(Level).index)
            x = scene.axis.percent(slot.middle)
            marks.append(LaneMark(f"rule-{worst.value}", x))
    return Piece((RowName("Rules", hint=_HINT),), marks=tuple(marks), ruled=True)


def finding_words(counts: Mapping[Level, int]) -> str:
    """How much was found, by level: 1 error, 2 warnings."""
    words = {Level.INFO: "for information"}
    return ", ".join(
        f"{counts[level]} {words.get(level, level.value + ('s' if counts[level] > 1 else ''))}"
        for level in Level
        if level in counts
    )


def _has(timeline: Timeline, around: Surroundings) -> bool:
    return bool(around.findings)


LANE = Lane("findings", 25, "Rules", _HINT, _draw, _has)
