"""Validation of the open trace format: each fault is named where it stands, with what to do."""

import json
from typing import Any

import pytest

from tracer.formats.trace_validation import TraceValidator, misfits
from tracer.model.trace_views import ProblemLevel, TraceProblem

Json = dict[str, Any]
RULES: Json = {"id": "m1", "role": "system", "kind": "rules", "content": "Be brief."}


def event(event: str, **keys: Any) -> Json:
    head = {"event": event, "v": 1, "timestamp": "2026-01-05T09:00:00.000Z", "sessionId": "s1"}
    return head | keys


def prompt(*messages: Json, **keys: Any) -> Json:
    return event("context.built", requestId="q1", model={"modelId": "a"}) | {
        "messages": list(messages), **keys
    }  # fmt: skip


def told(*lines: Json | bytes) -> list[TraceProblem]:
    """What a validator says of all lines."""
    validator = TraceValidator()
    return [
        problem
        for number, line in enumerate(lines, 1)
        for problem in validator.line(
            number, line if isinstance(line, bytes) else json.dumps(line).encode()
        )
    ]


WRONG: list[tuple[Json, str, str]] = [
    ({"v": 2}, "v", "is 2"),
    ({"v": True}, "v", "is true"),
    ({"timestamp": "2026-01-05 09:00:00"}, "timestamp", "is `2026-01-05 09:00:00`"),
    ({"timestamp": "2026-01-05T09:00:00Z"}, "timestamp", "is `2026-01-05T09:00:00Z`"),
    ({"sessionId": ""}, "sessionId", "is empty"),
    ({"runId": 7}, "runId", "is the number 7"),
    ({"model": {"providerId": "x"}}, "model.modelId", "is missing"),
    ({"messages": {}}, "messages", "is an object"),
    ({"messages": [3]}, "messages[0]", "is the number 3"),
    ({"messages": [{"role": "human", "content": ""}]}, "messages[0].role", "is `human`"),
    ({"messages": [{"content": ""}]}, "messages[0].role", "is missing"),
    (
        {"messages": [{"role": "user"}]},
        "messages[0]",
        "has none of `content`, `toolCalls`, `state`, `patch`",
    ),
    ({"messages": [{"role": "user", "content": None}]}, "messages[0].content", "is null"),
    (
        {"messages": [{"role": "user", "content": [{"type": "text"}]}]},
        "messages[0].content[0].text",
        "is missing",
    ),
    ({"messages": [{"role": "tool", "content": ""}]}, "messages[0].toolCallId", "is missing"),
    (
        {"messages": [{"role": "assistant", "toolCalls": [{"id": "c", "name": "n"}]}]},
        "messages[0].toolCalls[0].input",
        "is missing",
    ),
    ({"messages": [RULES | {"kind": "summary"}]}, "messages[0].covers", "is missing"),
    (
        {"messages": [{"role": "system", "kind": "world_state", "scope": "all", "mode": "full",
                       "state": {}}]},
        "messages[0].scope",
        "is `all`",
    ),
    (
        {"messages": [{"role": "system", "kind": "world_state", "scope": "run", "mode": "diff",
                       "state": {}}]},
        "messages[0].patch",
        "is missing",
    ),
    ({"messages": [{"ref": ""}]}, "messages[0].ref", "is empty"),
    ({"messages": [RULES | {"cacheControl": {"ttl": "5m"}}]}, "messages[0].cacheControl.type",
     "is missing"),
    ({"segments": [{"n": 0, "messages": []}]}, "segments[0].n", "is 0"),
    ({"segments": [{"messages": []}]}, "segments[0].n", "is missing"),
    ({"segments": [{"n": 15, "messages": []}], "layout": "segments-14"}, "segments[0].n",
     "15 is no segment of `segments-14`"),
    ({"tools": {"stable": [{}]}}, "tools.stable[0].name", "is missing"),
]  # fmt: skip


@pytest.mark.parametrize(("keys", "where", "what"), WRONG)
def test_a_fault_of_a_prompt_is_named_where_it_stands(keys: Json, where: str, what: str) -> None:
    line = {k: v for k, v in (prompt() | keys).items() if k != "messages" or "segments" not in keys}
    found = [p for p in told(line) if p.level is ProblemLevel.ERROR]
    assert [(p.line, p.where, p.what) for p in found] == [(1, where, what)]
    assert found[0].fix.endswith(".")


