"""What the rules of the 14-segment layout must not take for a break, and the breaks that the
sample generator's agent has no occasion for."""

import pytest

from tests.layout_lines import (
    ANSWER,
    LATER,
    USER,
    Json,
    breaks,
    call,
    diff,
    full,
    line,
    needs,
    prompt,
    result,
    said,
    tools,
)
from tests.layouts import found_in, session_of
from tracer.checks.layout_14 import applies
from tracer.checks.layout_14._ordered import out_of_order


def test_only_sessions_with_this_layout_are_checked() -> None:
    lines = [prompt(1, "r1", {8: [USER]}, layout="four-parts")]
    assert not applies(session_of(lines)) and found_in(lines).rules_run == ()
    assert applies(session_of([*lines, prompt(2, "r1", {8: [USER]})]))


def test_a_prompt_with_a_reference_to_nothing_is_not_judged() -> None:
    lines = [prompt(1, "r1", {8: [USER]}), prompt(2, "r1", {8: [{"ref": "nobody"}]})]
    found = found_in([*lines, prompt(3, "r1", {8: [USER]})])
    assert found.findings == ()
    assert {(u.key, u.requests) for u in found.undecided if "refers to" in u.needs} == {("q2", 1)}


def test_calls_beside_the_conversation_are_left_out() -> None:
    aside = prompt(2, "r1", {8: [said("x")]}, querySource="compact")
    assert breaks(prompt(1, "r1", {8: [USER]}), aside, prompt(3, "r1", {8: [USER]})) == []


def test_a_source_that_nobody_knows_is_a_conversation_where_there_is_no_other() -> None:
    own: Json = {"querySource": "chat"}
    lines = [prompt(1, "r1", {8: [USER, LATER]}, **own), prompt(2, "r1", {8: [LATER]}, **own)]
    assert breaks(*lines) == [("inputs-kept", "q2", 0)]


def test_without_a_run_what_speaks_of_runs_is_undecided() -> None:
    lines = [prompt(1, "", {8: [USER]}), prompt(2, "", {7: [USER], 8: [LATER]})]
    assert breaks(*lines) == []
    assert "run of the request" in needs("run-joins-history", *lines)[0]
    assert needs("order", *lines) == []


# order, tools-sorted, prompt-stable


def test_a_segment_that_does_not_exist_is_out_of_order() -> None:
    assert breaks(prompt(1, "r1", {8: [USER], 15: [LATER]})) == [("order", "q1", 1)]


def test_a_wrong_order_that_stays_is_told_once() -> None:
    wrong: dict[int, list[Json]] = {8: [USER], 1: [said("s", "rules", role="system")]}
    lines = [prompt(second, "r1", wrong) for second in (1, 2, 3)]
    assert breaks(*lines) == [("order", "q1", 1)]


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        (tools("a", "b", dynamic=("a2", "z")), False),
        (tools("B", "a"), False),
        (tools(), False),
        (tools("a", dynamic=("z", "b")), True),
        (tools("a", "c", dynamic=("b",), order=["a", "b", "c"]), True),
        (tools("a", "c", dynamic=("b",), order=["a", "c", "b"]), False),
    ],
)
def test_tools(given: Json, wrong: bool) -> None:
    found = breaks(prompt(1, "r1", {8: [USER]}, tools=given))
    assert [f for f in found if f[0] == "tools-sorted"] == [("tools-sorted", "q1", None)] * wrong


def test_the_users_own_instructions_may_change_and_the_rules_are_told_once() -> None:
    def system(rules: str, own: str) -> dict[int, list[Json]]:
        texts = [said("s1", "rules", rules, "system"), said("s2", "user_instructions", own)]
        return {1: texts, 8: [USER]}

    lines = [
        prompt(1, "r1", system("Be brief.", "Metric.")),
        prompt(2, "r1", system("Be brief.", "Imperial.")),
        prompt(3, "r1", system("Be brief. It is nine.", "Imperial.")),
        prompt(4, "r1", system("Be brief. It is nine.", "Imperial.")),
        prompt(5, "r1", system("Be brief.", "Imperial.")),
    ]
    assert breaks(*lines) == [("prompt-stable", "q3", 0)]


# the World State


