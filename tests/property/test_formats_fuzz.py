"""No line, however damaged, makes a format raise, or give what cannot be stored.

What a format gives is walked through: every text can be encoded, every number fits a database, and
the parts that are parsed later raise nothing but what their contract names.
"""

import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import fields, is_dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.samples import sample_lines
from tracer.anatomy.parts import part_of
from tracer.assemble.usage import normalise
from tracer.formats import Format, all_formats, detect
from tracer.formats._skeleton import FORMAT as SKELETON
from tracer.hashing import norm_hash, wire_hash
from tracer.ingest.titles import title_of
from tracer.model.events import Event, LogEvent, ModelCall
from tracer.model.prompt import Message
from tracer.model.source import Skipped

FORMATS = (*all_formats(), SKELETON)
INT64 = range(-(2**63), 2**63)

# Values that take the place of others: wrong types, and numbers at the edges.
ODD_VALUES: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, False, 0, -1, 1.5, 2**31, 2**53, 2**63, 10**30, -(10**30), 1e300, "", "x", "12"]
    + ["[Redacted]", "2026-01-05T09:00:00Z", "\ud83d", "\U0001f600", "\0", [], {}, [None], [[]]]
    + [{"": ""}, {"type": "text"}, {"role": "user"}, ["x", {"a": 1}]]
)
JSON = st.recursive(
    ODD_VALUES | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)


def check(line: bytes) -> None:
    """Parse a line with every format, and use what comes out as the ingest does."""
    detect(line)
    for log_format in FORMATS:
        event = log_format.parse(line)
        check_value(event)
        if isinstance(event, Skipped):
            assert event.reason.endswith(".") and len(event.excerpt) <= 200
        elif isinstance(event, ModelCall):
            check_call(event)
        else:
            assert isinstance(event, LogEvent)
            for text in (event.context_json, event.error_json):
                assert not text or json.loads(text) is not ...


def check_value(value: object) -> None:
    """Every text in it can be stored as UTF-8, and every number as 64 bits."""
    if isinstance(value, str):
        value.encode("utf-8")
    elif isinstance(value, int) and not isinstance(value, bool):
        assert value in INT64
    elif isinstance(value, tuple):
        for inner in value:
            check_value(inner)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            check_value(getattr(value, field.name))