@pytest.mark.parametrize(
    ("line", "where"),
    [
        (event("session.started"), "agent"),
        (event("run.completed"), "runId"),
        (event("request.completed", requestId="q1", attempt=0, status="completed"), "attempt"),
        (event("request.completed", requestId="q1", attempt=1, status="done"), "status"),
        (event("request.completed", requestId="q1", attempt=1, status="failed", usage={
            "inputTokens": -1}), "usage.inputTokens"),
        (event("context_usage_snapshot", requestId="q1", categories=[{}]), "categories[0].name"),
        (event("capability.changed", name="web", enabled="yes"), "enabled"),
        (event("compaction.completed"), "covers"),
        (event("transaction.step", transactionId="t"), "status"),
        (event("subagent.started"), "childSessionId"),
        (event("", runId="r"), "event"),
    ],
)  # fmt: skip
def test_a_fault_of_any_event_is_an_error(line: Json, where: str) -> None:
    assert where in [p.where for p in told(line) if p.level is ProblemLevel.ERROR]


def test_a_good_trace_has_nothing_to_say() -> None:
    second = prompt({"ref": "m1", "cacheControl": {"type": "ephemeral"}}, requestId="q2")
    assert told(prompt(RULES), b"", second) == []


def test_what_is_unknown_is_a_note_and_told_once() -> None:
    odd = RULES | {"id": "m2", "kind": "weather", "mood": 1}
    lines = [
        prompt(odd, extra=1, tools={"stable": [{"name": "t", "colour": "red"}]}),
        prompt(odd, requestId="q2", extra=1),
        event("garden.watered", litres=3),
        event("garden.watered"),
        prompt(requestId="q3") | {"segments": [{"n": 3, "messages": []}], "layout": "rings"},
    ]
    del lines[4]["messages"]
    found = told(*lines)
    assert {p.level for p in found} == {ProblemLevel.NOTE}
    assert [(p.line, p.where) for p in found] == [
        (1, "extra"), (1, "messages[0].kind"), (1, "messages[0].mood"),
        (1, "tools.stable[0].colour"), (3, "event"), (5, "layout"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "level", "line", "where"),
    [
        ([prompt({"ref": "m9"})], "error", 1, "messages[0].ref"),
        ([prompt(RULES), prompt(RULES)], "error", 2, "requestId"),
        ([prompt(RULES, tools={"stable": [{"name": "a"}], "order": ["b"]})], "error", 1,
         "tools.order[0]"),
        ([prompt(RULES, segments=[])], "error", 1, "messages"),
        ([prompt(RULES, RULES)], "note", 1, "messages[1]"),
        ([event("request.completed", requestId="q", attempt=1, status="failed")], "note", 1,
         "requestId"),
        ([event("run.started", runId="r"), event("run.started", runId="s") | {
            "timestamp": "2026-01-05T08:00:00.000Z"}], "note", 2, "timestamp"),
    ],
)  # fmt: skip
def test_lines_are_seen_together(lines: list[Json], level: str, line: int, where: str) -> None:
    assert (level, line, where) in [(p.level.value, p.line, p.where) for p in told(*lines)]


@pytest.mark.parametrize("line", [b"not json", b"[]", b'{"event":', b"\xff\xfe"])
def test_a_line_that_is_no_object_is_an_error(line: bytes) -> None:
    (problem,) = told(line)
    assert (problem.level, problem.where) == (ProblemLevel.ERROR, "")


def test_a_reference_may_reach_into_an_earlier_session_file_but_not_into_another_session() -> None:
    other = prompt({"ref": "m1"}, sessionId="s2")
    assert [p.where for p in told(prompt(RULES), other)] == ["messages[0].ref"]


def test_misfits_are_those_of_the_line_alone() -> None:
    assert list(misfits(prompt({"ref": "m9"}))) == []


# Numbers, times, links, slips of the pen ---------------------------------------------------------

ANSWERED = {"inputTokens": 100, "outputTokens": 7}


def at(second: float) -> str:
    return f"2026-01-05T09:00:{second:06.3f}Z"


def ended(usage: Json | None = None, attempt: int = 1, second: float = 1, **keys: Any) -> Json:
    made = event("request.completed", requestId="q1", attempt=attempt, status="completed")
    return made | {"timestamp": at(second)} | ({"usage": usage} if usage is not None else {}) | keys


def brief(*lines: Json | bytes) -> list[tuple[str, int, str, str]]:
    return [(p.level.value, p.line, p.where, p.fix) for p in told(*lines)]


