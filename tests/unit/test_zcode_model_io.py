"""ZCode's model I/O records (formats/zcode.md 3 and 14)."""

import json
import sys
from typing import Any

import pytest

from tracer.formats.zcode_model_io import FORMAT
from tracer.model.events import CallError, ModelCall, Status, Window, WindowKind
from tracer.model.prompt import Kind
from tracer.model.source import SkipKind, Skipped
from tracer.model.usage import Convention

Json = dict[str, Any]

FULL, DELTA, TAIL, ABSENT = WindowKind

MESSAGES: list[Json] = [
    {"role": "system", "content": "PLACEHOLDER prefix", "cacheControl": {"type": "ephemeral"}},
    {"role": "user", "content": "PLACEHOLDER question"},
]


def a_record(**changes: Any) -> Json:
    """The published example, shortened; `request`, `response` and `body` are merged into."""
    body = {
        "model": "model-y",
        "max_tokens": 32_000,
        "system": [{"type": "text", "text": "PLACEHOLDER prefix"}],
        "tools": [{"name": "Read", "input_schema": {"type": "object"}}],
    } | changes.pop("body", {})
    request = {
        "body": body,
        "headers": {"x-zcode-trace-id": "trace_0001", "authorization": "[redacted]"},
        "maxOutputTokens": 32_000,
        "messages": MESSAGES,
        "toolNames": ["Read"],
        "messageCount": 2,
        "messagesKind": "full",
        "messageOffset": 0,
    } | changes.pop("request", {})
    response = {
        "finishReason": "tool-calls",
        "headers": {},
        "modelId": "model-y-0105",
        "responseId": "resp-1",
        "text": "PLACEHOLDER status line",
        "toolCalls": [{"id": "call_1", "name": "Read", "input": {"file_path": "/w/a.txt"}}],
        "usage": {"inputTokens": 12_000, "outputTokens": 80, "cacheReadTokens": 9_000},
    } | changes.pop("response", {})
    return {
        "completedAt": "2026-01-05T09:00:04.500Z",
        "durationMs": 3_400,
        "requestId": "req-aaaa-1",
        "attempt": 1,
        "model": {"modelId": "model-y", "providerId": "provider-x"},
        "request": request,
        "response": response,
        "sessionId": "sess_0001",
        "querySource": "main_turn",
        "startedAt": "2026-01-05T09:00:01.100Z",
        "traceId": "trace_0001",
        "turnId": "turn_0001",
        "type": "model_io",
    } | changes


def parse(record: Json | bytes) -> ModelCall:
    line = record if isinstance(record, bytes) else json.dumps(record).encode()
    event = FORMAT.parse(line)
    assert isinstance(event, ModelCall), event
    return event


def refused(line: bytes) -> Skipped:
    event = FORMAT.parse(line)
    assert isinstance(event, Skipped), event
    return event


def without(record: Json, *keys: str) -> Json:
    return {k: v for k, v in record.items() if k not in keys}


def window(**request: Any) -> Window:
    return parse(a_record(request=request)).window


# Whole records -----------------------------------------------------------------------------------


def test_a_record_is_read_as_a_whole() -> None:
    call = parse(a_record())
    assert (call.session_id, call.turn_id, call.trace_id) == (
        "sess_0001",
        "turn_0001",
        "trace_0001",
    )
    assert (call.request_id, call.attempt, call.query_source) == ("req-aaaa-1", 1, "main_turn")
    assert (call.provider_id, call.model_id, call.model_json) == ("provider-x", "model-y", "")
    assert (call.started_at_ms, call.completed_at_ms) == (1_767_603_601_100, 1_767_603_604_500)
    assert (call.duration_ms, call.status, call.error) == (3_400, Status.COMPLETED, None)
    assert (call.finish_reason, call.response_id) == ("tool-calls", "resp-1")
    assert call.returned_model_id == "model-y-0105"
    assert call.tool_names == ("Read",)
    assert call.usage is not None
    assert (call.usage.input_tokens, call.usage.declared) == (12_000, Convention.INCLUSIVE)
    assert json.loads(call.tools)[0]["name"] == "Read"
    assert json.loads(call.system)[0]["text"] == "PLACEHOLDER prefix"


