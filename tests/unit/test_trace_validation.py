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
