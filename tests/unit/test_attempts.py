"""Grouping attempts of one logical call; turns and steps (formats/zcode.md 3.9 and 11)."""

from tracer.assemble.attempts import AttemptFacts, Grouped, group_attempts


def at(
    key: str, attempt: int = 1, turn: str = "t1", source: str = "main_turn", side: bool = False
) -> AttemptFacts:
    return AttemptFacts(key, attempt, turn, source, side)


def calls(*requests: AttemptFacts) -> dict[str, str]:
    """The logical call of each request, by key."""
    return {key: grouped.call_key for key, grouped in group_attempts(requests).items()}


def test_no_requests_have_no_groups() -> None:
    assert group_attempts([]) == {}


def test_a_retry_belongs_to_the_attempt_before_it() -> None:
    grouped = group_attempts([at("a"), at("b", 2), at("c", 3)])
    assert grouped == dict.fromkeys("abc", Grouped("a", 3, 1, 1))


def test_a_first_attempt_begins_a_call() -> None:
    assert calls(at("a"), at("b", 2), at("c"), at("d", 2)) == {
        "a": "a", "b": "a", "c": "c", "d": "c",
    }  # fmt: skip


def test_an_attempt_that_the_log_lost_leaves_a_hole_and_not_a_new_call() -> None:
    assert calls(at("a"), at("c", 3)) == {"a": "a", "c": "a"}


def test_a_retry_whose_first_attempt_was_lost_begins_a_call() -> None:
    assert calls(at("b", 2), at("c", 3)) == {"b": "b", "c": "b"}


def test_an_attempt_number_that_does_not_grow_is_another_call() -> None:
    assert calls(at("a"), at("b", 2), at("c", 2)) == {"a": "a", "b": "a", "c": "c"}


def test_a_title_call_between_two_attempts_does_not_part_them() -> None:
    title = at("t", 1, source="session_title", side=True)
    assert calls(at("a"), title, at("b", 2)) == {"a": "a", "t": "t", "b": "a"}


def test_two_turns_do_not_share_a_call() -> None:
    assert calls(at("a"), at("b", 2, turn="t2")) == {"a": "a", "b": "b"}


def test_steps_count_calls_and_not_attempts() -> None:
    grouped = group_attempts([at("a"), at("b", 2), at("c"), at("d", turn="t2")])
    places = {key: (g.turn_number, g.step) for key, g in grouped.items()}
    assert places == {"a": (1, 1), "b": (1, 1), "c": (1, 2), "d": (2, 1)}


def test_a_side_call_is_in_the_turn_but_is_no_step_of_it() -> None:
    title = at("t", source="session_title", side=True)
    grouped = group_attempts([at("a"), title, at("b")])
    assert grouped["t"] == Grouped("t", 1, 1, None)
    assert grouped["b"].step == 2


def test_without_a_turn_id_there_is_no_turn_and_no_step() -> None:
    grouped = group_attempts([at("a", turn=""), at("b", turn="t1")])
    assert grouped["a"] == Grouped("a", 1, None, None)
    assert grouped["b"] == Grouped("b", 1, 1, 1)


def test_a_turn_that_comes_back_keeps_its_number_and_goes_on_counting() -> None:
    grouped = group_attempts([at("a"), at("b", turn="t2"), at("c")])
    assert (grouped["c"].turn_number, grouped["c"].step) == (1, 2)