def test_the_messages_stay_the_bytes_of_the_line() -> None:
    line = b'{"type":"model_io","request":{"messages":[{"role": "user" ,"content":"a"}]}}'
    assert parse(line).window.items == (b'{"role": "user" ,"content":"a"}',)


def test_the_parameters_are_everything_that_is_no_prompt() -> None:
    options = {"anthropic": {"thinking": {"type": "enabled"}}}
    call = parse(a_record(request={"temperature": 0.5, "providerOptions": options}))
    assert json.loads(call.params_json) == {
        "body": {"model": "model-y", "max_tokens": 32_000},
        "maxOutputTokens": 32_000,
        "temperature": 0.5,
        "providerOptions": options,
    }


def test_the_answer_is_reasoning_text_calls_and_results() -> None:
    results = [{"id": "srv_1", "name": "web_search", "output": "found"}]
    call = parse(a_record(response={"reasoningText": "Hm.", "toolResults": results}))
    kinds = [block.kind for block in call.response_blocks]
    assert kinds == [Kind.REASONING, Kind.TEXT, Kind.TOOL_CALL, Kind.UNKNOWN]
    assert [b.text for b in call.response_blocks][:2] == ["Hm.", "PLACEHOLDER status line"]


def test_an_empty_answer_text_is_no_block() -> None:
    call = parse(a_record(response={"text": "", "reasoningText": ""}))
    assert [block.kind for block in call.response_blocks] == [Kind.TOOL_CALL]


# Windows -----------------------------------------------------------------------------------------


def test_a_full_window() -> None:
    found = window()
    assert (found.kind, found.offset, found.count, len(found.items)) == (FULL, 0, 2, 2)


def test_a_delta_may_be_empty() -> None:
    found = window(messages=[], messageCount=1, messagesKind="delta", messageOffset=1)
    assert found == Window(DELTA, 1, 1, ())


def test_a_tail() -> None:
    found = window(messagesKind="tail", messageOffset=100, messageCount=102)
    assert (found.kind, found.offset, found.count) == (TAIL, 100, 102)


def test_without_window_fields_the_list_is_whole() -> None:
    record = a_record()
    record["request"] = without(record["request"], "messageCount", "messagesKind", "messageOffset")
    found = parse(record).window
    assert (found.kind, found.offset, found.count) == (FULL, 0, 2)


def test_an_offset_without_a_kind_is_a_tail() -> None:
    assert window(messagesKind=None, messageOffset=3, messageCount=5).kind is TAIL


@pytest.mark.parametrize("messages", [None, "odd", 5, {"a": 1}])
def test_without_a_list_nothing_is_shown(messages: Any) -> None:
    assert window(messages=messages, messageCount=7) == Window(ABSENT, 0, 7, ())


@pytest.mark.parametrize(
    ("fields", "offset", "count", "items"),
    [
        ({"messageCount": None}, 0, 2, 2),
        ({"messageCount": -1}, 0, 2, 2),
        ({"messageCount": "2"}, 0, 2, 2),
        ({"messageCount": 1}, 0, 1, 1),
        ({"messageCount": 9}, 0, 9, 2),
        ({"messageOffset": -3}, 0, 2, 2),
        ({"messageOffset": 5, "messageCount": None}, 5, 7, 2),
        ({"messageOffset": 5, "messageCount": 2}, 2, 2, 0),
    ],
)
def test_window_fields_that_contradict_each_other_give_a_list_that_is_possible(
    fields: Json, offset: int, count: int, items: int
) -> None:
    found = window(**fields)
    assert (found.offset, found.count, len(found.items)) == (offset, count, items)


@pytest.mark.parametrize("field", ["messageCount", "messageOffset"])
def test_a_length_that_no_list_has_is_refused(field: str) -> None:
    skip = refused(json.dumps(a_record(request={field: 10_000_000_000})).encode())
    assert skip.kind is SkipKind.BAD_FIELD
    assert f"{field} of 10,000,000,000" in skip.reason


# The wire body -----------------------------------------------------------------------------------


def test_a_body_that_is_a_text_is_read_as_the_object_it_holds() -> None:
    """Its messages were not taken out by the writer: kept, they would double every prompt."""
    body = {"model": "model-y", "tools": [{"name": "Read"}], "messages": [{"role": "user"}]}
    call = parse(a_record(request={"body": json.dumps(body)}))
    assert json.loads(call.tools) == [{"name": "Read"}]
    assert json.loads(call.params_json)["body"] == {"model": "model-y"}