def test_counts_under_other_names_are_errors_that_say_what_was_meant() -> None:
    usage = {"input_tokens": 5, "outputTokens": 3, "cache_read_tokens": 4, "mood": 1}
    found = brief(prompt(RULES), ended(usage))
    assert sorted(found) == [
        ("error", 2, "usage.cache_read_tokens", "Did you mean `cacheReadTokens`?"),
        ("error", 2, "usage.inputTokens", "There is `input_tokens`: did you mean `inputTokens`?"),
        ("error", 2, "usage.input_tokens", "Did you mean `inputTokens`?"),
        ("note", 2, "usage.mood", "Nothing to do: it is kept and shown as it is."),
    ]
    assert [(p.where, p.what) for p in told(prompt(RULES), ended({}))] == [
        ("usage.inputTokens", "is missing"), ("usage.outputTokens", "is missing"),
    ]  # fmt: skip


@pytest.mark.parametrize("number", [2**53, 10**30, 1e300])
def test_a_number_that_counts_nothing_is_an_error(number: float) -> None:
    (problem,) = told(prompt(RULES), ended(ANSWERED | {"inputTokens": number}))
    assert (problem.level.value, problem.where) == ("error", "usage.inputTokens")
    assert problem.fix.endswith("9,007,199,254,740,991 at the most.")
    assert told(prompt(RULES), ended(ANSWERED | {"inputTokens": 2**53 - 1})) == []


def test_counts_that_contradict_each_other_are_told() -> None:
    both = ANSWERED | {"cacheReadTokens": 60, "cacheWriteTokens": 50}
    found = told(prompt(RULES), ended(both | {"inclusive": True}))
    assert [(p.level.value, p.where) for p in found] == [("error", "usage.inclusive")]
    assert "the cache counts (110) are more than `inputTokens` (100)" in found[0].what
    assert told(prompt(RULES), ended(both | {"inclusive": False, "totalTokens": 217})) == []
    found = told(prompt(RULES), ended(ANSWERED | {"totalTokens": 9}))
    assert [(p.level.value, p.where) for p in found] == [("note", "usage.totalTokens")]


def test_a_duration_longer_than_the_time_that_passed_is_a_note_told_once() -> None:
    lines = [
        prompt(RULES), ended(durationMs=900), ended(attempt=2, second=2, durationMs=1_900),
        ended(attempt=3, second=9, durationMs=9_000),
    ]  # fmt: skip
    assert [(p.level.value, p.line, p.where) for p in told(*lines)] == [("note", 3, "durationMs")]


def test_an_attempt_whose_forerunner_has_not_ended_is_a_note() -> None:
    found = told(prompt(RULES), ended(), ended(attempt=2), ended(attempt=7))
    assert [(p.line, p.where) for p in found] == [(4, "attempt")]
    assert found[0].what == "is 7, and attempt 6 has not ended before"
    assert told(prompt(RULES, attempt=2), ended(attempt=2)) == []


def test_a_slip_in_a_known_name_is_told_with_what_was_meant() -> None:
    found = brief(
        event("run.strated", runId="r"),
        prompt({"role": "user", "contnet": "x"}, layuot="segments-14"),
        prompt(RULES | {"kind": "user-input"}, requestId="q2"),
    )
    meant = {where: fix for _, _, where, fix in found}
    assert meant["event"].startswith("Did you mean `run.started`?")
    assert meant["messages[0]"] == "There is `contnet`: did you mean `content`?"
    assert meant["layuot"].startswith("Did you mean `layout`?")
    assert meant["messages[0].kind"].startswith("Did you mean `user_input`?")
    (problem,) = told(event("garden.watered"))
    assert problem.fix == "Nothing to do: it is kept and shown as it is."


def test_one_line_that_cannot_be_used_is_named_as_the_reason_for_what_follows() -> None:
    many = [{"ref": f"m{n}"} for n in range(5)]
    again = prompt(*many, requestId="q3")
    found = told(b"{not json", prompt(*many, requestId="q2"), again, ended())
    assert [(p.line, p.where) for p in found] == [
        (1, ""), (2, "messages[0].ref"), (4, "requestId"),
    ]  # fmt: skip
    assert found[1].what == (
        "refers to `m0`, `m1`, `m2` and 2 more, which no `context.built` before has written in "
        "full: line 1 could not be used"
    )
    assert "line 1 could not be used" in found[2].what


def test_the_file_of_the_line_that_could_not_be_used_is_named() -> None:
    validator = TraceValidator()
    validator.begin("a.jsonl")
    assert list(validator.line(7, b"{"))
    validator.begin("b.jsonl")
    (problem,) = validator.line(1, json.dumps(prompt({"ref": "m1"})).encode())
    assert problem.what.endswith(": line 7 of a.jsonl could not be used")


