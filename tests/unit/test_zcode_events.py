"""Session events and transcripts: every type, the envelope's aliases, usage once."""

import json
from typing import Any

import pytest

from tracer.formats._zcode_event_types import TYPES
from tracer.formats.zcode_events import FORMAT
from tracer.model.events import LogEvent
from tracer.model.source import SkipKind, Skipped

USAGE = {"inputTokens": 100, "outputTokens": 10, "totalTokens": 110, "cacheReadTokens": 60}


def line(kind: str, payload: Any = None, **more: Any) -> bytes:
    value: dict[str, Any] = {"id": "evt_1", "sessionId": "s", "turnId": "t", "type": kind}
    value |= {"timestamp": "2026-01-12T09:00:00.000Z", "traceId": "trace", "sequenceNumber": 0}
    return json.dumps(value | ({"payload": payload} if payload is not None else {}) | more).encode()


def parse(data: bytes) -> LogEvent:
    found = FORMAT.parse(data)
    assert isinstance(found, LogEvent)
    return found


def test_the_list_of_types_is_whole() -> None:
    assert len(TYPES) == 79
    assert {"turn_started", "model_network_status", "rewind_triggered"} <= TYPES.keys()


@pytest.mark.parametrize("kind", sorted(TYPES))
def test_every_type_is_recognised_and_kept(kind: str) -> None:
    data = line(kind, {"a": 1})
    assert FORMAT.sniff(data) == 0.8
    found = parse(data)
    assert (found.event, found.session_id, found.turn_id) == (kind, "s", "t")
    assert json.loads(found.context_json) == {"a": 1}
    assert parse(line(kind)).context_json == ""


@pytest.mark.parametrize("name", ["timestamp", "occurredAt", "recordedAt"])
@pytest.mark.parametrize("identifier", ["id", "eventId"])
def test_aliases_of_the_envelope(name: str, identifier: str) -> None:
    value = {identifier: "e", name: "2026-01-12T09:00:00.000Z", "sessionId": "s"}
    found = parse(json.dumps(value | {"type": "turn_started", "payload": {}}).encode())
    assert found.at_ms == 1_768_208_400_000
    assert found.identity == "s|e|turn_started|1768208400000"


def test_ids_may_be_missing_and_unknown_types_are_kept() -> None:
    bare = parse(b'{"type":"turn_started","sessionId":"s"}')
    assert (bare.identity, bare.at_ms) == ("", None)
    fork = parse(line("dream_started", {"x": 1}))
    assert fork.event == "dream_started"
    assert isinstance(FORMAT.parse(b'{"type":"dream_started","sessionId":"s"}'), Skipped)


def test_the_status_of_an_attempt_names_the_request_and_its_usage() -> None:
    base = {"requestId": "r", "attempt": 2, "providerId": "p", "modelId": "m"}
    found = parse(
        line("model_network_status", {"type": "model_request_completed", "usage": USAGE, **base})
    )
    assert (found.request_id, found.attempt, found.model_id) == ("r", 2, "m")
    assert found.attempt_event == "model.request.completed"
    assert found.reported is not None and found.reported.input_tokens == 100
    assert found.usage_row is None
    older = {"requestId": "r", "attempt": 1, "model": {"modelId": "m", "providerId": "p"}}
    begun = parse(line("model_network_status", {"type": "model_request_started", **older}))
    assert (begun.model_id, begun.provider_id, begun.reported) == ("m", "p", None)
    failed = {"type": "model_request_failed", "reason": "cancelled", **base}
    assert parse(line("model_network_status", failed)).status == "cancelled"


def test_a_finished_call_without_a_request_is_a_usage_row_and_a_turns_sum_is_nothing() -> None:
    found = parse(line("model_complete", {"usage": USAGE, "stopReason": "stop"}))
    row = found.usage_row
    assert row is not None and found.reported is None
    assert (row.usage_id, row.input_tokens, row.cache_read_tokens) == ("event:evt_1", 100, 60)
    assert (row.completed_at_ms, row.started_at_ms) == (found.at_ms, None)
    total = parse(line("turn_complete", {"usage": USAGE, "resultType": "cancelled"}))
    assert (total.usage_row, total.reported, total.status) == (None, None, "cancelled")
    assert parse(line("model_complete", {"content": "x"})).usage_row is None


def test_tools_permissions_and_helpers() -> None:
    result = parse(line("tool_call_result", {"toolCallId": "c", "result": {"success": False}}))
    assert (result.tool_call_id, result.status) == ("c", "failed")
    error = parse(line("tool_call_error", {"toolCallId": "c", "error": {"message": "no"}}))
    assert (error.level, error.status, error.error_json) == ("error", "failed", '{"message":"no"}')
    spawned = {
        "agentId": "a",
        "childSessionId": "child",
        "parentToolCallId": "c",
        "status": "running",
    }
    found = parse(line("subagent_spawned", spawned))
    assert (found.child_session_id, found.tool_call_id) == ("child", "c")
    assert (
        parse(line("permission_resolved", {"toolCallId": "c", "decision": "deny"})).status == "deny"
    )


def test_a_prompt_in_an_event_is_counted_and_not_kept() -> None:
    found = parse(line("model_request", {"model": "m", "messages": [{"role": "user"}] * 3}))
    assert json.loads(found.context_json) == {"model": "m", "messageCount": 3}
    assert found.model_id == "m"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"{bad json", SkipKind.NOT_JSON),
        (b"[]", SkipKind.NOT_OBJECT),
        (b'{"type":"model_io","request":{},"sessionId":"s"}', SkipKind.FOREIGN_TYPE),
        (
            b'{"timestamp":"2026-01-12T09:00:00Z","level":"info","message":"x"}',
            SkipKind.FOREIGN_TYPE,
        ),
        (b"\xff", SkipKind.ENCODING),
    ],
)
def test_other_lines_are_refused_with_a_reason(data: bytes, kind: SkipKind) -> None:
    found = FORMAT.parse(data)
    assert isinstance(found, Skipped) and found.kind is kind
