"""Signs between the columns: what happened after a request and before the next one."""

from collections.abc import Sequence

from tracer.model.views import TimelineEvent
from web.filters import one_line, utc
from web.layout.lanes.base import LaneMark, Scene

_ORDER = ("reset", "compaction", "model", "subagent", "error", "retry", "log")
MOST_TOLD = 6


def event_marks(scene: Scene, events: Sequence[TimelineEvent]) -> list[LaneMark]:
    """A glyph for each place where something happened; of several the gravest is drawn."""
    axis = scene.axis
    if not axis.slots:
        return []
    before, last = axis.slots[0].first_seq - 1, axis.slots[-1].last_seq
    places: dict[float, list[TimelineEvent]] = {}
    for event in events:
        if before <= event.after_seq <= last:
            places.setdefault(axis.after(event.after_seq), []).append(event)
    marks = []
    for place, found in sorted(places.items()):
        found.sort(key=lambda event: _rank(event.kind))
        kind = found[0].kind if found[0].kind in _ORDER else "log"
        lines = [
            f"{one_line(e.title)} ({utc(e.at_ms)} UTC) {one_line(e.detail)[:200]}".strip()
            for e in found[:MOST_TOLD]
        ]
        if len(found) > MOST_TOLD:
            lines.append(f"and {len(found) - MOST_TOLD} more")
        marks.append(LaneMark(kind, axis.percent(place), title="\n".join(lines)))
    return marks


def _rank(kind: str) -> int:
    return _ORDER.index(kind) if kind in _ORDER else len(_ORDER)
