"""The structured log: line shape, level gate and redaction (sections 2.2 to 2.4)."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from generate.clock import iso
from generate.text import Json, compact_json

LEVELS = ("debug", "info", "warn", "error")
STATUSES = {"started", "waiting", "completed", "failed", "cancelled"}

_SECRET_KEY = re.compile(
    "api key|api-key|api_key|apikey|authorization|cookie|credential|password|secret|token", re.I
)
_MAX_DEPTH = 8


class _Redactor:
    def __init__(self) -> None:
        self._seen: set[int] = set()

    def value(self, value: Any, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            return "[Redacted:DepthLimit]"
        if not isinstance(value, dict | list):
            return value
        if id(value) in self._seen:
            return "[Redacted:Circular]"
        self._seen.add(id(value))
        if isinstance(value, list):
            return [self.value(item, depth + 1) for item in value]
        return {
            key: "[Redacted]" if _SECRET_KEY.search(key) else self.value(item, depth + 1)
            for key, item in value.items()
        }


def redact(context: Json) -> Json:
    """Return a copy with the values of secret-looking keys replaced, as the default redactor does.

    Too deep values and objects met a second time are replaced too.
    """
    redacted: Json = _Redactor().value(context, 0)
    return redacted


@dataclass(frozen=True)
class Trace:
    """The identifiers a log line carries at top level."""

    trace_id: str | None = None
    span_id: str | None = None
    parent_span_id: str | None = None
    session_id: str | None = None
    turn_id: str | None = None
    tool_call_id: str | None = None


class LogFile:
    """Collects structured log lines and lays them out as daily files."""

    def __init__(self, minimum_level: str = "info", *, redacted: bool = True) -> None:
        self._minimum = LEVELS.index(minimum_level)
        self._redacted = redacted
        self._lines: list[tuple[datetime, Json]] = []

    def write(
        self,
        at: datetime,
        level: str,
        event: str | None,
        message: str,
        *,
        module: str = "core.runtime",
        trace: Trace | None = None,
        duration_ms: int | None = None,
        status: str | None = None,
        context: Json | None = None,
        error: Json | None = None,
    ) -> None:
        """Append a line unless its level is below the minimum."""
        if LEVELS.index(level) < self._minimum:
            return
        ids = trace or Trace()
        line = {
            "timestamp": iso(at),
            "level": level,
            "event": event,
            "module": module,
            "message": message,
            "traceId": ids.trace_id,
            "spanId": ids.span_id,
            "parentSpanId": ids.parent_span_id,
            "sessionId": ids.session_id,
            "turnId": ids.turn_id,
            "toolCallId": ids.tool_call_id,
            "durationMs": duration_ms,
            "status": status if status in STATUSES else None,
            "context": self._clean(context),
            "error": self._clean(error),
        }
        self._lines.append((at, {k: v for k, v in line.items() if v is not None}))

    def _clean(self, value: Json | None) -> Json | None:
        return redact(value) if value is not None and self._redacted else value

    def files(self) -> dict[str, list[str]]:
        """Return the lines of each daily file by its path, in time order.

        The machine's local time is taken to be UTC.
        """
        out: dict[str, list[str]] = {}
        for at, line in sorted(self._lines, key=lambda item: item[0]):
            path = f"log/zcode-{at:%Y-%m-%d}.jsonl"
            out.setdefault(path, []).append(compact_json(line))
        return out
