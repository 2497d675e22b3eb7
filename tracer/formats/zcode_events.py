"""ZCode's session events: JSON lines of a sink, and a subagent's `transcript.jsonl` of older builds
(formats/zcode.md 4).

One model call can report its usage three times: in the network status of its attempt (with the
request's id), in `model_complete` (without), and summed up in `turn_complete`. The first counts;
the second is a usage row that is joined to its request; the third counts nothing.
"""

import re
from typing import Any

from tracer.formats import _rows as r
from tracer.formats._json import (
    compact,
    decode_object,
    int_of,
    skipped,
    sniff_lines,
    strip_line,
    text_of,
    too_deep,
)
from tracer.formats._time import epoch_ms
from tracer.formats._zcode_event_types import TYPES
from tracer.formats._zcode_usage import reported_usage
from tracer.model.events import Event, LogEvent
from tracer.model.source import SkipKind, Skipped
from tracer.model.usage_rows import UsageRow
from tracer.words import capital

_OPENING = re.compile(rb'\{\s*"(?:id|eventId|sessionId|type|timestamp|traceId)"\s*:')
_TYPE = re.compile(rb'"type"\s*:\s*"([a-z_]+)"')
_IDS = ("id", "eventId")
_TIMES = ("timestamp", "occurredAt", "recordedAt")
_ERRORS = frozenset({"turn_error", "model_error", "tool_call_error", "error", "hook_run_failed"})
_WARNINGS = frozenset({"permission_denied", "model_anomaly_warning", "compact_failed", "interrupt"})
_ATTEMPTS = {
    "model_request_started": "model.request.started",
    "model_request_completed": "model.request.completed",
    "model_request_failed": "model.request.failed",
}
_NETWORK = frozenset({"model_network_status", "network_request_status"})


class ZcodeEvents:
    """The format of ZCode's session events and transcripts."""

    name = "zcode-events"
    agent = "ZCode"
    title = "ZCode session events"
    tells = "turns, attempts with usage, tool calls, permissions, subagents; of older transcripts"

    def sniff(self, head: bytes) -> float:
        """0.8 where a line is an event of a known type, as far as it is there."""
        best = 0.0
        for line in sniff_lines(head):
            envelope = line.split(b'"payload"', 1)[0]
            if not _OPENING.match(line) or b'"level"' in envelope:
                continue
            found = _TYPE.search(envelope)
            if found and found[1].decode() in TYPES and b'"sessionId"' in line:
                return 0.8
            if b'"sessionId"' in envelope and b'"sequenceNumber"' in envelope:
                best = 0.5
        return best

    def parse(self, line: bytes) -> Event | Skipped:
        """The event of a line, or why it is none."""
        line = strip_line(line)
        decoded = decode_object(line)
        if isinstance(decoded, Skipped):
            return decoded
        value = decoded[0]
        kind = text_of(value.get("type"))
        if kind not in TYPES and not (
            kind and isinstance(value.get("payload"), dict) and "sessionId" in value
        ):
            return skipped(
                SkipKind.FOREIGN_TYPE,
                "The line has no type and payload of a session event; it was left out.",
                line,
            )
        try:
            return _event(value, kind)
        except RecursionError:
            return too_deep(line)


FORMAT = ZcodeEvents()


