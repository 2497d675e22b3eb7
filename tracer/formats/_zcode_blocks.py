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
from tracer.model.prompt import NO_CONTENT, Block, Kind, MarkerValue, Message, Tier

_MESSAGE_KEYS = frozenset({"content", "cacheControl", "cache_control"})
_RESULT_NAMES = ("toolName", "toolCallId")
_CALL_NAMES = ("id", "name")
_TEXT_KEYS = frozenset({"type", "text", "cacheControl", "cache_control"})
_MARKER_KEYS = ("cacheControl", "cache_control")
_NO_KEY = object()
_UNKNOWN_ROLE = "unknown"
_ABSENT = "absent"
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
    role = text_of(value.get("role")) or _UNKNOWN_ROLE
    content = value.get("content", _NO_KEY)
    told = _MESSAGE_KEYS if role == _UNKNOWN_ROLE else _MESSAGE_KEYS | {"role"}
    if role == "tool":
        blocks, markers = _tool_result_blocks(value, content)
        told |= _texts(value, _RESULT_NAMES)
    else:
        calls = value.get("toolCalls")
        made = [call_block(call, role) for call in calls] if isinstance(calls, list) else []
        blocks, markers = _content_blocks(Tier.MESSAGES, role, content, bool(made))
        if made:
            blocks = _before_calls(blocks, made) + made
            told |= {"toolCalls"}
    message_json = rest_json(value, told)
    if message_json:
        blocks[0] = replace(blocks[0], message_json=message_json)
    own = _marker(value, len(blocks) - 1)
    return Message(role, tuple(blocks), tuple(markers + own))


def _before_calls(content: list[Block], calls: list[Block]) -> list[Block]:
    """The blocks of the content before calls: none where it holds nothing. Which kind of nothing
    the message said (no content, null, an empty list) is part of the first call's shape."""
    if len(content) != 1 or content[0].shape not in NO_CONTENT:
        return content
    calls[0] = replace(calls[0], shape=f"{calls[0].shape} {content[0].shape}")
    return []


def _texts(value: dict[str, Any], names: tuple[str, ...]) -> frozenset[str]:
    """Those of the keys that hold a text: a block has a field for them, for nothing else."""
    return frozenset(name for name in names if isinstance(value.get(name), str))


def _content_blocks(
    tier: Tier, role: str, content: Any, has_calls: bool
) -> tuple[list[Block], list[MarkerValue]]:
    if isinstance(content, str):
        if not content and has_calls:
            return [], []
        return [Block(tier, role, Kind.TEXT, content)], []
    if content is _NO_KEY:
        return [Block(tier, role, Kind.TEXT, "", "absent")], []
    if content is None:
        return [Block(tier, role, Kind.TEXT, "", "null")], []
    if not isinstance(content, list):
        return [Block(tier, role, Kind.TEXT, compact(content), "other")], []
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
    if kind in ("text", "reasoning") and isinstance(item.get("text"), str) and _ABSENT not in item:
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
    results = [
        Block(
            b.tier,
            b.role,
            Kind.TOOL_RESULT if b.kind is Kind.TEXT else b.kind,
            b.text,
            b.shape,
            name,
            call_id,
            b.extra_json,
        )
        for b in blocks
    ]
    absent = [k for k in _RESULT_NAMES if k not in value]
    if absent:
        results[0] = replace(results[0], extra_json=_with_absent(absent, results[0].extra_json))
    return results, markers


def _with_absent(absent: list[str], extra_json: str) -> str:
    """The other keys of a block, and beside them the names of the keys that it did not have: an
    empty name is another thing than none."""
    return compact({**(decode(extra_json.encode()) if extra_json else {}), _ABSENT: absent})


def call_block(call: Any, role: str = "assistant") -> Block:
    """A tool call beside the content; `input` may be any JSON (formats/zcode.md 14, case 27)."""
    if not isinstance(call, dict) or _ABSENT in call:
        return Block(Tier.MESSAGES, role, Kind.TOOL_CALL, compact(call), "other")
    absent = [k for k in (*_CALL_NAMES, "input") if k not in call]
    extra = rest_json(call, _texts(call, _CALL_NAMES) | {"input"})
    if absent:
        extra = _with_absent(absent, extra)
    return Block(
        Tier.MESSAGES,
        role,
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
    return tuple(tool_of(item) for item in value)


def tool_of(item: Any) -> Message:
    """The schema of one tool and the markers on it."""
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
