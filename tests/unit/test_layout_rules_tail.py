"""Capabilities, the tail, compaction and the budget: what the rules of the 14-segment layout must
not take for a break, and breaks that the sample generator's agent has no occasion for."""

import json

import pytest

from tests.layout_lines import (
    ANSWER,
    LATER,
    USER,
    Json,
    breaks,
    call,
    diff,
    ended,
    full,
    guide,
    line,
    needs,
    prompt,
    result,
    said,
    tools,
)

ON = full("w1", capabilities={"web": True})
WEB = tools("read_file", dynamic=("web",))
BOTH = full("w1", capabilities={"human": True, "web": True})
BOTH_TOOLS = tools("read_file", dynamic=("human", "web"))
BARE = tools("read_file")
OFF = diff("d1", capabilities={"web": False})


def switched(second: float, enabled: bool = False) -> Json:
    return line("capability.changed", second, name="web", enabled=enabled, reason="asked for")


# capabilities


@pytest.mark.parametrize(
    ("segments", "given", "place"),
    [
        ({4: [guide("web")], 5: [ON], 8: [USER]}, WEB, False),
        ({5: [full("w1", capabilities={"web": False})], 8: [USER]}, BARE, False),
        ({5: [full("w1", capabilities={"web": {"enabled": False}})], 8: [USER]}, BARE, False),
        ({4: [guide("web")], 5: [full("w1", capabilities=["web"])], 8: [USER]}, WEB, False),
        ({4: [guide("web")], 5: [full("w1", capabilities={"web": "v2"})], 8: [USER]}, WEB, False),
        ({5: [ON], 8: [USER]}, WEB, False),
        ({5: [full("w1", capabilities={"web": False})], 8: [USER]}, WEB, 0),
        ({4: [guide("web")], 5: [ON], 8: [USER]}, BARE, False),
        ({4: [guide("human")], 5: [BOTH], 8: [USER]}, BOTH_TOOLS, 1),
        ({4: [guide("human"), guide("web")], 5: [BOTH], 8: [USER]}, WEB, None),
        ({4: [guide("web")], 5: [full("w1", capabilities={})], 8: [USER]}, WEB, None),
        ({4: [guide("web")], 5: [ON], 8: [OFF, USER]}, WEB, 2),
    ],
)
def test_tools_guide_and_state_agree(
    segments: dict[int, list[Json]], given: Json, place: int | None | bool
) -> None:
    found = breaks(prompt(1, "r1", segments, tools=given))
    assert found == ([] if place is False else [("capability-consistent", "q1", place)])


def test_an_agent_without_guides_or_marked_tools_is_judged_by_the_rest() -> None:
    bare = prompt(1, "r1", {5: [ON], 8: [USER]}, tools=WEB)
    assert [text.partition(":")[0] for text in needs("capability-consistent", bare)] == [
        "guides that name their capability"
    ]
    unmarked = prompt(1, "r1", {4: [guide("web")], 5: [ON], 8: [USER]}, tools=BARE)
    assert needs("capability-consistent", unmarked)[0].startswith("tools that name")


def test_without_switches_in_the_state_agreement_is_undecided() -> None:
    lines = [prompt(1, "r1", {4: [guide("web")], 8: [USER]}, tools=WEB)]
    assert breaks(*lines) == []
    assert "state.capabilities" in needs("capability-consistent", *lines)[0]


def test_a_diff_that_a_summary_covers_is_still_known() -> None:
    summary = said("s1", "summary", "It was switched off.", covers=["u1", "a1", "d1"])
    lines = [
        prompt(1, "r1", {4: [guide("web")], 5: [ON], 8: [USER]}, tools=WEB),
        switched(1.5),
        prompt(2, "r1", {5: [ON], 8: [USER], 11: [ANSWER, OFF]}, tools=BARE),
        line("compaction.completed", 2.5, covers=["u1", "a1", "d1"], summaryId="s1"),
        prompt(3, "r2", {5: [ON], 6: [summary], 8: [LATER]}, tools=BARE),
    ]
    assert [f for f in breaks(*lines) if f[0].startswith("capability")] == []


def test_off_and_on_again_between_two_requests_withdraws_nothing() -> None:
    given: dict[int, list[Json]] = {4: [guide("web")], 5: [ON], 8: [USER]}
    again = [OFF, diff("d2", capabilities={"web": True})]
    lines = [prompt(1, "r1", given, tools=WEB), switched(1.2), switched(1.4, enabled=True)]
    assert breaks(*lines, prompt(2, "r1", given | {11: [ANSWER, *again]}, tools=WEB)) == []


def test_a_capability_that_is_gone_without_a_word_is_undecided() -> None:
    given: dict[int, list[Json]] = {4: [guide("web")], 8: [USER]}
    lines = [prompt(1, "r1", given, tools=WEB), prompt(2, "r1", {8: [USER]}, tools=BARE)]
    assert "capability.changed" in needs("capability-withdrawn", *lines)[0]


