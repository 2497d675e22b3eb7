"""The x axis: by request a place each, by time as long as it took, long pauses cut and labelled."""

from tests.factories import START_MS, a_column
from tracer.model.views import TimelineColumn
from web.layout.axis import MOST_SLOTS, TIME_PLACES, Axis, make_axis


def columns_at(*seconds: float | None, took: float = 2) -> list[TimelineColumn]:
    return [
        a_column(
            seq,
            started_at_ms=None if second is None else START_MS + int(second * 1000),
            duration_ms=int(took * 1000),
        )
        for seq, second in enumerate(seconds, 1)
    ]


def lefts(axis: Axis) -> list[float]:
    return [slot.left for slot in axis.slots]


def test_by_request_each_has_a_place_and_many_share_one() -> None:
    axis = make_axis("request", columns_at(*range(50)))
    assert lefts(axis) == list(range(50)) and axis.places == 50 and axis.each == 1
    crowded = make_axis("request", columns_at(*range(1000)))
    assert crowded.each == 3 and len(crowded.slots) <= MOST_SLOTS
    assert [crowded.slot_of(seq) for seq in (0, 1, 3, 4, 1000, 1001)] == [-1, 0, 0, 1, 333, 334]


def test_by_time_columns_stand_where_they_started_and_are_as_wide_as_they_took() -> None:
    axis = make_axis("time", columns_at(0, 10, 20, 40, took=5))
    first, second, third, fourth = axis.slots
    gap = second.left - first.left
    assert abs(third.left - second.left - gap) < 0.01
    assert abs(fourth.left - third.left - 2 * gap) < 0.01
    assert abs(first.right - first.left - gap / 2) < 0.01 and not axis.pauses


def test_a_long_pause_is_cut_and_labelled_with_its_true_length() -> None:
    seconds = [*range(0, 60, 2), *range(3600, 3660, 2)]
    axis = make_axis("time", columns_at(*seconds, took=1))
    (pause,) = axis.pauses
    assert pause.words == "59\u202fmin 2\u202fs"
    assert pause.width < 12
    busy = axis.slots[29].left - axis.slots[0].left
    assert busy > TIME_PLACES * 0.35, "what happened has most of the width"


def test_requests_at_the_same_moment_share_a_slot() -> None:
    axis = make_axis("time", columns_at(0, 10, 10, 10.001, 20))
    assert [len(slot.columns) for slot in axis.slots] == [1, 3, 1]
    assert axis.slot_of(3) == 1


def test_without_times_the_axis_runs_by_request() -> None:
    assert make_axis("time", columns_at(None, None, None)).by == "request"
    assert make_axis("time", columns_at(5)).by == "request"
    assert make_axis("time", ()).slots == ()
