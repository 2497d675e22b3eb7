"""Tying log lines and snapshots to requests (formats/zcode.md 11)."""

import pytest

from tracer.assemble.joins import (
    SNAPSHOT_SLACK_MS,
    SNAPSHOT_WINDOW_MS,
    Join,
    LineFacts,
    RequestFacts,
    Strength,
    join_line,
    snapshot_before,
)

REQUEST = RequestFacts("req-1", 2, "turn_1", 10_000, 13_400)
EARLY = REQUEST.started_at_ms or 0


def a_line(
    at_ms: int | None = 11_000, turn: str = "turn_1", request: str = "", attempt: int | None = None
) -> LineFacts:
    return LineFacts(at_ms, "any.event", turn, request, attempt)


def strength(line: LineFacts, request: RequestFacts = REQUEST) -> Strength | None:
    join = join_line(line, request)
    return join.strength if join else None


def test_the_request_id_and_the_attempt_tie_exactly() -> None:
    line = a_line(request="req-1", attempt=2)
    assert join_line(line, REQUEST) == Join(Strength.EXACT, "request id and attempt")


def test_a_line_without_an_attempt_ties_by_its_request_id() -> None:
    assert join_line(a_line(request="req-1"), REQUEST) == Join(Strength.EXACT, "request id")


@pytest.mark.parametrize("at_ms", [None, 0, 99_999])
def test_an_id_ties_whatever_the_time_and_the_turn(at_ms: int | None) -> None:
    assert strength(a_line(at_ms, turn="", request="req-1", attempt=2)) is Strength.EXACT


def test_another_attempt_of_a_shared_request_id_is_another_request() -> None:
    assert join_line(a_line(request="req-1", attempt=1), REQUEST) is None


def test_another_request_id_is_never_tied_by_time() -> None:
    assert join_line(a_line(request="req-2"), REQUEST) is None


@pytest.mark.parametrize(
    ("at_ms", "tied"),
    [(9_949, False), (9_950, True), (10_000, True), (13_400, True), (13_401, False)],
)
def test_a_line_of_the_turn_ties_within_the_requests_time(at_ms: int, tied: bool) -> None:
    assert (strength(a_line(at_ms)) is Strength.HEURISTIC) == tied


@pytest.mark.parametrize("line", [a_line(turn="turn_2"), a_line(turn=""), a_line(None)])
def test_another_turn_or_an_unknown_time_is_no_tie(line: LineFacts) -> None:
    assert join_line(line, REQUEST) is None


def test_a_request_without_an_end_takes_only_what_stands_at_its_start() -> None:
    open_ended = REQUEST._replace(completed_at_ms=None)
    assert strength(a_line(10_000), open_ended) is Strength.HEURISTIC
    assert strength(a_line(10_001), open_ended) is None


def test_a_request_without_a_time_is_tied_by_turn_only() -> None:
    timeless = REQUEST._replace(started_at_ms=None, completed_at_ms=None)
    assert strength(a_line(), timeless) is Strength.TURN


def test_a_request_without_an_id_is_not_tied_by_an_empty_one() -> None:
    assert strength(a_line(), REQUEST._replace(request_id="")) is Strength.HEURISTIC


def test_the_snapshot_right_before_a_request_is_its_own() -> None:
    assert snapshot_before([a_line(9_000), a_line(9_900)], REQUEST, []) == 1


def test_a_snapshot_may_be_stamped_a_little_after_the_start() -> None:
    at_the_limit = a_line(EARLY + SNAPSHOT_SLACK_MS)
    assert snapshot_before([at_the_limit], REQUEST, []) == 0
    assert snapshot_before([at_the_limit._replace(at_ms=EARLY + 51)], REQUEST, []) is None


def test_the_order_of_the_lines_does_not_matter() -> None:
    assert snapshot_before([a_line(9_900), a_line(9_000)], REQUEST, []) == 0


@pytest.mark.parametrize("line", [a_line(9_900, turn="turn_2"), a_line(None)])
def test_a_snapshot_of_another_turn_or_of_no_time_is_nobodys(line: LineFacts) -> None:
    assert snapshot_before([line], REQUEST, []) is None


def test_a_snapshot_that_another_request_has_used_is_not_taken_again() -> None:
    assert snapshot_before([a_line(9_000)], REQUEST, [9_100]) is None
    # Another request's start may be stamped before its snapshot, within the slack.
    assert snapshot_before([a_line(9_000)], REQUEST, [8_951]) is None
    assert snapshot_before([a_line(9_000)], REQUEST, [8_949]) == 0


def test_requests_that_start_later_take_nothing_away() -> None:
    assert snapshot_before([a_line(9_900)], REQUEST, [10_000, 12_000]) == 0


def test_a_snapshot_from_long_ago_is_not_taken() -> None:
    at_ms = EARLY - SNAPSHOT_WINDOW_MS + EARLY
    request = REQUEST._replace(started_at_ms=EARLY + EARLY)
    assert snapshot_before([a_line(at_ms)], request, []) == 0
    assert snapshot_before([a_line(at_ms - 1)], request, []) is None


def test_a_request_without_a_start_has_no_snapshot() -> None:
    assert snapshot_before([a_line()], REQUEST._replace(started_at_ms=None), []) is None


def test_without_snapshots_there_is_none() -> None:
    assert snapshot_before([], REQUEST, []) is None


def test_a_snapshot_that_names_its_request_is_taken_whenever_it_was_written() -> None:
    named = a_line(99_000)._replace(request_id=REQUEST.request_id)
    other = a_line(9_000)._replace(request_id="another")
    assert snapshot_before([a_line(9_000), named, other], REQUEST, []) == 1
    assert snapshot_before([other], REQUEST, []) is None