def test_a_switch_off_before_the_first_request_needs_no_diff() -> None:
    off = full("w1", capabilities={"web": False})
    assert breaks(switched(0.5), prompt(1, "r1", {5: [off], 8: [USER]}, tools=BARE)) == []


def test_what_was_off_is_not_withdrawn() -> None:
    off = full("w1", capabilities={"web": False})
    lines = [prompt(second, "r1", {5: [off], 8: [USER]}, tools=BARE) for second in (1, 2)]
    assert breaks(lines[0], switched(1.5), lines[1]) == []


def test_a_switch_off_in_a_diff_alone_needs_a_reason() -> None:
    silent = {k: v for k, v in OFF.items() if k != "reason"}
    lines = [
        prompt(1, "r1", {4: [guide("web")], 5: [ON], 8: [USER]}, tools=WEB),
        prompt(2, "r1", {5: [ON], 8: [USER], 11: [silent]}, tools=BARE),
    ]
    assert breaks(*lines) == [("capability-withdrawn", "q2", 2)]


# the tail


@pytest.mark.parametrize(("text", "long"), [("x" * 1500, False), ("x" * 1501, True),
                                            ("茶" * 750, False), ("茶" * 751, True)])  # fmt: skip
def test_the_todo_reminder_is_counted_as_agents_count(text: str, long: bool) -> None:
    found = breaks(prompt(1, "r1", {8: [USER], 12: [said("t1", "todo_reminder", text)]}))
    assert found == [("todo-budget", "q1", 1)] * long


def test_a_message_of_the_tail_of_an_unknown_kind_is_not_kept_either() -> None:
    mood = said("m1", "mood_reminder")
    lines = [prompt(1, "r1", {8: [USER], 13: [mood]})]
    lines += [prompt(s, "r1", {8: [USER], 11: [mood]}) for s in (2, 3)]
    assert breaks(*lines) == [("tail-not-accumulated", "q2", 1)]


REPAIR = said("x1", "repair_reminder", "Send it again.")


def test_a_repair_that_a_failed_request_carried_may_come_again() -> None:
    lines = [prompt(1, "r1", {8: [USER], 13: [REPAIR]}), ended(1.5, "q1", "failed")]
    again = prompt(2, "r1", {8: [USER], 13: [REPAIR]})
    assert breaks(*lines, again, ended(2.5, "q2")) == []
    third = prompt(3, "r1", {8: [USER], 13: [REPAIR]})
    assert breaks(*lines, again, ended(2.5, "q2"), third) == [("repair-once", "q3", 1)]


def test_another_attempt_of_a_request_is_the_same_request() -> None:
    lines = [prompt(1, "r1", {8: [USER], 13: [REPAIR]}), ended(1.2, "q1", "failed")]
    assert breaks(*lines, ended(1.4, "q1", attempt=2)) == []


@pytest.mark.parametrize("failed", [True, False])
def test_the_same_words_under_another_id_are_the_same_repair_unless_something_failed(
    failed: bool,
) -> None:
    other = said("x2", "repair_reminder", "Send it again.")
    first = [call("a1", "c1"), result("t1", "c1", isError=True)]
    second = [*first, call("a2", "c2"), result("t2", "c2", isError=failed)]
    lines = [prompt(1, "r1", {8: [USER], 11: first, 13: [REPAIR]}), ended(1.5, "q1")]
    found = breaks(*lines, prompt(2, "r1", {8: [USER], 11: second, 13: [other]}))
    assert found == ([] if failed else [("repair-once", "q2", 5)])


STATE: Json = {
    "transactionId": "t1",
    "filePath": "a.md",
    "operation": "create",
    "strategy": "append",
    "status": "open",
    "expectedDraftRevision": 0,
    "nextIndex": 0,
    "allowedNextActions": ["append"],
}


def snapshot(**changes: object) -> Json:
    message = said("n1", "transaction_snapshot", role="system", state=STATE | changes)
    del message["content"]
    return message


def opened(second: float = 0.5) -> Json:
    return line("transaction.opened", second, **STATE)


def test_a_snapshot_may_be_the_text_of_its_fields() -> None:
    text = said("n1", "transaction_snapshot", json.dumps(STATE))
    assert breaks(opened(), prompt(1, "r1", {8: [USER], 14: [text]})) == []
    words = said("n1", "transaction_snapshot", "a.md is half written")
    lines = [opened(), prompt(1, "r1", {8: [USER], 14: [words]})]
    assert breaks(*lines) == [] and "fields" in needs("transaction-minimal", *lines)[0]