@pytest.mark.parametrize("body", ["{not json", "[1]", "plain"])
def test_a_body_that_is_another_text_is_kept_as_a_parameter(body: str) -> None:
    call = parse(a_record(request={"body": body}))
    assert (call.tools, call.system) == (b"", b"")
    assert json.loads(call.params_json)["body_text"] == body


@pytest.mark.parametrize("body", [None, 5, [], True])
def test_without_a_body_its_tiers_are_unknown(body: Any) -> None:
    call = parse(a_record(request={"body": body}))
    assert (call.tools, call.system, call.window.count) == (b"", b"", 2)


def test_a_tier_that_is_null_is_unknown_like_a_missing_one() -> None:
    call = parse(a_record(body={"tools": None, "system": None}))
    assert (call.tools, call.system) == (b"", b"")


def test_the_messages_of_the_body_are_no_parameters() -> None:
    body = {"bodySource": "ai_sdk_options", "messages": [{"role": "user", "content": "SECRET"}]}
    call = parse(a_record(body=body))
    assert "SECRET" not in call.params_json
    assert json.loads(call.params_json)["body"]["bodySource"] == "ai_sdk_options"


# Failures ----------------------------------------------------------------------------------------


def test_a_failed_attempt_has_an_error_and_no_usage() -> None:
    record = a_record(error={"name": "ModelProtocolError", "message": "rate limited"})
    record["response"] = {"headers": {}, "toolCalls": [], "usage": {}}
    call = parse(record)
    assert (call.status, call.usage) == (Status.FAILED, None)
    assert call.error == CallError("ModelProtocolError", "rate limited")
    assert call.response_blocks == ()


@pytest.mark.parametrize("name", ["AbortError", "RequestCancelledError"])
def test_a_stop_by_the_user_is_no_failure(name: str) -> None:
    assert parse(a_record(error={"name": name, "message": "x"})).status is Status.CANCELLED


def test_an_error_may_be_a_text() -> None:
    assert parse(a_record(error="it broke")).error == CallError("", "it broke")


def test_an_error_beside_a_response_keeps_both() -> None:
    call = parse(a_record(error={"name": "E", "message": "x"}))
    assert (call.status, call.usage is None, len(call.response_blocks)) == (Status.FAILED, False, 2)


def test_without_a_response_the_outcome_is_unknown() -> None:
    call = parse(without(a_record(), "response"))
    assert (call.status, call.usage, call.response_blocks) == (Status.UNKNOWN, None, ())


# Older and odd records ---------------------------------------------------------------------------


def test_a_model_may_be_a_text() -> None:
    call = parse(a_record(model="builtin:zai/model-y"))
    assert (call.provider_id, call.model_id) == ("builtin:zai", "model-y")


def test_other_keys_of_a_model_are_kept() -> None:
    call = parse(a_record(model={"modelId": "m", "providerId": "p", "variant": "high"}))
    assert json.loads(call.model_json) == {"variant": "high"}


def test_secrets_in_headers_are_replaced_whatever_their_case() -> None:
    headers = {
        "X-Api-Key": "sk-live-1",
        "Authorization": "Bearer sk-live-2",
        "Set-Cookie": "id=3",
        "X-Off-Peak-Ticket-Id": "4",
        "X-RateLimit-Tokens": "5",
        "Content-Type": "application/json",
    }
    call = parse(a_record(request={"headers": headers}))
    assert json.loads(call.headers_json) == {
        "x-api-key": "[redacted]",
        "authorization": "[redacted]",
        "set-cookie": "[redacted]",
        "x-off-peak-ticket-id": "[redacted]",
        "x-ratelimit-tokens": "[redacted]",
        "content-type": "application/json",
    }


def test_a_header_that_is_no_text_stays_json() -> None:
    call = parse(a_record(request={"headers": {"x-list": ["a", None], "x-number": 5}}))
    assert json.loads(call.headers_json) == {"x-list": '["a",null]', "x-number": "5"}


def test_ids_that_a_line_lacks_are_taken_from_its_headers() -> None:
    headers = {"X-Zcode-Trace-Id": "trace_h", "x-session-id": "sess_h"}
    call = parse(without(a_record(request={"headers": headers}), "traceId", "sessionId"))
    assert (call.trace_id, call.session_id) == ("trace_h", "sess_h")


