"""ZCode model I/O records: `rollout/model-io-*.jsonl`, `debug/model-io-*.jsonl`.

One line a finished attempt (formats/zcode.md 3). The message list of a line may be a window of the
whole list; undoing the windows is `tracer.assemble`'s work, not this module's.

Most bytes of a line were in the line before. So a line is scanned once, into slices of it; only
what is small is decoded here, and the rest is left as bytes that the assembly recognises by hash.
"""

import re
from typing import Any

import msgspec

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
from tracer.formats._zcode_blocks import (
    call_block,
    content_block,
    parse_message,
    parse_system,
    parse_tools,
)
from tracer.formats._zcode_usage import reported_usage
from tracer.formats._zcode_wire import BodyWindow, wire_summary
from tracer.model.events import (
    CallError,
    Event,
    ModelCall,
    PromptParsers,
    Status,
    Window,
    WindowKind,
)
from tracer.model.prompt import Block, Kind, Tier
from tracer.model.source import SkipKind, Skipped

_PARSERS = PromptParsers(message=parse_message, tools=parse_tools, system=parse_system)
_EMPTY = msgspec.Raw(b"")
_SECRET_HEADER = re.compile(
    "authorization|api-?key|token|secret|cookie|x-off-peak-ticket-id", re.IGNORECASE
)
_PROMPT_BODY_KEYS = frozenset({"messages", "system", "tools"})
_PARAM_KEYS = ("maxOutputTokens", "temperature", "toolChoice", "providerOptions")
_WINDOW_KEYS = (
    "messageCount", "messagesKind", "messageOffset",
    "bodyMessageCount", "bodyMessagesKind", "bodyMessageOffset",
)  # fmt: skip
_MAX_MESSAGES = 1_000_000
_OPENING = re.compile(rb'\s*\{\s*"(?:completedAt|requestId|type)"\s*:')


class _Request(msgspec.Struct):
    body: dict[str, msgspec.Raw] | str | None = None
    headers: Any = None
    messages: list[msgspec.Raw] | None = None
    messageCount: Any = None  # noqa: N815  (the log's own names)
    messagesKind: Any = None  # noqa: N815
    messageOffset: Any = None  # noqa: N815
    bodyMessageCount: Any = None  # noqa: N815
    bodyMessagesKind: Any = None  # noqa: N815
    bodyMessageOffset: Any = None  # noqa: N815
    toolNames: Any = None  # noqa: N815
    maxOutputTokens: msgspec.Raw = _EMPTY  # noqa: N815
    temperature: msgspec.Raw = _EMPTY
    toolChoice: msgspec.Raw = _EMPTY  # noqa: N815
    providerOptions: msgspec.Raw = _EMPTY  # noqa: N815


class _Type(msgspec.Struct):
    type: Any = None


class _Line(_Type):
    requestId: Any = None  # noqa: N815
    attempt: Any = None
    sessionId: Any = None  # noqa: N815
    traceId: Any = None  # noqa: N815
    turnId: Any = None  # noqa: N815
    querySource: Any = None  # noqa: N815
    model: Any = None
    startedAt: Any = None  # noqa: N815
    completedAt: Any = None  # noqa: N815
    durationMs: Any = None  # noqa: N815
    error: Any = None
    request: _Request | None = None
    response: Any = None
    modelIOReset: Any = None  # noqa: N815


_decode_type = msgspec.json.Decoder(_Type).decode
_decode_line = msgspec.json.Decoder(_Line).decode
_decode_raw_object = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_raw_list = msgspec.json.Decoder(list[msgspec.Raw]).decode


class ZcodeModelIo:
    """The format of ZCode's model I/O records."""

    name = "zcode-model-io"
    agent = "ZCode"
    title = "ZCode model I/O"
    tells = "each attempt's prompt (often windowed), parameters, response and billed usage"

    def sniff(self, head: bytes) -> float:
        """0.9 where a line says it is a model I/O record, less where it only looks like one."""
        best = 0.0
        for line in sniff_lines(head):
            if b"model_io" in line and _says_so(line):
                return 0.9
            if _OPENING.match(line) and b'"requestId"' in line and b'"attempt"' in line:
                best = max(best, 0.7)
        return best

    def parse(self, line: bytes) -> Event | Skipped:
        """The model call of a line, or why it is none."""
        line = strip_line(line)
        try:
            return _parse(line)
        except RecursionError:
            return too_deep(line)


FORMAT = ZcodeModelIo()