def test_what_a_later_event_leaves_out_still_holds() -> None:
    step = line("transaction.step", 1.5, transactionId="t1", status="writing", nextIndex=1)
    lines = [opened(), prompt(1, "r1", {8: [USER], 14: [snapshot()]}), step]
    fresh = snapshot(status="writing", nextIndex=1)
    assert breaks(*lines, prompt(2, "r1", {8: [USER], 14: [fresh]})) == []
    stale = snapshot(status="writing", nextIndex=1, filePath="b.md")
    wrong = prompt(2, "r1", {8: [USER], 14: [stale]})
    assert breaks(*lines, wrong) == [("transaction-minimal", "q2", 1)]


def test_a_transaction_goes_on_across_runs_and_two_need_two_snapshots() -> None:
    other = line("transaction.opened", 0.6, **STATE | {"transactionId": "t2"})
    both = [snapshot(), snapshot(transactionId="t2") | {"id": "n2"}]
    lines = [opened(), other, prompt(1, "r1", {8: [USER], 14: both})]
    assert breaks(*lines) == []
    second = prompt(2, "r2", {7: [USER], 8: [LATER], 14: [snapshot()]})
    assert breaks(*lines, second) == [("transaction-minimal", "q2", None)]


def test_a_snapshot_without_events_is_checked_for_its_fields_only() -> None:
    lines = [prompt(1, "r1", {8: [USER], 14: [snapshot()]})]
    assert breaks(*lines) == [] and "transaction.*" in needs("transaction-minimal", *lines)[0]
    more = prompt(1, "r1", {8: [USER], 14: [snapshot(draft="...")]})
    assert breaks(more) == [("transaction-minimal", "q1", 1)]


# compaction


def summary(id: str, text: str, *covers: str) -> Json:
    return said(id, "summary", text, covers=list(covers))


def test_a_trace_that_begins_with_a_summary_leaves_its_boundary_open() -> None:
    lines = [prompt(1, "r1", {6: [summary("s1", "short", "u1")], 8: [LATER]})]
    assert breaks(*lines) == []
    assert "begins with it" in needs("compaction-boundary", *lines)[0]
    assert "every message" in needs("summary-shorter", *lines)[0]


def test_a_half_whose_other_half_is_gone_is_one_finding() -> None:
    timeline = [call("a1", "c1"), result("t1", "c1")]
    first = prompt(1, "r1", {8: [USER], 11: timeline})
    done = line("compaction.completed", 1.5, covers=["u1", "a1"], summaryId="s1")
    second = prompt(2, "r2", {6: [summary("s1", "short", "u1", "a1")], 8: [LATER]})
    assert breaks(first, done, second) == [("compaction-boundary", "q2", 0)]


def test_what_ended_a_run_may_be_covered_before_the_next_one() -> None:
    first = prompt(1, "r1", {8: [USER, LATER]})
    done = line("compaction.completed", 1.5, covers=["u1", "u2", "a1"], summaryId="s1")
    covering = summary("s1", "x", "u1", "u2", "a1")
    second = prompt(2, "r2", {6: [covering], 8: [said("u3")]})
    assert breaks(first, done, second) == []
    same_run = prompt(2, "r1", {6: [covering], 8: [said("u3")]})
    assert breaks(first, done, same_run) == [("compaction-boundary", "q2", 0)]


def test_the_agents_own_figures_count_too() -> None:
    first = prompt(1, "r1", {8: [USER, LATER], 11: [ANSWER]})
    done = line("compaction.completed", 1.5, covers=["u1"], beforeTokens=90, afterTokens=95)
    second = prompt(2, "r2", {6: [summary("s1", "x", "u1")], 7: [LATER, ANSWER], 8: [said("u3")]})
    assert breaks(first, done, second) == [("summary-shorter", "q2", 0)]


def test_after_a_failed_compaction_there_is_no_new_summary() -> None:
    first = prompt(1, "r1", {8: [USER], 11: [ANSWER]})
    failed = line("compaction.failed", 1.5, reason="cut off")
    second = prompt(2, "r1", {6: [summary("s1", "x", "a1")], 8: [USER]})
    assert breaks(first, failed, second) == [("summary-shorter", "q2", 0)]
    done = line("compaction.completed", 1.7, covers=["a1"], summaryId="s1")
    assert breaks(first, failed, done, second) == []


# the budget


def usage(second: float, request: str, total: int, window: int = 100) -> Json:
    keys = {"requestId": request, "totalTokens": total, "contextWindow": window}
    return line("context_usage_snapshot", second, **keys, outputReserve=20, categories=[])


@pytest.mark.parametrize(("total", "broken"), [(80, False), (81, True)])
def test_the_reserve_fits_to_the_token(total: int, broken: bool) -> None:
    found = breaks(prompt(1, "r1", {8: [USER]}), usage(1.1, "q1", total))
    assert found == [("usage-reserve", "q1", None)] * broken


def test_without_a_snapshot_the_budget_is_undecided() -> None:
    assert "context_usage_snapshot" in needs("usage-reserve", prompt(1, "r1", {8: [USER]}))[0]