def test_missing_fields_are_empty_and_not_invented() -> None:
    call = parse({"type": "model_io", "request": {}})
    assert (call.session_id, call.request_id, call.attempt) == ("", "", 1)
    assert (call.started_at_ms, call.completed_at_ms, call.duration_ms) == (None, None, None)
    assert (call.query_source, call.model_id, call.params_json) == ("", "", "")
    assert call.window == Window(ABSENT, 0, 0, ())


def test_without_a_start_the_end_stands_for_it() -> None:
    call = parse(without(a_record(), "startedAt"))
    assert call.started_at_ms == call.completed_at_ms


def test_a_size_reset_is_told() -> None:
    reset = {"maxFileBytes": 64, "previousFileBytes": 65, "reason": "session_file_size_limit"}
    assert json.loads(parse(a_record(modelIOReset=reset)).reset_json) == reset


def test_half_a_surrogate_pair_is_replaced_and_the_rest_is_read() -> None:
    line = json.dumps(a_record()).replace("PLACEHOLDER question", "cut \\ud83d").encode()
    call = parse(line)
    message = call.parsers.message(call.window.items[1])
    assert message.blocks[0].text == "cut �"
    assert call.usage is not None and call.window.count == 2


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b"{", SkipKind.NOT_JSON),
        (b"plain words", SkipKind.NOT_JSON),
        (b"[1]", SkipKind.NOT_OBJECT),
        (b'"text"', SkipKind.NOT_OBJECT),
        (b'{"a":"\xff"', SkipKind.ENCODING),
        (b'{"type":"session_event","request":{}}', SkipKind.FOREIGN_TYPE),
        (b'{"type":"model_io"}', SkipKind.FOREIGN_TYPE),
        (b"{}", SkipKind.FOREIGN_TYPE),
    ],
)
def test_a_line_that_is_no_record_says_why(line: bytes, kind: SkipKind) -> None:
    skip = refused(line)
    assert skip.kind is kind
    assert skip.reason.endswith(".") and skip.reason[0].isupper()
    assert skip.excerpt == line.decode("utf-8", "replace")


def test_an_excerpt_has_at_most_200_characters() -> None:
    assert refused("é".encode() * 300).excerpt == "é" * 200


@pytest.mark.parametrize("ends", [(b"[", b"]"), (b'{"a":', b"}")])
@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"model_io","model":{"x":%s},"response":{}}',
        b'{"type":"model_io","response":{"toolCalls":[{"input":%s}]}}',
        b'{"type":"model_io","request":{"headers":{"a":%s}},"response":{}}',
        b'{"type":"model_io","response":{"usage":{"inputTokens":1,"x":%s}}}',
    ],
)
def test_deep_nesting_is_read_or_refused(line: bytes, ends: tuple[bytes, bytes]) -> None:
    limit = sys.getrecursionlimit()
    outcomes = set()
    for depth in (10, *range(limit - 200, limit), 100 * limit):
        event = FORMAT.parse(line % (ends[0] * depth + b"1" + ends[1] * depth))
        assert isinstance(event, ModelCall | Skipped)
        outcomes.add(event.kind if isinstance(event, Skipped) else None)
    assert outcomes == {None, SkipKind.NOT_JSON}


# Sniffing ----------------------------------------------------------------------------------------


def test_a_record_is_recognised_by_its_type() -> None:
    assert FORMAT.sniff(json.dumps(a_record()).encode()) == 0.9


def test_a_record_cut_in_the_middle_is_recognised_by_its_opening() -> None:
    assert FORMAT.sniff(json.dumps(a_record()).encode()[:200]) == 0.7


def test_a_record_inside_another_record_is_not_recognised() -> None:
    line = {"timestamp": "2026-01-05T09:00:00Z", "level": "info", "context": a_record()}
    assert FORMAT.sniff(json.dumps(line).encode()) == 0
    assert FORMAT.sniff(json.dumps({"message": json.dumps(a_record())}).encode()) == 0


@pytest.mark.parametrize("head", [b"", b"\n\n", b"{}", b'{"timestamp":"2026-01-01T00:00:00Z"}'])
def test_anything_else_is_not_recognised(head: bytes) -> None:
    assert FORMAT.sniff(head) == 0
