"""The lines of the open trace format that are not prompts: what happened, and when."""

from typing import Any

from tracer.formats._json import compact, count_of, int_of, text_of
from tracer.formats._time import epoch_ms
from tracer.model.events import CallError, ContextUsage, LogEvent, Status, UsageCategory
from tracer.model.usage import Convention, ReportedUsage

MODULE = "context trace"
COMPLETED = "request.completed"
USAGE = "context_usage_snapshot"
_ENVELOPE = frozenset(
    "event v timestamp sessionId runId requestId attempt traceId status durationMs error".split()  # noqa: SIM905
)
_STATUS = {status.value: status for status in Status}
_ATTEMPT = {
    Status.COMPLETED: "model.request.completed",
    Status.FAILED: "model.request.failed",
    Status.CANCELLED: "model.request.failed",
}
_COUNTS = (
    "inputTokens", "outputTokens", "totalTokens", "cacheReadTokens", "cacheWriteTokens",
    "reasoningTokens",
)  # fmt: skip
_WINDOW_COUNTS = ("contextWindow", "outputReserve")


def event_of(value: dict[str, Any]) -> LogEvent:
    """The event of a line."""
    name, status = text_of(value.get("event")), text_of(value.get("status"))
    error = value.get("error")
    rest = {k: v for k, v in value.items() if k not in _ENVELOPE}
    completed = name == COMPLETED
    outcome = _STATUS.get(status, Status.UNKNOWN)
    attempt = int_of(value.get("attempt"))
    if completed and attempt is None:
        attempt = 1
    return LogEvent(
        at_ms=epoch_ms(value.get("timestamp")),
        level=_level(name, status),
        event=name,
        module=MODULE,
        message=_message(name, value),
        session_id=text_of(value.get("sessionId")),
        trace_id=text_of(value.get("traceId")),
        turn_id=text_of(value.get("runId")),
        duration_ms=count_of(value.get("durationMs")),
        status=status,
        request_id=text_of(value.get("requestId")),
        attempt=attempt,
        child_session_id=_child(name, value),
        context_json=compact(rest) if rest else "",
        error_json=compact(error) if error is not None else "",
        usage=_context_usage(value) if name == USAGE else None,
        attempt_event=_ATTEMPT.get(outcome, "") if completed else "",
        reported=reported_usage(rest) if completed else None,
    )


def _level(name: str, status: str) -> str:
    return "error" if status == Status.FAILED or name.endswith(".failed") else "info"


def _child(name: str, value: dict[str, Any]) -> str:
    return text_of(value.get("childSessionId")) if name.startswith("subagent.") else ""


def _message(name: str, value: dict[str, Any]) -> str:
    """The event in words; an unknown one has none but its name."""
    status = text_of(value.get("status"))
    reason = text_of(value.get("reason"))
    why = f": {reason}" if reason else ""
    match name:
        case "session.started":
            return f"Session of {text_of(value.get('agent')) or 'an unnamed agent'} started"
        case "run.started" | "run.completed":
            ended = f" ({status})" if status else ""
            return f"Run {name.partition('.')[2]}{ended}"
        case "request.completed":
            attempt = int_of(value.get("attempt")) or 1
            again = f", attempt {attempt}" if attempt > 1 else ""
            return f"Request {status or 'ended'}{again}"
        case "capability.changed":
            word = "on" if value.get("enabled") is True else "off"
            return f"Capability {text_of(value.get('name'))} switched {word}{why}"
        case "compaction.started" | "compaction.completed" | "compaction.failed":
            covers = value.get("covers")
            of = f" of {len(covers)} messages" if isinstance(covers, list) else ""
            return f"Compaction{of} {name.partition('.')[2]}{why}"
        case "transaction.opened" | "transaction.step" | "transaction.closed":
            path = text_of(value.get("filePath"))
            on = f" on {path}" if path else ""
            ended = f" ({status})" if status else ""
            return f"File transaction {name.partition('.')[2]}{on}{ended}"
        case "subagent.started" | "subagent.stopped":
            return f"Subagent {name.partition('.')[2]}"
        case "context_usage_snapshot":
            return "The agent's own estimate of the context"
    return ""


def reported_usage(fields: dict[str, Any]) -> ReportedUsage | None:
    """The usage that a `request.completed` line reports; None where it reports none. A count that
    is missing is unknown, as is one that counts nothing (negative, or beyond all numbers)."""
    usage = fields.get("usage")
    if not isinstance(usage, dict):
        return None
    inclusive = usage.get("inclusive")
    declared = Convention.UNKNOWN
    if isinstance(inclusive, bool):
        declared = Convention.INCLUSIVE if inclusive else Convention.EXCLUSIVE
    found = ReportedUsage(
        input_tokens=count_of(usage.get("inputTokens")),
        output_tokens=count_of(usage.get("outputTokens")),
        total_tokens=count_of(usage.get("totalTokens")),
        cache_read_tokens=count_of(usage.get("cacheReadTokens")),
        cache_write_tokens=count_of(usage.get("cacheWriteTokens")),
        reasoning_tokens=count_of(usage.get("reasoningTokens")),
        declared=declared,
        raw_json=compact({"usage": usage}),
        left_out=tuple(
            key for key in _COUNTS if usage.get(key) is not None and count_of(usage[key]) is None
        ),
    )
    known = (found.input_tokens, found.output_tokens, found.cache_read_tokens)
    return found if found.left_out or any(count is not None for count in known) else None


def call_error(error: Any) -> CallError | None:
    """Why a request failed; None where nothing is said."""
    if isinstance(error, dict):
        code = int_of(error.get("statusCode"))
        message = text_of(error.get("message"))
        return CallError(
            text_of(error.get("name")), f"{message} (status {code})" if code else message
        )
    return CallError("", error) if isinstance(error, str) and error else None


def _context_usage(value: dict[str, Any]) -> ContextUsage:
    categories = value.get("categories")
    items = categories if isinstance(categories, list) else []
    return ContextUsage(
        model=text_of(value.get("model")),
        total_chars=count_of(value.get("totalChars")),
        total_tokens=count_of(value.get("totalTokens")),
        tokens_redacted=False,
        categories=tuple(_category(item) for item in items if isinstance(item, dict)),
        roles=(),
        counts=tuple(
            (name, number)
            for name in _WINDOW_COUNTS
            if (number := count_of(value.get(name))) is not None
        ),
    )


def _category(item: dict[str, Any]) -> UsageCategory:
    return UsageCategory(
        name=text_of(item.get("name")),
        source=text_of(item.get("source")) or text_of(item.get("name")),
        chars=count_of(item.get("chars")),
        tokens=count_of(item.get("tokens")),
        tokens_redacted=False,
    )