def check_call(call: ModelCall) -> None:
    """A call's window is possible, and its raw parts become blocks or raise ValueError."""
    window = call.window
    assert 0 <= window.offset <= window.offset + len(window.items) <= window.count
    assert call.attempt in INT64
    for message in messages_of(call):
        assert message.blocks
        check_value(message)
        for block in message.blocks:
            wire_hash(block)
            norm_hash(block)
            part_of(block)
    title_of(call).encode("utf-8")
    for text in (call.params_json, call.headers_json, call.reset_json, call.model_json):
        assert not text or json.loads(text)
    if call.usage:
        usage = normalise(call.usage)
        check_value(usage)
        shares = (usage.fresh_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
        known = [n for n in shares if n is not None]
        if usage.input_tokens is not None and len(known) == 3 and min(known) > 0:
            assert usage.input_tokens == sum(known)


def messages_of(call: ModelCall) -> Iterator[Message]:
    for raw in call.window.items:
        try:
            yield call.parsers.message(raw)
        except (ValueError, RecursionError):
            continue
    for raw, parse in ((call.tools, call.parsers.tools), (call.system, call.parsers.system)):
        try:
            yield from parse(raw) if raw else ()
        except (ValueError, RecursionError):
            continue


@settings(max_examples=200)
@given(st.binary(max_size=64))
def test_any_bytes_are_taken(line: bytes) -> None:
    check(line)


@given(st.binary(max_size=20), st.sampled_from([b"{", b'{"type":"model_io","request":{', b'{"']))
def test_any_bytes_after_a_good_beginning_are_taken(tail: bytes, head: bytes) -> None:
    check(head + tail)


@settings(max_examples=200)
@given(JSON)
def test_any_json_is_an_event_or_has_a_reason(value: Any) -> None:
    check(json.dumps(value).encode())


RECORD_KEYS = [
    "attempt",
    "completedAt",
    "durationMs",
    "error",
    "model",
    "modelIOReset",
    "querySource",
    "requestId",
    "response",
    "sessionId",
    "startedAt",
    "traceId",
    "turnId",
]
REQUEST_KEYS = [
    "body",
    "headers",
    "maxOutputTokens",
    "messageCount",
    "messageOffset",
    "messages",
    "messagesKind",
    "toolNames",
]
RESPONSE_KEYS = [
    "finishReason",
    "modelId",
    "providerMetadata",
    "reasoningText",
    "responseId",
    "text",
    "toolCalls",
    "toolResults",
    "usage",
]
LOG_KEYS = [
    "context",
    "durationMs",
    "error",
    "event",
    "message",
    "module",
    "sessionId",
    "spanId",
    "status",
    "timestamp",
    "traceId",
    "turnId",
]


def objects(keys: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with the format's own keys and anything as their values."""
    return st.dictionaries(st.sampled_from(keys), JSON, max_size=5)


@settings(max_examples=200)
@given(objects(RECORD_KEYS), objects(REQUEST_KEYS), objects(RESPONSE_KEYS))
def test_any_values_in_the_fields_of_a_record_are_taken(
    record: dict[str, Any], request: dict[str, Any], response: dict[str, Any]
) -> None:
    line = {"type": "model_io", "request": request, "response": response} | record
    check(json.dumps(line).encode())


USAGE_KEYS = ["inputTokens", "outputTokens", "totalTokens", "cacheReadTokens", "cacheWriteTokens"]


@given(st.dictionaries(st.sampled_from(USAGE_KEYS), st.integers(-2, 5) | ODD_VALUES))
def test_any_usage_is_taken_and_adds_up(usage: dict[str, Any]) -> None:
    check(json.dumps({"type": "model_io", "response": {"usage": usage}}).encode())


@settings(max_examples=200)
@given(objects(LOG_KEYS), st.sampled_from(["context.built", "context_usage_snapshot", "x"]), JSON)
def test_any_values_in_the_fields_of_a_log_line_are_taken(
    fields_of: dict[str, Any], event: str, context: Any
) -> None:
    names = ("sections", "categories", "categoryBreakdown", "messageBreakdown", "requestId")
    line: dict[str, Any] = {"timestamp": "2026-01-05T09:00:00Z", "level": "info", "event": event}
    line |= {"context": dict.fromkeys(names, context)} | fields_of
    check(json.dumps(line).encode())


@st.composite
def damaged_lines(draw: st.DrawFn) -> bytes:
    """A sample line whose bytes were cut, flipped, dropped, doubled or mixed with another's."""
    lines = sample_lines()
    line = draw(st.sampled_from(lines))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(line)))
        size = draw(st.integers(0, 40))
        match draw(st.sampled_from(["cut", "flip", "drop", "double", "insert", "mix"])):
            case "cut":
                line = line[:at]
            case "flip" if at < len(line):
                line = line[:at] + bytes([line[at] ^ 1 << draw(st.integers(0, 7))]) + line[at + 1 :]
            case "drop":
                line = line[:at] + line[at + size :]
            case "double":
                line = line[: at + size] + line[at:]
            case "insert":
                odd = (
                    b"\xff",
                    b"\0",
                    b"\\ud83d",
                    b'"',
                    b"{",
                    b"]",
                    b"9" * 25,
                    b"e999",
                    b"\xed\xa0",
                )
                line = line[:at] + draw(st.sampled_from(odd)) + line[at:]
            case "mix":
                line = line[:at] + draw(st.sampled_from(lines))[at:]
    return line


@settings(max_examples=300, deadline=None)
@given(damaged_lines())
def test_a_damaged_sample_line_is_taken(line: bytes) -> None:
    check(line)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of everything inside a JSON value."""
    inner: Any = ()
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    for key, below in inner:
        yield (*path, key)
        yield from places(below, (*path, key))


@st.composite
def altered_lines(draw: st.DrawFn) -> bytes:
    """A sample line in which keys were deleted, or values replaced by some of another type."""
    while True:
        try:
            value = json.loads(draw(st.sampled_from(sample_lines())).lstrip(b"\xef\xbb\xbf"))
        except ValueError:
            continue
        if isinstance(value, dict):
            break
    for _ in range(draw(st.integers(1, 4))):
        known = list(places(value))
        if not known:
            break
        *path, key = draw(st.sampled_from(known))
        holder = value
        for step in path:
            holder = holder[step]
        if draw(st.booleans()):
            del holder[key]
        else:
            holder[key] = deepcopy(draw(ODD_VALUES))
    return json.dumps(value, ensure_ascii=draw(st.booleans())).encode("utf-8", "surrogatepass")


@settings(max_examples=300, deadline=None)
@given(altered_lines())
def test_a_sample_line_with_other_values_is_taken(line: bytes) -> None:
    check(line)


@pytest.mark.parametrize("log_format", FORMATS, ids=lambda f: f.name)
def test_an_event_depends_on_its_line_only(log_format: Format) -> None:
    once: list[Event | Skipped] = [log_format.parse(line) for line in sample_lines()]
    again = [log_format.parse(line) for line in reversed(sample_lines())]
    assert once == again[::-1]
