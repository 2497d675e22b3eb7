"""The lane of a turn and the chart of what was billed: pure geometry."""

from dataclasses import replace

from web.layout.turn_lane import AXIS_HEIGHT, ROW_HEIGHT, LaneItem, turn_lane
from web.layout.usage_chart import LEAST_SLOTS, MOST_COLUMNS, UsagePoint, usage_chart

ITEM = LaneItem(0, 0, 1_000, 0, "Bash", "Bash: completed", "/requests/r1", "tool")
POINT = UsagePoint(900, 0, 100, 0, 50, 300, 1_000, 2_000, 0, "Request 1", "/sessions/s/replay")


def test_a_turn_without_times_has_no_lane() -> None:
    assert turn_lane(()) is None


def test_bars_stand_where_their_times_are_and_waits_in_them() -> None:
    lane = turn_lane([ITEM, replace(ITEM, start_ms=2_000, end_ms=4_000, wait_ms=500)])
    assert lane is not None and lane.span_ms == 4_000
    assert [(bar.x, bar.width, bar.wait) for bar in lane.bars] == [(0, 25, 0), (50, 50, 25)]
    assert lane.height == AXIS_HEIGHT + ROW_HEIGHT, "one row: they are one after the other"


def test_an_unknown_end_is_open_and_still_seen() -> None:
    lane = turn_lane([ITEM, replace(ITEM, start_ms=1_000, end_ms=None)])
    assert lane is not None
    assert lane.bars[1].open_end and lane.bars[1].width > 0
    assert lane.bars[1].x + lane.bars[1].width <= 100


def test_nothing_billed_is_no_chart() -> None:
    assert usage_chart(()) is None
    assert usage_chart([replace(POINT, read_tokens=0, fresh_tokens=0)]) is None


def test_a_band_of_which_nothing_is_known_is_left_out() -> None:
    bare = replace(POINT, first_token_ms=None, context_used=None, context_window=None)
    chart = usage_chart([bare, bare])
    assert chart is not None
    assert [band.name for band in chart.bands] == ["input", "output"]
    assert (chart.slots, len(chart.columns)) == (LEAST_SLOTS, 2)


def test_a_band_says_of_how_many_it_is_known_and_what_its_height_means() -> None:
    chart = usage_chart([POINT, replace(POINT, context_used=None)])
    assert chart is not None
    context = chart.bands[-1]
    assert (context.name, context.top, context.known) == ("context", 2_000, 1)


def test_thousands_of_requests_share_columns() -> None:
    chart = usage_chart([POINT] * 5_000)
    assert chart is not None
    assert len(chart.columns) <= MOST_COLUMNS
    assert sum(column.requests for column in chart.columns) == 5_000
    assert "more" in chart.columns[0].title