def test_a_full_state_may_be_made_anew_by_a_compaction_and_by_nothing_else() -> None:
    first = prompt(1, "r1", {5: [full("w1", cwd="/a")], 8: [USER]})
    second = prompt(3, "r2", {5: [full("w2", cwd="/b")], 7: [USER], 8: [LATER]})
    compacted = line("compaction.completed", 2, covers=["u1"])
    assert breaks(first, second) == [("world-state-once", "q3", 0)]
    gone = prompt(3, "r2", {5: [full("w2", cwd="/b")], 8: [LATER]})
    assert breaks(first, compacted, gone) == []


def test_a_full_state_that_is_gone_is_missed_once() -> None:
    lines = [prompt(1, "r1", {5: [full("w1")], 8: [USER]}), prompt(2, "r1", {8: [USER]})]
    assert breaks(*lines, prompt(3, "r1", {8: [USER]})) == [("world-state-once", "q2", None)]


def test_two_full_states_in_one_segment() -> None:
    given = {8: [USER], 10: [full("w1", "run", a=1), full("w2", "run", a=2)]}
    assert breaks(prompt(1, "r1", given)) == [("world-state-once", "q1", 2)]


@pytest.mark.parametrize(
    ("then", "place"),
    [
        ({8: [USER], 11: [ANSWER]}, 2),
        ({8: [USER], 11: [diff("d1", mode="other"), ANSWER]}, 1),
        ({5: [diff("d1", mode="plan")], 8: [USER], 11: [ANSWER]}, 0),
        ({8: [USER], 11: [diff("d2", mode="x"), diff("d1", mode="plan"), ANSWER]}, 1),
        ({8: [USER], 11: [ANSWER, diff("d1", mode="plan"), said("g1", "guidance")]}, 2),
    ],
    ids=["dropped", "rewritten", "in the prefix", "a new one before it", "moved"],
)
def test_a_diff_stays_what_and_where_it_was(then: dict[int, list[Json]], place: int) -> None:
    first = prompt(1, "r1", {8: [USER], 11: [diff("d1", mode="plan"), ANSWER]})
    index = 1 if then == {8: [USER], 11: [ANSWER]} else place
    assert breaks(first, prompt(2, "r1", then)) == [("diff-at-its-time", "q2", index)]


def test_an_input_behind_a_diff_in_segment_8_moves_nothing() -> None:
    state = full("w1", "run", a=1)
    first = prompt(1, "r1", {8: [USER], 10: [state]})
    later = prompt(2, "r1", {8: [USER, diff("d1", mode="x"), LATER], 10: [state]})
    joined = prompt(3, "r2", {7: [USER, diff("d1", mode="x"), LATER, state], 8: [said("u3")]})
    assert breaks(first, later, joined) == []


# exchanges and history


@pytest.mark.parametrize(
    ("timeline", "index"),
    [
        ([call("a1", "c1", "c2"), result("t1", "c1"), result("t2", "c2")], None),
        ([call("a1", "c1"), said("g1", "guidance"), result("t1", "c1")], None),
        ([call("a1", "c1")], 1),
        ([call("a1", "c1"), call("a2", "c2"), result("t1", "c1"), result("t2", "c2")], 1),
        ([call("a1", "c1"), result("t1", "c1"), result("t2", "c1")], 3),
        ([result("t1", "c1")], 1),
    ],
)
def test_exchanges(timeline: list[Json], index: int | None) -> None:
    found = breaks(prompt(1, "r1", {8: [USER], 11: timeline}))
    assert found == ([] if index is None else [("tool-exchange-whole", "q1", index)])


def test_a_half_exchange_that_stays_is_told_once() -> None:
    half = {8: [USER], 11: [call("a1", "c1")]}
    joined = {7: [USER, call("a1", "c1")], 8: [LATER]}
    lines = [prompt(1, "r1", half), prompt(2, "r1", half), prompt(3, "r2", joined)]
    assert breaks(*lines) == [("tool-exchange-whole", "q1", 1)]


def test_what_happens_between_runs_stands_behind_the_history() -> None:
    first = prompt(1, "r1", {8: [USER]})
    between = [USER, ANSWER, said("i1", "ignored_interaction"), diff("d1", mode="x")]
    assert breaks(first, prompt(2, "r2", {7: between, 8: [LATER]})) == []
    inserted = [said("x1", "unheard_of"), *between]
    second = prompt(2, "r2", {7: inserted, 8: [LATER]})
    assert breaks(first, second) == [("run-joins-history", "q2", 0)]


