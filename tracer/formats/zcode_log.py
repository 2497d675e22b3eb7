"""ZCode's structured log: `log/zcode-YYYY-MM-DD.jsonl`, one event a line (formats/zcode.md 2).

Only `context.built` and `context_usage_snapshot` are taken apart; every other event becomes a
plain timeline event with its context kept, so that an unknown event is shown and not lost.
"""

import re
from typing import Any

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
from tracer.formats._zcode_context import context_built, context_usage, is_redacted
from tracer.model.events import Event, LogEvent
from tracer.model.source import SkipKind, Skipped

_OPENING = re.compile(rb'\s*\{\s*"timestamp"\s*:\s*"\d{4}-\d\d-\d\dT')
_LEVELS = frozenset({"debug", "info", "warn", "error"})
_MAX_CAUSES = 8
_BUILT = "context.built"
_USAGE = "context_usage_snapshot"
# Lines of old builds have no `event`; these messages say what they are (section 14, case 10).
_MESSAGE_EVENTS = {"Context built": _BUILT, "Context usage snapshot": _USAGE}


class ZcodeLog:
    """The format of ZCode's structured log."""

    name = "zcode-log"
    agent = "ZCode"
    title = "ZCode structured log"
    tells = "turns, attempts, retries, compactions; at debug level also sections and context usage"

    def sniff(self, head: bytes) -> float:
        """0.8 where a line opens like a log line and names its level."""
        best = 0.0
        for line in sniff_lines(head):
            if _OPENING.match(line):
                best = max(best, 0.8 if b'"level"' in line[:200] else 0.4)
        return best

    def parse(self, line: bytes) -> Event | Skipped:
        """The log event of a line, or why it is none."""
        line = strip_line(line)
        decoded = decode_object(line)
        if isinstance(decoded, Skipped):
            return decoded
        value = decoded[0]
        at_ms = epoch_ms(value.get("timestamp"))
        if at_ms is None or text_of(value.get("level")) not in _LEVELS:
            return skipped(
                SkipKind.FOREIGN_TYPE,
                "The line has no timestamp and level of a structured log; it was left out.",
                line,
            )
        try:
            return _event(value, at_ms)
        except RecursionError:
            return too_deep(line)


FORMAT = ZcodeLog()


def _event(value: dict[str, Any], at_ms: int) -> LogEvent:
    context = value.get("context")
    fields: dict[str, Any] = context if isinstance(context, dict) else {}
    error = value.get("error")
    message = text_of(value.get("message"))
    event = text_of(value.get("event")) or _MESSAGE_EVENTS.get(message, "")
    attempt_fields = fields if isinstance(fields.get("requestId"), str) else _attempt_of(error)
    built = context_built(fields) if event == _BUILT else None
    usage = context_usage(fields) if event == _USAGE else None
    return LogEvent(
        at_ms=at_ms,
        level=text_of(value.get("level")),
        event=event,
        module=text_of(value.get("module")),
        message=message,
        session_id=text_of(value.get("sessionId")),
        trace_id=text_of(value.get("traceId")),
        span_id=text_of(value.get("spanId")),
        parent_span_id=text_of(value.get("parentSpanId")),
        turn_id=text_of(value.get("turnId")),
        tool_call_id=text_of(value.get("toolCallId")),
        duration_ms=int_of(value.get("durationMs")),
        status=text_of(value.get("status")),
        request_id=text_of(attempt_fields.get("requestId")),
        attempt=int_of(attempt_fields.get("attempt")),
        query_source=text_of(fields.get("querySource")),
        provider_id=text_of(attempt_fields.get("providerId")),
        model_id=text_of(attempt_fields.get("modelId")),
        child_session_id=_child_session(event, fields),
        context_json=_context_json(context, built is not None),
        error_json=compact(error) if error is not None else "",
        built=built,
        usage=usage,
        redacted=tuple(sorted(k for k, v in fields.items() if is_redacted(v))),
    )


def _attempt_of(error: Any) -> dict[str, Any]:
    """The fields of the attempt that an error chain names, or nothing (section 16)."""
    for _ in range(_MAX_CAUSES + 1):
        if not isinstance(error, dict):
            break
        context = error.get("context")
        if isinstance(context, dict) and isinstance(context.get("requestId"), str):
            return context
        error = error.get("cause")
    return {}


def _child_session(event: str, fields: dict[str, Any]) -> str:
    """The session that a `subagent.spawned` line started: its id is built from the agent's
    (formats/zcode.md 1)."""
    agent_id = text_of(fields.get("agentId"))
    return f"sess_subagent_{agent_id}" if event == "subagent.spawned" and agent_id else ""


def _context_json(context: Any, built: bool) -> str:
    """The context as logged; the texts of sections are stored as blocks instead."""
    if context is None:
        return ""
    if built and isinstance(context, dict) and isinstance(context.get("sections"), list):
        sections = [
            {k: v for k, v in s.items() if k not in ("content", "preview")}
            if isinstance(s, dict)
            else s
            for s in context["sections"]
        ]
        context = {**context, "sections": sections}
    return compact(context)
