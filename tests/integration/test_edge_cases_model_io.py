"""Edge cases 21 to 32 of formats/zcode.md section 14: model I/O records."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import (
    SAMPLES,
    SESSION,
    append,
    assistant,
    bare,
    call,
    detail,
    event,
    evidence_codes,
    ingest,
    ingest_one,
    messages_of,
    request,
    request_ids,
    rows,
    talk,
    user,
    write,
)
from tracer.model.events import Status
from tracer.model.prompt import Kind
from tracer.service import Service

# ---- attempts and answers ---------------------------------------------------------------------


def test_case_21_a_response_that_is_missing_hollow_or_without_usage(
    db: Path, rollout: Path
) -> None:
    error = {"name": "ModelProtocolError", "message": "rate limited"}
    hollow: dict[str, Any] = {"headers": {}, "toolCalls": [], "usage": {}}
    write(
        rollout,
        call("missing", response=..., error=error),
        call("hollow", at=1000, response=hollow, error=error),
        call("aborted", at=2000, response=hollow, error={"name": "AbortError", "message": "x"}),
        call("neither", at=3000, response=...),
        call("no usage", at=4000, response={"text": "x", "usage": {}}),
        call("odd", at=5000, response=[1], error="it broke"),
    )
    assert ingest_one(db, rollout).records == 6
    found = {r.request_id: r for r in Service(db).requests(SESSION)}
    assert {name: r.status for name, r in found.items()} == {
        "missing": Status.FAILED,
        "hollow": Status.FAILED,
        "aborted": Status.CANCELLED,
        "neither": Status.UNKNOWN,
        "no usage": Status.COMPLETED,
        "odd": Status.FAILED,
    }
    assert all(r.usage is None for r in found.values())
    assert all("no-usage" in evidence_codes(db, name) for name in found)
    assert found["missing"].error == "ModelProtocolError: rate limited"
    assert found["odd"].error == "it broke"
    usage = Service(db).session(SESSION).usage
    assert (usage.reported_requests, usage.hit_rate) == (0, None)


def test_case_22_error_and_response_at_once(db: Path, rollout: Path) -> None:
    half = {
        "text": "half an ans",
        "toolCalls": [{"id": "c1", "name": "Read", "input": {}}],
        "usage": {"inputTokens": 10, "outputTokens": 2, "totalTokens": 12},
    }
    error = {"name": "StreamError", "message": "cut off", "stack": "at x"}
    write(rollout, call("req-1", response=half, error=error))
    ingest(db, rollout)
    found = detail(db, "req-1")
    assert (found.request.status, found.request.error) == (Status.FAILED, "StreamError: cut off")
    assert [(b.kind, b.text) for b in found.response] == [
        (Kind.TEXT, "half an ans"),
        (Kind.TOOL_CALL, "{}"),
    ]
    assert found.request.usage is not None
    assert found.request.usage.input_tokens == 10


def test_case_23_one_request_id_for_all_attempts_or_one_for_each(db: Path, rollout: Path) -> None:
    error = {"name": "E", "message": "busy"}
    write(
        rollout,
        call("same", at=0, error=error),
        call("same", at=1000, attempt=2),
        call("new-1", at=5000, turn="turn_0002", error=error),
        call("new-2", at=6000, turn="turn_0002", attempt=2),
        call("old", [user("first")], at=9000, turn="turn_0003", attempt=None, error=error),
        call("old", [user("again")], at=9500, turn="turn_0003", attempt=None),
    )
    assert ingest_one(db, rollout).new_records == 6
    found = Service(db).requests(SESSION)
    assert [(r.request_id, r.attempt) for r in found] == [
        ("same", 1),
        ("same", 2),
        ("new-1", 1),
        ("new-2", 2),
        ("old", 1),
        ("old", 1),
    ]
    assert [r.attempts for r in found[:4]] == [2, 2, 2, 2]
    assert found[0].call_key == found[1].call_key != found[2].call_key == found[3].call_key
    assert len({r.key for r in found}) == 6
    old = [messages_of(db, r.key) for r in found[4:]]
    assert old == [[user("first")], [user("again")]]
    # Copied or touched, they are still the same six.
    shutil.copy(rollout, rollout.with_name("model-io-copy.jsonl"))
    assert ingest(db, rollout.parent).new_records == 0
    assert len(Service(db).requests(SESSION)) == 6


def test_case_24_a_body_that_is_a_text_missing_or_a_fallback(db: Path, rollout: Path) -> None:
    tools = [{"name": "Read", "description": "reads"}]
    wire = {"model": "m", "max_tokens": 5, "system": "rules", "tools": tools, "messages": talk(3)}
    fallback = {"bodySource": "ai_sdk_options", "model": "m", "messages": [user("sdk")]}
    write(
        rollout,
        call("text", body=json.dumps(wire)),
        call("missing", at=1000, request={"toolNames": ["Read", "Bash"]}),
        call("fallback", at=2000, body=fallback, error={"name": "E", "message": "m"}),
        call("broken", at=3000, body="{not json"),
        call("null", at=4000, body={"tools": None, "system": None, "messages": None}),
        call("list", at=5000, request={"body": [1, 2]}),
    )
    assert ingest_one(db, rollout).records == 6
    shown = {
        name: detail(db, name) for name in ("text", "missing", "fallback", "broken", "null", "list")
    }
    assert shown["text"].request.tools == ("Read",)
    params = json.loads(shown["text"].params_json)
    assert params == {"body": {"model": "m", "max_tokens": 5}}  # no second copy of the prompt
    assert shown["missing"].request.tools == ("Read", "Bash")
    assert "no-tools" in [e.code for e in shown["missing"].evidence]
    assert json.loads(shown["fallback"].params_json)["body"]["bodySource"] == "ai_sdk_options"
    assert json.loads(shown["broken"].params_json) == {"body_text": "{not json"}
    for found in shown.values():
        assert messages_of(db, found.request.key) == [user("hello")]
        assert found.request.observed == "full"
    assert shown["null"].request.tools == ()


def test_case_25_models_as_text_or_with_more_keys(db: Path, rollout: Path) -> None:
    more = {
        "modelId": "glm-5",
        "providerId": "builtin:zai-coding-plan",
        "role": "main",
        "variant": "x",
    }
    models: list[Any] = [more, "glm-4.6", "builtin:zai/glm-4.6", None, ["odd"], {"modelId": 7}]
    write(rollout, *(call(f"req-{n}", at=n * 1000, model=m) for n, m in enumerate(models)))
    assert ingest_one(db, rollout).records == 6
    found = [(r.provider_id, r.model_id, r.lane) for r in Service(db).requests(SESSION)]
    assert found == [
        ("builtin:zai-coding-plan", "glm-5", "main_turn@builtin:zai-coding-plan/glm-5"),
        ("", "glm-4.6", "main_turn@unknown/glm-4.6"),
        ("builtin:zai", "glm-4.6", "main_turn@builtin:zai/glm-4.6"),
        *[("", "", "main_turn@unknown/unknown")] * 3,
    ]
    (kept,) = rows(db, "SELECT model_json FROM requests WHERE request_id = 'req-0'")
    assert json.loads(kept[0]) == {"role": "main", "variant": "x"}


# ---- content ----------------------------------------------------------------------------------

TEXT = {"type": "text", "text": "a text"}
PLACEHOLDER = {
    "type": "image",
    "mediaType": "image/png",
    "dataUrl": "[dataUrl omitted from model-io: image/png, 5000 chars]",
}
PDF = {
    "type": "file",
    "mediaType": "application/pdf",
    "name": "a.pdf",
    "dataUrl": "data:application/pdf;base64,JVBERi0=",
}
ODD_CONTENTS: list[Any] = [
    "plain",
    "",
    [TEXT],
    [TEXT, {"type": "reasoning", "text": "hm", "providerOptions": {"signature": "s"}}],
    [
        PLACEHOLDER,
        PDF,
        {"type": "resource_link", "uri": "file:///a"},
        {"type": "video", "dataUrl": "x"},
    ],
    [{"type": "hologram", "depth": 3}, "bare text", 7, None, [TEXT]],
    [{**TEXT, "cacheControl": {"type": "ephemeral"}, "citations": []}],
    [],
    None,
    {"type": "text", "text": "an object"},
    42,
]


@pytest.mark.parametrize("role", ["system", "user", "assistant", "tool", "developer"])
def test_case_26_text_or_blocks_of_any_kind_for_every_role(
    db: Path, rollout: Path, role: str
) -> None:
    messages = [{"role": role, "content": content} for content in ODD_CONTENTS]
    messages += [{"role": role}, {"role": role, "content": "x", "toolCalls": [], "extra": {"b": 1}}]
    messages.append(
        {"role": role, "content": "", "toolCalls": [{"id": "1", "name": "T", "input": {}}]}
    )
    start = {"role": "narrator", "content": "start"}
    write(rollout, call("req-1", [start, *messages]))
    ingest(db, rollout)
    assert messages_of(db, "req-1") == [start, *map(bare, messages)]
    kinds = {b.kind for b in detail(db, "req-1").blocks}
    assert {
        Kind.IMAGE,
        Kind.FILE,
        Kind.VIDEO,
        Kind.RESOURCE_LINK,
        Kind.REASONING,
        Kind.UNKNOWN,
    } <= kinds
    assert request(db, "req-1").roles == {"narrator": 1, role: len(messages)}


def test_case_26_things_that_are_no_messages_keep_their_place(db: Path, rollout: Path) -> None:
    odd: list[Any] = [
        user("one"),
        "text",
        None,
        7,
        [],
        {},
        {"role": 5, "content": "x"},
        user("two"),
    ]
    write(rollout, call("req-1", odd))
    ingest(db, rollout)
    found = messages_of(db, "req-1")
    assert len(found) == request(db, "req-1").message_count == 8
    assert (found[0], found[7]) == (user("one"), user("two"))
    assert found[6] == {"role": 5, "content": "x"}
    assert [b.kind for b in detail(db, "req-1").blocks[1:4]] == [Kind.UNKNOWN] * 3


def test_case_27_odd_tool_calls_and_results(db: Path, rollout: Path) -> None:
    calls: list[Any] = [
        {"id": "c1", "name": "Read", "input": "not an object"},
        {"id": "c2", "name": "Read", "input": None},
        {"id": "c3", "name": "Read", "input": [1, {"a": 2}]},
        {"id": "c4", "name": "Read"},
        {"id": "", "name": "", "input": {}, "providerExecuted": True},
        {"id": 5, "name": None, "input": 1.5},
        "no call at all",
        {},
    ]
    messages = [
        user("go"),
        assistant("", toolCalls=calls),
        {"role": "tool", "content": "r", "toolCallId": "c1", "toolName": "", "isError": True},
        {"role": "tool", "content": "of no call", "toolCallId": "c99", "toolName": "Read"},
        {"role": "tool", "content": [TEXT, PLACEHOLDER], "toolCallId": "c3"},
        {"role": "tool", "content": "nameless"},
        assistant("", toolCalls="broken"),
        assistant("", toolCalls=None),
    ]
    write(rollout, call("req-1", messages))
    ingest(db, rollout)
    assert messages_of(db, "req-1") == messages
    blocks = detail(db, "req-1").blocks
    made = [b for b in blocks if b.kind is Kind.TOOL_CALL]
    assert len(made) == len(calls)
    assert [b.call_id for b in made[:4]] == ["c1", "c2", "c3", "c4"]
    results = [(b.call_id, b.name) for b in blocks if b.kind is Kind.TOOL_RESULT]
    assert results == [("c1", ""), ("c99", "Read"), ("c3", ""), ("", "")]


def test_case_28_the_last_answer_is_provisional_until_the_next_request_carries_it(
    db: Path, rollout: Path
) -> None:
    calls = [{"id": "c1", "name": "Read", "input": {"path": "a"}}]
    answer = {"text": "I read it.", "toolCalls": calls, "usage": {}}
    write(rollout, call("req-1", [user("go")], response=answer))
    ingest(db, rollout)
    first = detail(db, "req-1")
    assert first.response_provisional
    assert [(b.kind, b.text) for b in first.response] == [
        (Kind.TEXT, "I read it."),
        (Kind.TOOL_CALL, '{"path":"a"}'),
    ]
    assert messages_of(db, "req-1") == [user("go")]  # it is no part of what was sent
    carried = assistant("I read it.", toolCalls=calls)
    result = {"role": "tool", "content": "text", "toolCallId": "c1", "toolName": "Read"}
    append(rollout, call("req-2", [user("go"), carried, result], at=2000))
    ingest(db, rollout)
    assert not detail(db, "req-1").response_provisional
    assert messages_of(db, "req-2") == [user("go"), carried, result]
    assert detail(db, "req-2").response_provisional


def test_case_29_lines_stand_in_the_order_of_completion(db: Path, rollout: Path) -> None:
    write(
        rollout,
        call("second", at=2000, completedAt="2026-01-05T09:00:02.500Z"),
        call("title", [user("t")], at=1500, source="session_title"),
        call("first", at=1000, completedAt="2026-01-05T09:00:09.000Z"),
        call("no start", startedAt=..., completedAt="2026-01-05T09:00:03.000Z"),
        call("no time", startedAt=..., completedAt="yesterday"),
    )
    ingest(db, rollout)
    assert request_ids(db) == ["first", "title", "second", "no start", "no time"]
    columns = Service(db).timeline(SESSION).columns
    assert [c.request.seq for c in columns] == [1, 2, 3, 4, 5]
    assert request(db, "no time").started_at_ms is None


def test_case_30_secrets_in_headers_are_scrubbed(db: Path, rollout: Path) -> None:
    secret = "sk-live-0123456789"
    names = [
        "Authorization", "X-Api-Key", "Cookie", "set-cookie", "API-KEY", "OpenAI-Api-Key",
        "X-Off-Peak-Ticket-Id", "X-My-Token", "Client-Secret", "Proxy-Authorization",
    ]  # fmt: skip
    headers: dict[str, Any] = dict.fromkeys(names, f"Bearer {secret}")
    headers |= {"X-Zcode-Trace-Id": "trace_h", "x-cookies": [secret], "Accept": ["a", 1]}
    answered = {"text": "x", "usage": {}, "headers": {"Set-Cookie": secret}}
    write(
        rollout,
        call("req-1", request={"headers": headers}, traceId=..., response=answered),
        call("req-2", at=1000, request={"headers": "none"}),
    )
    ingest(db, rollout)
    found = detail(db, "req-1")
    kept = json.loads(found.headers_json)
    assert {kept[name.lower()] for name in names} == {"[redacted]"}
    assert (kept["x-zcode-trace-id"], kept["x-cookies"]) == ("trace_h", "[redacted]")
    assert found.request.trace_id == "trace_h"
    for path in db.parent.glob("tracer.db*"):
        assert secret.encode() not in path.read_bytes()


def test_case_30_old_sample_lines_are_scrubbed(db: Path) -> None:
    ingest(db, SAMPLES / "older-build")
    kept = [json.loads(row[0]) for row in rows(db, "SELECT headers_json FROM requests") if row[0]]
    assert any(value == "[redacted]" for headers in kept for value in headers.values())
    assert all(name == name.lower() for headers in kept for name in headers)


def test_case_31_full_retention_is_switched_on_and_off(db: Path, rollout: Path) -> None:
    wire = {"model": "m", "messages": [{"role": "user", "parts": ["wire"]}]}
    write(
        rollout,
        call("req-1", talk(70, 6), kind="tail", offset=6),
        call("req-2", talk(72), at=1000, kind=None, body=wire, request={"sdkMessages": talk(1)}),
        call("req-3", talk(74, 10), at=2000, kind="tail", offset=10),
        call("req-4", talk(76), at=3000, kind=None),
        call("req-5", talk(77, 74), at=4000, kind="delta", offset=74),
    )
    ingest(db, rollout)
    observed = [request(db, f"req-{n}").observed for n in range(1, 6)]
    assert observed == ["windowed", "full", "windowed", "full", "windowed"]
    assert messages_of(db, "req-2") == talk(72)
    assert messages_of(db, "req-3") == talk(74)
    assert messages_of(db, "req-5") == talk(77)
    assert request(db, "req-5").carry == "earlier"  # the window's state slept meanwhile


def test_case_32_unknown_sources_and_roles(db: Path, rollout: Path, log: Path) -> None:
    reminder = user("<system-reminder>\nnever heard of this\n</system-reminder>")
    messages = [
        {"role": "developer", "content": "rules"},
        {"role": "narrator", "content": "x"},
        reminder,
    ]
    write(
        rollout,
        call("req-1", messages, source="moon_phase"),
        call("req-2", messages, at=1000, source=None),
        call("req-3", messages, at=2000, source="main_turn"),
    )
    write(log, event("moon.rises", at=500, context={"querySource": "moon_phase"}))
    ingest(db, rollout, log)
    found = Service(db).requests(SESSION)
    assert [r.query_source for r in found] == ["moon_phase", "", "main_turn"]
    assert [r.lane.split("@")[0] for r in found] == ["moon_phase", "unknown", "main_turn"]
    assert found[0].roles == {"developer": 1, "narrator": 1, "user": 1}
    assert [r.source for r in found[0].reminders] == ["unknown"]
    assert messages_of(db, "req-1") == messages
    assert rows(db, "SELECT event FROM log_events") == [("moon.rises",)]
