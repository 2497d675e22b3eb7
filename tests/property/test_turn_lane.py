"""Whatever the times of a turn are, nothing on its lane is hidden."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from web.layout.turn_lane import ROW_HEIGHT, LaneItem, turn_lane

ITEM = LaneItem(0, 0, 1_000, 0, "Bash", "Bash: completed", "/requests/r1", "tool")
items = st.builds(
    lambda group, start, length: replace(ITEM, group=group, start_ms=start, end_ms=start + length),
    st.integers(0, 1), st.integers(0, 100_000), st.integers(0, 50_000),
)  # fmt: skip


@given(st.lists(items, min_size=1, max_size=30))
def test_no_bar_hides_another(found: list[LaneItem]) -> None:
    lane = turn_lane(found)
    assert lane is not None and len(lane.bars) == len(found)
    rows: dict[int, list[tuple[float, float]]] = {}
    for bar in lane.bars:
        assert bar.x >= 0 and bar.x + bar.width <= 100.01
        rows.setdefault(bar.y, []).append((bar.x, bar.x + bar.width))
    for spans in rows.values():
        spans.sort()
        assert all(a[1] <= b[0] + 0.02 for a, b in zip(spans, spans[1:], strict=False))
    assert max(rows) + ROW_HEIGHT == lane.height
