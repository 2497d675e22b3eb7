"""Write the open trace format from your own agent: copy this file, or `from tracer import emit`.

It needs Python 3.11 and nothing else. `docs/formats/context-trace.md` is the format.

    with Trace("traces/today.jsonl", session_id="s1", agent="My agent") as trace:
        trace.run_started("r1")
        trace.built("q1", run_id="r1", model_id="model-a", segments={1: [rules], 8: [question]})
        trace.completed("q1", usage={"inputTokens": 812, "outputTokens": 40, "inclusive": True})

Every line is written with one call and reaches the file at once, so a killed agent leaves at most
half a line. A message that was written before is written as a reference, by itself.
"""

import json
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from types import TracebackType
from typing import Any, TypeAlias

VERSION = 1
Json: TypeAlias = dict[str, Any]
Messages: TypeAlias = Iterable[Mapping[str, Any]]
Segments: TypeAlias = Mapping[int, Messages] | Sequence[tuple[int, Messages]]

_MARKER = "cacheControl"


def message(id: str, role: str, content: Any = None, kind: str = "", **other: Any) -> Json:
    """One message. `other` are further keys by their own names: `scope`, `mode`, `state`,
    `toolCalls`, `toolCallId`, `cacheControl`... Those that are None are left out."""
    made: Json = {"id": id, "role": role}
    if kind:
        made["kind"] = kind
    if content is not None:
        made["content"] = content
    return made | {key: value for key, value in other.items() if value is not None}


class Trace:
    """Appends the lines of one session to a file. Safe to use from several threads.

    `clock` gives the time of a line; it is there for tests. Raises OSError where the file cannot
    be written, and TypeError or ValueError for what is no JSON.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        session_id: str,
        *,
        agent: str = "",
        title: str = "",
        project: str = "",
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.session_id = session_id
        self._clock = clock
        self._lock = threading.Lock()
        self._written: dict[str, bytes] = {}
        folder = os.path.dirname(os.fspath(path))
        if folder:
            os.makedirs(folder, exist_ok=True)
        self._file = open(path, "ab", buffering=0)  # noqa: SIM115  (closed by `close`)
        if _ends_inside_a_line(path):
            self._file.write(b"\n")
        self.event("session.started", agent=agent, title=title or None, project=project or None)

    def __enter__(self) -> "Trace":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def event(self, event: str, *, run_id: str = "", request_id: str = "", **keys: Any) -> None:
        """Write any line. Keys that are None are left out; others are written as they are named."""
        ids = {"runId": run_id, "requestId": request_id}
        line = {key: value for key, value in ids.items() if value}
        self._write(event, line | {key: value for key, value in keys.items() if value is not None})

    def run_started(self, run_id: str) -> None:
        """A task was accepted."""
        self.event("run.started", run_id=run_id)

    def run_completed(self, run_id: str, status: str = "completed") -> None:
        """A task came to its end."""
        self.event("run.completed", run_id=run_id, status=status)

    def built(
        self,
        request_id: str,
        *,
        model_id: str,
        provider_id: str = "",
        run_id: str = "",
        query_source: str = "main_turn",
        segments: Segments | None = None,
        messages: Messages | None = None,
        layout: str = "segments-14",
        stable_tools: Sequence[Mapping[str, Any]] = (),
        dynamic_tools: Sequence[Mapping[str, Any]] = (),
        tool_order: Sequence[str] | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        """The whole prompt of a request, before it is sent: `segments` (numbers and messages, in
        order), or `messages` where the agent has no segments. Raises ValueError for both or neither
        of them."""
        if (segments is None) == (messages is None):
            raise ValueError("give either segments or messages")
        line: Json = {"runId": run_id} if run_id else {}
        line["requestId"] = request_id
        if segments is not None:
            line["layout"] = layout
        line["model"] = {"providerId": provider_id, "modelId": model_id}
        line["querySource"] = query_source
        tools: Json = {"stable": list(stable_tools), "dynamic": list(dynamic_tools)}
        line["tools"] = tools if tool_order is None else tools | {"order": list(tool_order)}
        if parameters is not None:
            line["parameters"] = dict(parameters)
        with self._lock:
            if messages is not None:
                line["messages"] = self._shortened(messages)
            else:
                pairs = segments.items() if isinstance(segments, Mapping) else segments or ()
                parts = [(n, self._shortened(held)) for n, held in pairs]
                line["segments"] = [{"n": n, "messages": held} for n, held in parts if held]
            self._append("context.built", line)

    def usage_snapshot(
        self,
        request_id: str,
        categories: Sequence[Mapping[str, Any]],
        *,
        context_window: int | None = None,
        output_reserve: int | None = None,
        total_tokens: int | None = None,
    ) -> None:
        """The agent's own estimate of what fills the context window."""
        self.event(
            "context_usage_snapshot",
            request_id=request_id,
            contextWindow=context_window,
            outputReserve=output_reserve,
            totalTokens=total_tokens,
            categories=list(categories),
        )

    def completed(
        self,
        request_id: str,
        *,
        attempt: int = 1,
        status: str = "completed",
        usage: Mapping[str, Any] | None = None,
        duration_ms: int | None = None,
        finish_reason: str | None = None,
        error: Mapping[str, Any] | None = None,
    ) -> None:
        """How an attempt ended: `status` is `completed`, `failed` or `cancelled`."""
        self.event(
            "request.completed",
            request_id=request_id,
            attempt=attempt,
            status=status,
            durationMs=duration_ms,
            finishReason=finish_reason,
            error=error,
            usage=usage,
        )

    def _shortened(self, messages: Messages) -> list[Json]:
        """Messages that were written before as references to them. Their markers are kept: they
        are this request's own."""
        found = []
        for given in messages:
            content = {key: value for key, value in given.items() if key != _MARKER}
            name = content.get("id")
            if not isinstance(name, str) or not name:
                found.append(dict(given))
                continue
            digest = sha256(_encode(content)).digest()
            if self._written.get(name) == digest:
                markers = {_MARKER: given[_MARKER]} if _MARKER in given else {}
                found.append({"ref": name} | markers)
            else:
                self._written[name] = digest
                found.append(dict(given))
        return found

    def _write(self, event: str, keys: Json) -> None:
        with self._lock:
            self._append(event, keys)

    def _append(self, event: str, keys: Json) -> None:
        moment = self._clock().astimezone(UTC)
        at = f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"
        head = {"event": event, "v": VERSION, "timestamp": at, "sessionId": self.session_id}
        self._file.write(_encode(head | keys) + b"\n")


def _encode(value: Any) -> bytes:
    """Compact JSON; half a surrogate pair, which is no text, becomes a question mark."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


def _ends_inside_a_line(path: str | os.PathLike[str]) -> bool:
    """True where an agent was killed while it wrote."""
    with open(path, "rb") as file:
        if file.seek(0, os.SEEK_END) == 0:
            return False
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"