def _says_so(line: bytes) -> bool:
    """True where the line is a whole record of this type, and not one that holds such a record."""
    try:
        return text_of(_decode_type(line).type) == "model_io"
    except (ValueError, RecursionError):
        return False


def _parse(line: bytes) -> ModelCall | Skipped:
    try:
        record = _decode_line(line)
    except (ValueError, RecursionError):
        decoded = decode_object(line)
        if isinstance(decoded, Skipped):
            return decoded
        record = _lenient_record(*decoded)
    foreign = _foreign(record)
    if foreign:
        return skipped(SkipKind.FOREIGN_TYPE, foreign, line)
    unbelievable = _unbelievable(record.request)
    if unbelievable:
        return skipped(SkipKind.BAD_FIELD, unbelievable, line)
    return _call(record)


def _foreign(record: _Line) -> str:
    kind = text_of(record.type)
    if kind and kind != "model_io":
        return f"The record is of type {kind!r}, not a model call; it was left out."
    if record.request is None and not isinstance(record.response, dict):
        return "The record has neither a request nor a response; it is not a model call."
    return ""


def _unbelievable(request: _Request | None) -> str:
    """A damaged digit can announce more messages than fit into memory."""
    for name in ("messageCount", "messageOffset"):
        number = int_of(getattr(request, name, None))
        if number is not None and number > _MAX_MESSAGES:
            return f"The record has a {name} of {number:,}, which no list of messages has."
    return ""


def _lenient_record(value: dict[str, Any], line: bytes) -> _Line:
    """A record whose fields have unexpected types: what is readable is read."""
    record = _Line(**{k: value.get(k) for k in _Line.__struct_fields__ if k != "request"})
    request = value.get("request")
    if not isinstance(request, dict):
        return record
    raw = _decode_raw_object(bytes(_decode_raw_object(line)["request"]))
    body, messages = request.get("body"), request.get("messages")
    known = _Request(
        headers=request.get("headers"),
        toolNames=request.get("toolNames"),
    )
    for key in _WINDOW_KEYS:
        setattr(known, key, request.get(key))
    for key in _PARAM_KEYS:
        if key in raw:
            setattr(known, key, raw[key])
    if isinstance(body, dict):
        known.body = _decode_raw_object(bytes(raw["body"]))
    elif isinstance(body, str):
        known.body = body
    if isinstance(messages, list):
        known.messages = _decode_raw_list(bytes(raw["messages"]))
    record.request = known
    return record


def _call(record: _Line) -> ModelCall:
    request = record.request
    response = record.response if isinstance(record.response, dict) else {}
    body = _body(request)
    body_parts = body if isinstance(body, dict) else {}
    headers = _headers(request.headers if request is not None else None)
    provider_id, model_id, model_json = _model(record.model)
    error = _error(record.error)
    started, completed = epoch_ms(record.startedAt), epoch_ms(record.completedAt)
    names = request.toolNames if request is not None else None
    return ModelCall(
        session_id=text_of(record.sessionId) or _header(headers, "x-session-id"),
        request_id=text_of(record.requestId),
        attempt=int_of(record.attempt) or 1,
        window=_window(request),
        parsers=_PARSERS,
        trace_id=text_of(record.traceId) or _header(headers, "x-zcode-trace-id"),
        turn_id=text_of(record.turnId),
        query_source=text_of(record.querySource),
        provider_id=provider_id,
        model_id=model_id,
        model_json=model_json,
        started_at_ms=started if started is not None else completed,
        completed_at_ms=completed,
        duration_ms=int_of(record.durationMs),
        status=_status(error, record.response),
        error=error,
        finish_reason=text_of(response.get("finishReason")),
        returned_model_id=text_of(response.get("modelId")),
        response_id=text_of(response.get("responseId")),
        response_blocks=_response_blocks(response),
        usage=reported_usage(response),
        tools=_tier(body_parts.get("tools")),
        system=_tier(body_parts.get("system")),
        tool_names=tuple(map(text_of, names)) if isinstance(names, list) else (),
        params_json=_params(request, body),
        headers_json=compact(headers) if headers else "",
        reset_json=compact(record.modelIOReset) if record.modelIOReset else "",
        wire_json=_wire(request, body_parts),
    )


def _body(request: _Request | None) -> dict[str, msgspec.Raw] | str | None:
    """The wire body. Where it was logged as a text, its JSON: the writer trims no messages out of a
    text, and they would be kept a second time for every request."""
    body = request.body if request is not None else None
    if isinstance(body, str):
        try:
            return _decode_raw_object(body)
        except (ValueError, RecursionError):
            return body
    return body