def test_a_run_that_stays_where_it_was_has_not_joined_the_history() -> None:
    first = prompt(1, "r1", {8: [USER], 11: [ANSWER]})
    second = prompt(2, "r2", {7: [USER], 8: [LATER], 11: [ANSWER]})
    assert breaks(first, second) == [("run-joins-history", "q2", 2)]


def test_history_that_is_reordered_or_half_gone() -> None:
    first = prompt(1, "r1", {8: [USER], 11: [ANSWER, said("g1", "guidance"), said("g2", "answer")]})
    gone = prompt(2, "r2", {7: [USER, said("g2", "answer")], 8: [LATER]})
    assert breaks(first, gone) == [("run-joins-history", "q2", 1)]
    turned = [USER, said("g1", "guidance"), ANSWER, said("g2", "answer")]
    ((rule, request, index),) = breaks(first, prompt(2, "r2", {7: turned, 8: [LATER]}))
    assert (rule, request) == ("run-joins-history", "q2") and index in (1, 2)


def test_a_loss_is_told_once_and_coming_back_is_none() -> None:
    whole, half = {8: [USER, LATER]}, {8: [LATER]}
    lines = [prompt(s, "r1", given) for s, given in enumerate((whole, half, half, whole, half), 1)]
    assert breaks(*lines, prompt(6, "r2", {7: [LATER], 8: [said("u3")]})) == [
        ("inputs-kept", "q2", 0)
    ]


def test_an_input_that_is_reworded_or_moved_is_not_kept() -> None:
    first = prompt(1, "r1", {8: [USER, LATER]})
    other = prompt(2, "r1", {8: [said("u1", text="in short"), LATER]})
    assert breaks(first, other) == [("inputs-kept", "q2", 0)]
    assert breaks(first, prompt(2, "r1", {7: [USER], 8: [LATER]})) == [("inputs-kept", "q2", 0)]


def test_a_new_run_may_have_other_initial_parts_and_a_skill_of_the_last_one() -> None:
    skill = said("k1", "skill_body", skill="survey")
    first = prompt(1, "r1", {2: [said("c1", "skill_catalog")], 8: [USER], 11: [skill]})
    given = {2: [said("c2", "skill_catalog")], 7: [USER, skill], 8: [LATER], 9: [skill]}
    assert breaks(first, prompt(2, "r2", given)) == []


def test_a_skill_that_joins_the_initial_ones_on_the_way() -> None:
    first = prompt(1, "r1", {8: [USER], 11: [ANSWER]})
    second = prompt(2, "r1", {8: [USER], 9: [said("k1", "skill_body", skill="x")], 11: [ANSWER]})
    assert breaks(first, second) == [("initial-stays-initial", "q2", 1)]


def test_a_text_that_is_read_again_under_another_id_is_not_a_loss() -> None:
    skill = said("k1", "skill_body", skill="survey")
    again = said("k2", "skill_body", "as it is now", skill="survey")
    first = prompt(1, "r1", {8: [USER], 11: [skill, ANSWER]})
    second = prompt(2, "r2", {7: [USER, again, ANSWER], 8: [LATER]})
    assert breaks(first, second) == [("history-not-reread", "q2", 1)]


def test_a_file_inside_a_message_that_is_read_again() -> None:
    def asked(text: str) -> Json:
        parts = [{"type": "text", "text": "See this."}, {"type": "file", "text": text}]
        return said("u1") | {"content": parts}

    first = prompt(1, "r1", {8: [asked("old")]})
    second = prompt(2, "r2", {7: [asked("new")], 8: [LATER]})
    assert breaks(first, second) == [("history-not-reread", "q2", 0)]


def test_messages_without_ids_are_told_apart_by_their_bytes() -> None:
    bare = {"role": "user", "kind": "user_input", "content": "Go on."}
    first = prompt(1, "r1", {8: [bare, bare]})
    assert breaks(first, prompt(2, "r2", {7: [bare, bare], 8: [bare]})) == []
    assert breaks(first, prompt(2, "r2", {7: [bare], 8: [LATER]})) == [
        ("run-joins-history", "q2", 1)
    ]


@pytest.mark.parametrize(
    ("values", "places"),
    [([], []), ([1, 2, 3], []), ([2, 1], [0]), ([1, 9, 2, 3], [1]), ([3, 4, 1, 5], [2])],
)
def test_the_fewest_that_are_out_of_order(values: list[int], places: list[int]) -> None:
    assert out_of_order(values) == places
