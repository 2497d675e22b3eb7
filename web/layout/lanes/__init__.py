"""The lanes below the bars, found by name: a new lane is a new file with a `LANE`."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cache

from tracer.model.surroundings import Surroundings
from tracer.model.views import Timeline
from tracer.registry import members
from web.layout.lanes.base import (
    ROW_HEIGHT,
    Lane,
    LaneBars,
    LaneMark,
    LaneSpan,
    RowName,
    Scene,
)

__all__ = ["Lane", "LaneMark", "LaneSpan", "Rows", "Switch", "all_lanes", "draw_rows", "switches"]


@dataclass(frozen=True, slots=True)
class Rows:
    """All lanes together, `height` pixels high. `ruled` are the base lines of sparse lanes."""

    height: int
    names: tuple[RowName, ...]
    spans: tuple[LaneSpan, ...]
    marks: tuple[LaneMark, ...]
    bars: tuple[LaneBars, ...]
    ruled: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Switch:
    """A lane in the list of lanes: whether it is drawn unless switched, and whether the session has
    anything for it."""

    name: str
    label: str
    hint: str
    shown: bool
    has: bool


@cache
def all_lanes() -> tuple[Lane, ...]:
    """Every lane of this package, from top to bottom."""
    found: list[Lane] = [module.LANE for module in members(__name__)]
    return tuple(sorted(found, key=lambda lane: lane.order))


def switches(timeline: Timeline, around: Surroundings) -> tuple[Switch, ...]:
    """Every lane as a switch, from top to bottom."""
    return tuple(
        Switch(lane.name, lane.label, lane.hint, lane.shown, lane.has(timeline, around))
        for lane in all_lanes()
    )


def draw_rows(scene: Scene, drawn: Collection[str], top: int) -> Rows:
    """The lanes whose names are in `drawn`, from `top` downwards."""
    names: list[RowName] = []
    spans: list[LaneSpan] = []
    marks: list[LaneMark] = []
    bars: list[LaneBars] = []
    ruled: list[int] = []
    y = top
    for lane in all_lanes():
        if lane.name not in drawn:
            continue
        piece = lane.draw(scene)
        for i, row in enumerate(piece.rows):
            names.append(replace(row, y=y + i * ROW_HEIGHT + 14))
            if piece.ruled:
                ruled.append(y + i * ROW_HEIGHT + 10)
        spans += [replace(span, y=span.y + y) for span in piece.spans]
        marks += [replace(mark, y=mark.y + y) for mark in piece.marks]
        if piece.bars:
            bars += piece.bars(y)
        y += ROW_HEIGHT * len(piece.rows)
    return Rows(y - top, tuple(names), tuple(spans), tuple(marks), tuple(bars), tuple(ruled))