def _tier(raw: msgspec.Raw | None) -> bytes:
    """A tier of the wire body; null says nothing, like a missing key."""
    found = bytes(raw) if raw is not None else b""
    return b"" if found == b"null" else found


def _wire(request: _Request | None, body: dict[str, msgspec.Raw]) -> str:
    """The shape of the messages in the wire body, where they were logged."""
    if request is None or "messages" not in body:
        return ""
    window = BodyWindow(
        request.bodyMessagesKind, request.bodyMessageOffset, request.bodyMessageCount
    )
    source = bytes(body.get("bodySource", b"")).decode("utf-8", "replace").strip('"')
    return wire_summary(bytes(body["messages"]), source, window)


def _window(request: _Request | None) -> Window:
    if request is None or request.messages is None:
        count = int_of(request.messageCount) if request is not None else None
        return Window(WindowKind.ABSENT, 0, max(count or 0, 0), ())
    items = tuple(map(bytes, request.messages))
    kind = text_of(request.messagesKind)
    offset = max(int_of(request.messageOffset) or 0, 0)
    count = int_of(request.messageCount)
    if count is None or count < 0:
        count = offset + len(items)
    offset = min(offset, count)
    items = items[: count - offset]  # what stands behind the list's end is not part of it
    if kind == "delta":
        return Window(WindowKind.DELTA, offset, count, items)
    if kind == "tail" or offset > 0:
        return Window(WindowKind.TAIL, offset, count, items)
    return Window(WindowKind.FULL, 0, count, items)


def _model(value: Any) -> tuple[str, str, str]:
    """Provider id, model id and the other keys; older lines hold a plain string."""
    if isinstance(value, dict):
        other = {k: v for k, v in value.items() if k not in ("modelId", "providerId")}
        return (
            text_of(value.get("providerId")),
            text_of(value.get("modelId")),
            compact(other) if other else "",
        )
    provider, _, model = text_of(value).rpartition("/")
    return provider, model, ""


def _error(value: Any) -> CallError | None:
    if isinstance(value, dict):
        return CallError(text_of(value.get("name")), text_of(value.get("message")))
    if isinstance(value, str) and value:
        return CallError("", value)
    return None


def _status(error: CallError | None, response: Any) -> Status:
    if error is None:
        return Status.COMPLETED if isinstance(response, dict) else Status.UNKNOWN
    words = f"{error.name} {error.message}".lower()
    if "cancel" in words or "abort" in words:
        return Status.CANCELLED
    return Status.FAILED


def _headers(value: Any) -> dict[str, str]:
    """Header names in lower case; values that may be secrets are replaced, also those of old
    lines that the agent itself did not scrub (formats/zcode.md 3.10 and 14, case 30)."""
    if not isinstance(value, dict):
        return {}
    return {
        name.lower(): "[redacted]"
        if _SECRET_HEADER.search(name)
        else content
        if isinstance(content, str)
        else compact(content)
        for name, content in value.items()
    }


def _header(headers: dict[str, str], name: str) -> str:
    return headers.get(name, "")


def _response_blocks(response: dict[str, Any]) -> tuple[Block, ...]:
    blocks = []
    for key, kind in (("reasoningText", Kind.REASONING), ("text", Kind.TEXT)):
        if isinstance(response.get(key), str) and response[key]:
            blocks.append(Block(Tier.MESSAGES, "assistant", kind, response[key]))
    calls = response.get("toolCalls")
    if isinstance(calls, list):
        blocks += [call_block(call) for call in calls]
    results = response.get("toolResults")
    if isinstance(results, list):
        blocks += [content_block(Tier.MESSAGES, "assistant", item) for item in results]
    return tuple(blocks)


def _params(request: _Request | None, body: Any) -> str:
    """The request's parameters as one JSON object: everything that is not prompt text."""
    if request is None:
        return ""
    parts: list[bytes] = []
    if isinstance(body, dict):
        inner = [
            compact(k).encode() + b":" + bytes(v)
            for k, v in body.items()
            if k not in _PROMPT_BODY_KEYS
        ]
        if inner:
            parts.append(b'"body":{' + b",".join(inner) + b"}")
    elif isinstance(body, str) and body:
        parts.append(b'"body_text":' + compact(body).encode())
    for key in _PARAM_KEYS:
        value = bytes(getattr(request, key))
        if value:
            parts.append(f'"{key}":'.encode() + value)
    return ("{" + b",".join(parts).decode("utf-8", "replace") + "}") if parts else ""