def test_a_file_that_goes_on_from_another_one_asks_for_it() -> None:
    (problem,) = told(prompt({"ref": "m1"}, {"id": "m2", "role": "user", "content": "x"}))
    assert "name that file, too" in problem.fix
    found = told(prompt(RULES), prompt({"ref": "m7"}, requestId="q2"))
    assert [p.fix for p in found] == ["Write the message in full where it is first sent."]


def test_a_time_that_cannot_be_read_makes_no_later_one_early() -> None:
    bad = event("run.started", runId="r") | {"timestamp": "2999-99-99 09:00"}
    number = event("run.started", runId="r") | {"timestamp": 7}
    found = told(event("run.started", runId="r"), bad, number, event("run.completed", runId="r"))
    assert [(p.level.value, p.line) for p in found] == [("error", 2), ("error", 3)]


def test_links_that_lead_nowhere_are_notes() -> None:
    call = {"id": "c1", "name": "read", "input": {}}
    asked = {"id": "a1", "role": "assistant", "toolCalls": [call]}
    result = {"id": "t1", "role": "tool", "toolCallId": "c1", "content": "x"}
    summary = {"id": "s1", "role": "system", "kind": "summary", "content": "x",
               "covers": ["a1", "ghost"]}  # fmt: skip
    found = told(
        prompt(asked, result),
        prompt({"ref": "a1"}, result | {"id": "t2"}, requestId="q2"),
        prompt(result | {"id": "t3", "toolCallId": "nope"}, requestId="q3"),
        prompt(summary, requestId="q4"),
        event("compaction.started", covers=["ghost", "phantom"]),
        prompt({"ref": "a1", "content": "other"}, requestId="q5"),
    )
    assert [(p.level.value, p.line, p.where) for p in found] == [
        ("note", 3, "messages[0].toolCallId"), ("note", 4, "messages[0].covers[1]"),
        ("note", 5, "covers[1]"), ("note", 6, "messages[0].content"),
    ]  # fmt: skip


def test_an_unknown_breakpoint_is_a_note_wherever_it_stands() -> None:
    marked = {"cacheControl": {"type": "forever", "ttl": "2h"}}
    block = {"type": "text", "text": "x", "cacheControl": {"type": "ephemeral", "ttl": "9h"}}
    found = told(
        prompt(RULES | marked, {"role": "user", "content": [block]},
               tools={"stable": [{"name": "t", "cacheControl": {"type": "always"}}]})
    )  # fmt: skip
    assert {(p.level.value, p.where) for p in found} == {
        ("note", "messages[0].cacheControl.type"), ("note", "messages[0].cacheControl.ttl"),
        ("note", "messages[1].content[0].cacheControl.ttl"),
        ("note", "tools.stable[0].cacheControl.type"),
    }  # fmt: skip


@pytest.mark.parametrize(("numbers", "what"), [((5, 3), "3 comes after 5"), ((3, 3), "3 stands")])
def test_segments_out_of_order_lead_to_the_check(numbers: tuple[int, int], what: str) -> None:
    segments = [{"n": n, "messages": []} for n in numbers]
    line = prompt(layout="segments-14", segments=segments)
    del line["messages"]
    (problem,) = told(line, line | {"requestId": "q2"})
    assert (problem.level.value, problem.where) == ("note", "segments[1].n")
    assert problem.what.startswith(what) and "`tracer check`" in problem.fix


@pytest.mark.parametrize(
    ("data", "word"), [(b"null", "null"), (b"[1]", "a list"), (b"true", "true"), (b'"x"', "string")]
)
def test_values_are_named_in_the_words_of_json(data: bytes, word: str) -> None:
    (problem,) = told(data)
    assert word in problem.what and "NoneType" not in problem.what


def test_a_model_that_is_only_a_name_is_told_how_to_write_it() -> None:
    (problem,) = told(prompt(RULES) | {"model": "bee-1"})
    assert problem.fix == 'Write an object: {"modelId": "..."}.'


def test_a_prompt_that_cannot_be_tied_to_a_request_defines_nothing() -> None:
    lost = prompt(RULES)
    del lost["requestId"]
    found = told(lost, prompt({"ref": "m1"}, requestId="q2"))
    assert [(p.line, p.where) for p in found] == [(1, "requestId"), (2, "messages[0].ref")]
    assert found[1].what.endswith(": line 1 could not be used")
