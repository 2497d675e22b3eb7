"""What holds for every lane of the timeline, present and future."""

import pytest

from tests.factories import a_column, a_timeline, an_event
from tracer.model.events import Status
from tracer.model.surroundings import Surroundings
from tracer.model.views import Timeline
from web.board import LANE_NAMES
from web.layout.axis import make_axis
from web.layout.lanes import Lane, all_lanes, draw_rows, switches
from web.layout.lanes.base import Scene


def scene(timeline: Timeline, by: str = "request") -> Scene:
    axis = make_axis(by, timeline.columns)
    return Scene(timeline, Surroundings(), axis, lambda session, key: f"/sessions/{session}")


def busy() -> Timeline:
    columns = [a_column(seq, status=Status.FAILED) for seq in range(1, 30)]
    events = [an_event(kind, 3) for kind in ("compaction", "model", "reset", "error", "log")]
    return a_timeline(columns=columns, events=events)


def test_the_lanes_of_the_product_are_found_in_order() -> None:
    names = [lane.name for lane in all_lanes()]
    assert {"verdict", "clock", "trouble", "compaction", "model", "turn", "calls", "side", "log",
            "subagents", "markers"} <= set(names)  # fmt: skip
    assert len(set(names)) == len(names) and set(names) <= LANE_NAMES
    assert [lane.order for lane in all_lanes()] == sorted({lane.order for lane in all_lanes()})


@pytest.mark.parametrize("lane", all_lanes(), ids=lambda lane: lane.name)
def test_a_lane_explains_itself_and_can_be_in_an_address(lane: Lane) -> None:
    assert lane.label and lane.hint and lane.hint[0].islower()
    assert lane.name.isascii() and lane.name.isalnum()


@pytest.mark.parametrize("by", ["request", "time"])
@pytest.mark.parametrize("lane", all_lanes(), ids=lambda lane: lane.name)
def test_a_lane_draws_inside_of_its_rows_and_names_them(lane: Lane, by: str) -> None:
    for timeline in (a_timeline(0), a_timeline(1), busy()):
        made = draw_rows(scene(timeline, by), {lane.name}, 100)
        bottom = 100 + made.height
        assert made.names and all(100 < name.y < bottom and name.hint for name in made.names)
        assert all(100 <= mark.y <= bottom and 0 <= mark.x <= 100 for mark in made.marks)
        assert all(span.x + span.width <= 100.1 for span in made.spans)


def test_a_session_without_anything_for_a_lane_says_so() -> None:
    empty = switches(a_timeline(0), Surroundings())
    assert not any(switch.has for switch in empty)
    found = {switch.name for switch in switches(busy(), Surroundings()) if switch.has}
    assert found == {"trouble", "compaction", "model", "turn", "log"}
