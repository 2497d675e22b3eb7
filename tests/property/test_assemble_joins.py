"""Joins are total, and an id is the last word."""

from hypothesis import given
from hypothesis import strategies as st

from tracer.assemble.joins import (
    SNAPSHOT_SLACK_MS,
    LineFacts,
    RequestFacts,
    Strength,
    join_line,
    snapshot_before,
)

TIMES = st.none() | st.integers(-100, 2_000)
IDS = st.sampled_from(["", "a", "b"])
LINES = st.builds(LineFacts, TIMES, st.just("e"), IDS, IDS, st.none() | st.integers(0, 3))
REQUESTS = st.builds(RequestFacts, IDS, st.integers(1, 3), IDS, TIMES, TIMES)


@given(LINES, REQUESTS)
def test_a_tie_is_exact_where_the_line_names_a_request_and_only_there(
    line: LineFacts, request: RequestFacts
) -> None:
    join = join_line(line, request)
    if line.request_id:
        same = line.request_id == request.request_id
        same = same and line.attempt in (None, request.attempt)
        assert (join is not None) == same
        assert join is None or join.strength is Strength.EXACT
    elif join is not None:
        assert join.strength in (Strength.HEURISTIC, Strength.TURN)
        assert line.turn_id == request.turn_id != ""


@given(st.lists(LINES, max_size=8), REQUESTS, st.lists(st.integers(-100, 2_000), max_size=4))
def test_a_snapshot_is_the_last_one_of_its_turn_before_the_request(
    lines: list[LineFacts], request: RequestFacts, starts: list[int]
) -> None:
    found = snapshot_before(lines, request, starts)
    if found is None:
        return
    chosen, started = lines[found], request.started_at_ms
    if chosen.request_id:
        assert chosen.request_id == request.request_id
        return
    assert chosen.at_ms is not None and started is not None
    assert chosen.turn_id == request.turn_id
    assert chosen.at_ms <= started + SNAPSHOT_SLACK_MS
    for other in (line for line in lines if not line.request_id):
        if other.turn_id == request.turn_id and other.at_ms is not None:
            assert other.at_ms <= chosen.at_ms or other.at_ms > started + SNAPSHOT_SLACK_MS
    assert not any(chosen.at_ms <= start < started for start in starts)