def _first(value: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((value[name] for name in names if value.get(name) is not None), None)


def _event(value: dict[str, Any], kind: str) -> LogEvent:
    found = value.get("payload")
    payload: dict[str, Any] = found if isinstance(found, dict) else {}
    inner = text_of(payload.get("type")) if kind in _NETWORK else ""
    at_ms = epoch_ms(_first(value, _TIMES))
    if at_ms is None and inner:
        at_ms = epoch_ms(payload.get("timestamp"))
    session = text_of(value.get("sessionId")) or text_of(payload.get("sessionId"))
    turn = text_of(value.get("turnId")) or text_of(payload.get("turnId"))
    event_id = text_of(_first(value, _IDS))
    error = payload.get("error")
    return LogEvent(
        at_ms=at_ms,
        level=_level(kind, inner),
        event=kind,
        module="session event",
        message=_message(kind, inner, payload),
        session_id=session,
        trace_id=text_of(value.get("traceId")) or text_of(payload.get("traceId")),
        span_id=text_of(value.get("spanId")) or text_of(payload.get("spanId")),
        parent_span_id=text_of(payload.get("parentSpanId")),
        turn_id=turn,
        tool_call_id=text_of(payload.get("toolCallId")) or text_of(payload.get("parentToolCallId")),
        duration_ms=_duration(kind, payload),
        status=_status(kind, inner, payload),
        request_id=text_of(payload.get("requestId")) if inner else "",
        attempt=int_of(payload.get("attempt")) if inner else None,
        query_source=text_of(payload.get("querySource")),
        provider_id=_model(payload, "providerId"),
        model_id=_model(payload, "modelId"),
        child_session_id=text_of(payload.get("childSessionId"))
        if kind == "subagent_spawned"
        else "",
        context_json=_context(kind, payload),
        error_json=compact(error) if error not in (None, "") else "",
        attempt_event=_ATTEMPTS.get(inner, ""),
        reported=reported_usage(payload) if inner == "model_request_completed" else None,
        usage_row=_usage_row(payload, session, turn, event_id, at_ms, value)
        if kind == "model_complete"
        else None,
        identity=f"{session}|{event_id}|{kind}|{at_ms}" if event_id else "",
    )


def _model(payload: dict[str, Any], name: str) -> str:
    """A model's id: flat, or in one of the objects that older builds wrote."""
    for holder in (payload, payload.get("model"), payload.get("modelRef")):
        if isinstance(holder, dict) and isinstance(holder.get(name), str):
            return text_of(holder[name])
    return text_of(payload.get("model")) if name == "modelId" else ""


def _level(kind: str, inner: str) -> str:
    if kind in _ERRORS:
        return "error"
    warns = inner in ("model_request_failed", "model_retry_scheduled", "model_stream_stalled")
    return "warn" if kind in _WARNINGS or warns else "info"


def _message(kind: str, inner: str, payload: dict[str, Any]) -> str:
    words = (inner or kind).replace("_", " ")
    detail = text_of(payload.get("toolName")) or text_of(payload.get("agentType"))
    return f"{capital(words)}{f': {detail}' if detail else ''}"


def _duration(kind: str, payload: dict[str, Any]) -> int | None:
    for name in ("durationMs", "duration", "totalDurationMs"):
        found = int_of(payload.get(name))
        if found is not None:
            return found
    return None


def _status(kind: str, inner: str, payload: dict[str, Any]) -> str:
    if inner == "model_request_failed":
        return "cancelled" if payload.get("reason") == "cancelled" else "failed"
    for name in ("status", "resultType", "decision"):
        if isinstance(payload.get(name), str):
            return text_of(payload[name])
    if kind == "tool_call_result":
        return "failed" if r.inner(payload, "result", "success") is False else "completed"
    return "failed" if kind in _ERRORS else ""


def _context(kind: str, payload: dict[str, Any]) -> str:
    """The payload as logged; of a prompt's messages only how many there were."""
    messages = payload.get("messages")
    if kind == "model_request" and isinstance(messages, list):
        payload = {**payload, "messages": None, "messageCount": len(messages)}
        del payload["messages"]
    return compact(payload) if payload else ""


def _usage_row(
    payload: dict[str, Any],
    session: str,
    turn: str,
    event_id: str,
    at_ms: int | None,
    value: dict[str, Any],
) -> UsageRow | None:
    """The usage of a finished call that names no request; None where it reports none."""
    reported = reported_usage(payload)
    if reported is None or not session:
        return None
    name = event_id or f"{turn}:{at_ms}"
    empty = dict.fromkeys(UsageRow._fields, "")
    numbers = dict.fromkeys((f for f in UsageRow._fields if f.endswith(("_tokens", "_ms"))), None)
    zeros = dict.fromkeys(
        ("attempt_index", "retries", "retryable", "cancelled", "context_exceeded"), 0
    )
    fields: dict[str, Any] = {**empty, **numbers, **zeros}
    fields |= {
        "session_id": session,
        "usage_id": f"event:{name}",
        "turn_id": turn,
        "trace_id": text_of(value.get("traceId")),
        "query_source": text_of(payload.get("querySource")),
        "provider_id": _model(payload, "providerId"),
        "model_id": _model(payload, "modelId"),
        "status": "completed",
        "completed_at_ms": at_ms,
        "finish_reason": text_of(payload.get("stopReason")),
        "tool_calls": int_of(payload.get("toolCallCount")),
        "input_tokens": reported.input_tokens,
        "output_tokens": reported.output_tokens,
        "reasoning_tokens": reported.reasoning_tokens,
        "cache_write_tokens": reported.cache_write_tokens,
        "cache_read_tokens": reported.cache_read_tokens,
        "computed_total_tokens": reported.total_tokens,
        "usage_json": reported.raw_json,
    }
    return UsageRow(**fields)
