"""Model I/O records: one line per finished attempt (formats/zcode.md section 3)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from generate.clock import iso
from generate.entries import Projected
from generate.text import Json, compact_json
from generate.window import DEVELOPMENT_WINDOW, PRODUCTION_WINDOW, Cut, Window
from generate.wire import sdk_messages, system_blocks, wire_messages

MAX_FILE_BYTES = {False: 64 * 1024 * 1024, True: 256 * 1024 * 1024}


@dataclass(frozen=True)
class Attempt:
    """One finished attempt of a model call, as the adapter knows it."""

    request_id: str
    number: int
    started_at: datetime
    completed_at: datetime
    model: Json | str
    model_id: str
    messages: Sequence[Projected]
    tools: Sequence[Json]
    response: Json | None
    headers: Json
    query_source: str | None = None
    session_id: str | None = None
    trace_id: str | None = None
    turn_id: str | None = None
    error: Json | None = None
    wire_body_known: bool = True
    max_output_tokens: int | None = 32000
    options: Json = field(default_factory=dict)
    body_extra: Json = field(default_factory=dict)

    @property
    def duration_ms(self) -> int:
        """Milliseconds from start to end."""
        return round((self.completed_at - self.started_at).total_seconds() * 1000)

    def message_objects(self) -> list[Json]:
        """Return the full canonical list."""
        return [item.message for item in self.messages]


def file_name(session_id: str | None) -> str:
    """Return the name of a session's file; the session id is reduced to safe characters."""
    segment = re.sub(r"[^A-Za-z0-9_-]+", "-", session_id or "").strip("-")[:80]
    return f"model-io-{segment or 'no-session'}.jsonl"


@dataclass
class _File:
    lines: list[str]
    messages: Window
    sdk: Window
    body: Window
    size: int = 0


class ModelIo:
    """The writer of all model I/O files of one agent process."""

    def __init__(self, *, development: bool = False, full_retention: bool = False) -> None:
        self._development = development
        self.full_retention = full_retention
        self._files: dict[str, _File] = {}

    def pretend_size(self, session_id: str, size: int) -> None:
        """Make a session's file count as `size` bytes, so that the next write resets it."""
        self._file(session_id).size = size

    def restart(self) -> None:
        """Forget every window, as a new process does."""
        for file in self._files.values():
            for window in (file.messages, file.sdk, file.body):
                window.reset()

    def files(self) -> dict[str, list[str]]:
        """Return the lines of each file by its path."""
        return {path: list(file.lines) for path, file in self._files.items()}

    def path(self, session_id: str | None) -> str:
        """Return where a session's records go."""
        return f"{'debug' if self._development else 'rollout'}/{file_name(session_id)}"

    def write(self, attempt: Attempt) -> Cut | None:
        """Append one record; return the part of the messages it holds, None for all of them."""
        file = self._file(attempt.session_id)
        reset = self._reset(file)
        if self.full_retention:
            cut, request = None, self._full_request(attempt)
        else:
            cut, request = self._windowed_request(attempt, file)
        line = compact_json(self._record(attempt, request, reset))
        file.lines.append(line)
        file.size += len(line.encode()) + 1
        return cut

    def _file(self, session_id: str | None) -> _File:
        path = self.path(session_id)
        if path not in self._files:
            limit = DEVELOPMENT_WINDOW if self._development else PRODUCTION_WINDOW
            self._files[path] = _File([], Window(limit), Window(limit), Window(limit))
        return self._files[path]

    def _reset(self, file: _File) -> Json | None:
        limit = MAX_FILE_BYTES[self._development]
        if self.full_retention or file.size < limit:
            return None
        previous, file.size = file.size, 0
        file.lines.clear()
        for window in (file.messages, file.sdk, file.body):
            window.reset()
        reason = "session_file_size_limit"
        return {"maxFileBytes": limit, "previousFileBytes": previous, "reason": reason}

    def _record(self, attempt: Attempt, request: Json, reset: Json | None) -> Json:
        response = attempt.response
        if response is not None and not (self._development or self.full_retention):
            response = {key: value for key, value in response.items() if key != "body"}
        record = {
            "completedAt": iso(attempt.completed_at),
            "durationMs": attempt.duration_ms,
            "error": attempt.error,
            "requestId": attempt.request_id,
            "attempt": attempt.number,
            "model": attempt.model,
            "request": request,
            "response": response,
            "sessionId": attempt.session_id,
            "querySource": attempt.query_source,
            "startedAt": iso(attempt.started_at),
            "traceId": attempt.trace_id,
            "turnId": attempt.turn_id,
            "type": "model_io",
            "modelIOReset": reset,
        }
        return {key: value for key, value in record.items() if value is not None}

    def _windowed_request(self, attempt: Attempt, file: _File) -> tuple[Cut, Json]:
        messages = attempt.message_objects()
        body = _body(attempt, messages)
        cut = file.messages.cut(messages)
        request = _request_head(attempt, body)
        request["messages"] = cut.messages
        counts: Json = {"messageCount": len(messages)}
        counts |= {"messagesKind": cut.kind, "messageOffset": cut.offset}
        if self._development:
            sdk = sdk_messages(messages)
            sdk_cut = file.sdk.cut(sdk)
            request["sdkMessages"] = sdk_cut.messages
            counts |= {"sdkMessageCount": len(sdk), "sdkMessagesKind": sdk_cut.kind}
            counts["sdkMessageOffset"] = sdk_cut.offset
        if self._development or attempt.error is not None:
            body_cut = file.body.cut(body["messages"])
            counts |= {"bodyMessageCount": len(body["messages"])}
            counts |= {"bodyMessagesKind": body_cut.kind, "bodyMessageOffset": body_cut.offset}
            body["messages"] = body_cut.messages
        else:
            file.body.reset()
            del body["messages"]
        request["toolNames"] = [tool["name"] for tool in attempt.tools]
        return cut, request | counts

    def _full_request(self, attempt: Attempt) -> Json:
        messages = attempt.message_objects()
        request = _request_head(attempt, _body(attempt, messages))
        request["messages"] = messages
        request["sdkMessages"] = sdk_messages(messages)
        request["toolNames"] = [tool["name"] for tool in attempt.tools]
        return request


def _request_head(attempt: Attempt, body: Json) -> Json:
    head: Json = {"body": body, "headers": attempt.headers}
    if attempt.max_output_tokens is not None:
        head["maxOutputTokens"] = attempt.max_output_tokens
    return head | attempt.options


def _body(attempt: Attempt, messages: list[Json]) -> Json:
    tools = list(attempt.tools)
    if not attempt.wire_body_known:
        body: Json = {"bodySource": "ai_sdk_options", "messages": sdk_messages(messages)}
        body |= {"model": attempt.model_id, "stream": True}
    else:
        body = {"model": attempt.model_id, "max_tokens": attempt.max_output_tokens}
        body |= {"stream": True, "system": system_blocks(messages)}
        body["messages"] = wire_messages(messages)
    if tools:
        body["tools"] = tools
    return body | attempt.body_extra
