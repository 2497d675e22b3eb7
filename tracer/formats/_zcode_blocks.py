"""ZCode's messages, tools and system blocks as prompt blocks (formats/zcode.md 3.5).

`request.messages` holds canonical messages (tool calls beside the content); `request.body` holds
the provider's wire form (`cache_control`, content blocks). Both become the same blocks: a system
text that stands in `messages` and in `body.system` is one block with one hash.
"""

import json
from dataclasses import replace
from typing import Any

import msgspec

from tracer.formats._json import clean, compact, rest_json, text_of
from tracer.model.prompt import Block, Kind, MarkerValue, Message, Tier

_ROLE_KEYS = frozenset({"role", "content", "cacheControl", "cache_control", "toolCalls"})
_TOOL_RESULT_KEYS = _ROLE_KEYS | {"toolCallId", "toolName"}
_CALL_KEYS = frozenset({"id", "name", "input"})
_TEXT_KEYS = frozenset({"type", "text", "cacheControl", "cache_control"})
_MARKER_KEYS = ("cacheControl", "cache_control")
_BLOCK_KINDS = {
    "image": Kind.IMAGE,
    "video": Kind.VIDEO,
    "file": Kind.FILE,
    "resource_link": Kind.RESOURCE_LINK,
}


def decode(raw: bytes) -> Any:
    """The JSON value of raw bytes, lone surrogates replaced. Raises ValueError."""
    try:
        return msgspec.json.decode(raw)
    except msgspec.DecodeError:
        return clean(json.loads(raw))


def parse_message(raw: bytes) -> Message:
    """One canonical message. Raises ValueError where the bytes are no message."""
    value = decode(raw)
    if not isinstance(value, dict):
        raise ValueError("a message is not an object")
    return message_of(value)


def message_of(value: dict[str, Any]) -> Message:
    """The blocks and markers of one canonical message. Whether a system message belongs to the
    system tier depends on its place, which is not known here."""
    role = text_of(value.get("role")) or "unknown"
    tier = Tier.MESSAGES
    content = value.get("content")
    if role == "tool":
        blocks, markers = _tool_result_blocks(value, content)
        message_json = rest_json(value, _TOOL_RESULT_KEYS)
    else:
        calls = value.get("toolCalls")
        blocks, markers = _content_blocks(tier, role, content, bool(calls))
        message_json = rest_json(value, _ROLE_KEYS)
        if isinstance(calls, list):
            blocks += [call_block(call) for call in calls]
        elif calls is not None:
            message_json = rest_json(value, _ROLE_KEYS - {"toolCalls"})
    if message_json:
        blocks[0] = replace(blocks[0], message_json=message_json)
    own = _marker(value, len(blocks) - 1)
    return Message(role, tuple(blocks), tuple(markers + own))


def _content_blocks(
    tier: Tier, role: str, content: Any, has_calls: bool
) -> tuple[list[Block], list[MarkerValue]]:
    if isinstance(content, str):
        if not content and has_calls:
            return [], []
        return [Block(tier, role, Kind.TEXT, content)], []
    if not isinstance(content, list):
        text = "" if content is None else compact(content)
        shape = "absent" if content is None else "other"
        if shape == "absent" and has_calls:
            return [Block(tier, role, Kind.TEXT, "", shape)], []
        return [Block(tier, role, Kind.TEXT, text, shape)], []
    if not content:
        return [Block(tier, role, Kind.TEXT, "", "empty-array")], []
    blocks: list[Block] = []
    markers: list[MarkerValue] = []
    for index, item in enumerate(content):
        blocks.append(content_block(tier, role, item))
        markers += _marker(item, index)
    return blocks, markers


