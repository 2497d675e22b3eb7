"""The model of the conversation, as stretches; a switch of it has a sign of its own."""

from tracer.model.surroundings import Surroundings
from tracer.model.views import Timeline
from web.filters import one_line
from web.layout.lanes.base import Lane, LaneMark, LaneSpan, Piece, RowName, Scene, label

_HINT = "which model answered in the conversation, and where it was switched"


def _draw(scene: Scene) -> Piece:
    """Runs of one model; side calls do not interrupt a run."""
    runs: list[tuple[float, str]] = []
    for slot in scene.axis.slots:
        request = slot.column.request
        if not request.side_call and (not runs or runs[-1][1] != request.model_id):
            runs.append((slot.left if runs else 0.0, request.model_id))
    end = scene.axis.slots[-1].right if scene.axis.slots else 0.0
    ends = ([start for start, _ in runs] + [end])[1:]
    spans, marks = [], []
    for number, ((start, model), stop) in enumerate(zip(runs, ends, strict=True)):
        x, width = scene.axis.percent(start), scene.axis.percent(stop - start)
        css = "model switched" if number else "model first"
        text = one_line(model) or "not known"
        spans.append(LaneSpan(css, x, width, label(text, width - 1), title=text))
        if number:
            marks.append(LaneMark("model", x, title=f"Model switched to {text}"))
    return Piece((RowName("Model", hint=_HINT),), tuple(spans), tuple(marks))


def _has(timeline: Timeline, around: Surroundings) -> bool:
    return any(not request.side_call for request in timeline.outline)


LANE = Lane("model", 40, "Model", _HINT, _draw, _has)
