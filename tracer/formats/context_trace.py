"""The open trace format: what any agent can write of its prompts (docs/formats/context-trace.md).

A `context.built` line is a model call that was not answered yet; its answer comes as a
`request.completed` line, which is tied to it when the session is put together. A message that an
earlier line has carried may be given by its id alone: resolving that needs what was read before,
so it is not this module's work. Every other line is an event, known or not.
"""

import re
from typing import Any

import msgspec

from tracer.formats._context_trace_events import call_error, event_of, reported_usage
from tracer.formats._context_trace_prompt import PARSERS, outline_of, raw_object, tools_of
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
from tracer.model.events import Event, ModelCall, Window, WindowKind
from tracer.model.source import SkipKind, Skipped

__all__ = ["BUILT", "FORMAT", "ContextTrace", "call_error", "reported_usage"]

BUILT = "context.built"
_BUILT = b'"context.built"'
_PARTS = frozenset({"tools", "segments", "messages"})
_VERSION = re.compile(rb'"v"\s*:\s*\d')
_EVENT = re.compile(rb'"event"\s*:\s*"')
_OTHERS = (b'"level"', b'"payload"', b'"sequenceNumber"')
_ENVELOPE_BYTES = 250
_BUILT_KEYS = frozenset(
    {"event", "v", "timestamp", "sessionId", "runId", "requestId", "attempt", "traceId", "layout"}
    | {"model", "querySource", "parameters", *_PARTS}
)
_MODEL_IDS = ("providerId", "modelId")


class _Envelope(msgspec.Struct):
    event: Any = None
    v: Any = None
    level: Any = None


_decode_envelope = msgspec.json.Decoder(_Envelope).decode


class ContextTrace:
    """The open format for agents that have none of their own."""

    name = "context-trace"
    agent = "Open format"
    title = "Open format: context trace"
    tells = "each request's prompt, often in segments, with usage, run by run, and what happened"

    def sniff(self, head: bytes) -> float:
        """0.9 where a line names an event and a version of this format; 0.8 where the line is cut
        before its end and its beginning does."""
        best = 0.0
        for line in sniff_lines(head):
            if not line.startswith(b"{"):
                continue
            try:
                envelope = _decode_envelope(line)
            except (ValueError, RecursionError):
                begin = line[:_ENVELOPE_BYTES]
                if _EVENT.search(begin) and _VERSION.search(begin) and not _foreign(begin):
                    best = max(best, 0.8)
                continue
            if _is_one(envelope.event, envelope.v) and envelope.level is None:
                return 0.9
        return best

    def parse(self, line: bytes) -> Event | Skipped:
        """The model call or the event of a line, or why it is none."""
        line = strip_line(line)
        built = _built(line)
        if built is not None and _is_one(BUILT, built[0].get("v")):
            return _call(*built, line)
        decoded = decode_object(line)
        if isinstance(decoded, Skipped):
            return decoded
        value, data = decoded
        if not _is_one(value.get("event"), value.get("v")):
            return skipped(
                SkipKind.FOREIGN_TYPE,
                "The line names no event, or no version `v` of the format; it was left out.",
                line,
            )
        try:
            if value["event"] == BUILT:
                return _call(value, raw_object(data), line)
            return event_of(value)
        except RecursionError:
            return too_deep(line)


FORMAT = ContextTrace()


def _is_one(event: Any, version: Any) -> bool:
    return bool(text_of(event)) and int_of(version) is not None


def _foreign(begin: bytes) -> bool:
    return any(mark in begin for mark in _OTHERS)


def _built(line: bytes) -> tuple[dict[str, Any], dict[str, bytes]] | None:
    """The fields of a prompt's line but for its messages and tools, and all of its values as bytes.
    None for any other line, and for one that has to be read with more care.

    Most of such a line are references: reading each into an object costs more than all the rest.
    """
    if _BUILT not in line:
        return None
    try:
        raw = raw_object(line)
        if raw.get("event") != _BUILT:
            return None
        line.decode()  # what is not read into an object is not known to be UTF-8
        return {k: msgspec.json.decode(v) for k, v in raw.items() if k not in _PARTS}, raw
    except (ValueError, RecursionError):
        return None


def _call(value: dict[str, Any], raw: dict[str, bytes], line: bytes) -> ModelCall | Skipped:
    session, request = text_of(value.get("sessionId")), text_of(value.get("requestId"))
    if not session or not request:
        missing = "requestId" if session else "sessionId"
        return skipped(
            SkipKind.BAD_FIELD,
            f"The prompt has no {missing}, so nothing can be tied to it; it was left out.",
            line,
        )
    tools, notes = tools_of(raw.get("tools"))
    rest = {k: v for k, v in value.items() if k not in _BUILT_KEYS}
    layout = text_of(value.get("layout"))
    outline, items = outline_of(layout, raw, notes, compact(rest) if rest else "")
    model = value.get("model")
    fields: dict[str, Any] = model if isinstance(model, dict) else {"modelId": model}
    others = {k: v for k, v in fields.items() if k not in _MODEL_IDS}
    at_ms = epoch_ms(value.get("timestamp"))
    parameters = value.get("parameters")
    return ModelCall(
        session_id=session,
        request_id=request,
        attempt=int_of(value.get("attempt")) or 1,
        window=Window(WindowKind.FULL, 0, len(items), items),
        parsers=PARSERS,
        trace_id=text_of(value.get("traceId")),
        turn_id=text_of(value.get("runId")),
        query_source=text_of(value.get("querySource")),
        provider_id=text_of(fields.get("providerId")),
        model_id=text_of(fields.get("modelId")),
        model_json=compact(others) if others else "",
        started_at_ms=at_ms,
        tools=tools,
        params_json=compact({"body": parameters}) if isinstance(parameters, dict) else "",
        outline=outline,
    )