def content_block(tier: Tier, role: str, item: Any) -> Block:
    """One element of a content array. An unknown type keeps its whole JSON as text."""
    if not isinstance(item, dict):
        return Block(tier, role, Kind.UNKNOWN, compact(item), "array")
    kind = text_of(item.get("type"))
    if kind in ("text", "reasoning") and isinstance(item.get("text"), str):
        return Block(
            tier,
            role,
            Kind.TEXT if kind == "text" else Kind.REASONING,
            item["text"],
            "array",
            extra_json=rest_json(item, _TEXT_KEYS),
        )
    body = {k: v for k, v in item.items() if k not in _MARKER_KEYS}
    name = text_of(item.get("name")) or text_of(item.get("uri"))
    return Block(
        tier, role, _BLOCK_KINDS.get(kind, Kind.UNKNOWN), compact(body), "array", name=name
    )


def _tool_result_blocks(
    value: dict[str, Any], content: Any
) -> tuple[list[Block], list[MarkerValue]]:
    name, call_id = text_of(value.get("toolName")), text_of(value.get("toolCallId"))
    blocks, markers = _content_blocks(Tier.MESSAGES, "tool", content, has_calls=False)
    extra = [k for k in ("toolName", "toolCallId") if k not in value]
    note = compact({"absent": extra}) if extra else ""
    results = [
        Block(
            b.tier,
            b.role,
            Kind.TOOL_RESULT if b.kind is Kind.TEXT else b.kind,
            b.text,
            b.shape,
            name,
            call_id,
            b.extra_json or note,
        )
        for b in blocks
    ]
    return results, markers


def call_block(call: Any) -> Block:
    """A tool call beside the content; `input` may be any JSON (formats/zcode.md 14, case 27)."""
    if not isinstance(call, dict):
        return Block(Tier.MESSAGES, "assistant", Kind.TOOL_CALL, compact(call), "other")
    absent = [k for k in ("id", "name", "input") if k not in call]
    extra = rest_json(call, _CALL_KEYS)
    if absent:
        extra = compact({"absent": absent, **(decode(extra.encode()) if extra else {})})
    return Block(
        Tier.MESSAGES,
        "assistant",
        Kind.TOOL_CALL,
        compact(call.get("input")),
        "call",
        name=text_of(call.get("name")),
        call_id=text_of(call.get("id")),
        extra_json=extra,
    )


def _marker(value: Any, block_index: int) -> list[MarkerValue]:
    if not isinstance(value, dict):
        return []
    for key in _MARKER_KEYS:
        marker = value.get(key)
        if isinstance(marker, dict):
            return [
                MarkerValue(
                    max(block_index, 0), text_of(marker.get("ttl")), text_of(marker.get("scope"))
                )
            ]
    return []


def parse_tools(raw: bytes) -> tuple[Message, ...]:
    """The schemas of `body.tools`, one message-like entry a tool. Raises ValueError."""
    value = decode(raw)
    if not isinstance(value, list):
        raise ValueError("the tools are not a list")
    return tuple(_tool(item) for item in value)


def _tool(item: Any) -> Message:
    name = ""
    body = item
    if isinstance(item, dict):
        function = item.get("function")
        name = text_of(item.get("name")) or (
            text_of(function.get("name")) if isinstance(function, dict) else ""
        )
        body = {k: v for k, v in item.items() if k not in _MARKER_KEYS}
    block = Block(Tier.TOOLS, "", Kind.TOOL_SCHEMA, compact(body), "array", name=name)
    return Message("", (block,), tuple(_marker(item, 0)))


def parse_system(raw: bytes) -> tuple[Message, ...]:
    """The system blocks of the wire body, a message each. Raises ValueError."""
    value = decode(raw)
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list):
        raise ValueError("the system prompt is neither a text nor a list")
    return tuple(_system(item) for item in items)


def _system(item: Any) -> Message:
    if isinstance(item, str):
        return Message("system", (Block(Tier.SYSTEM, "system", Kind.TEXT, item),))
    if isinstance(item, dict) and isinstance(item.get("text"), str):
        block = Block(
            Tier.SYSTEM,
            "system",
            Kind.TEXT,
            item["text"],
            extra_json=rest_json(item, _TEXT_KEYS),
        )
        return Message("system", (block,), tuple(_marker(item, 0)))
    block = content_block(Tier.SYSTEM, "system", item)
    return Message("system", (block,), tuple(_marker(item, 0)))
