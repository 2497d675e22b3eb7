"""From blocks back to the messages they were made of: the inverse of a format's parser.

What a log showed of a message is kept whole, so that it can be shown, compared and exported as it
was. Only the cache markers are not part of a block; they are kept apart, by place.
"""

import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from tracer.model.prompt import Block, Kind, Tier

_ABSENT = "absent"
_UNKNOWN_ROLE = "unknown"
_PLAIN = {Kind.TEXT: "text", Kind.TOOL_RESULT: "text", Kind.REASONING: "reasoning"}


class PlacedBlock(NamedTuple):
    """A block and the message it belongs to; None for tools."""

    message_index: int | None
    block: Block


def rebuild_messages(blocks: Iterable[PlacedBlock]) -> list[dict[str, Any] | None]:
    """The message list of a prompt, without cache markers; None stands for each message that no
    record has shown. Tool schemas are left out."""
    messages: list[dict[str, Any] | None] = []
    placed = (b for b in blocks if b.message_index is not None and b.block.tier is not Tier.TOOLS)
    for _, group in groupby(placed, key=lambda b: b.message_index):
        of_message = [b.block for b in group]
        if of_message[0].kind is Kind.GAP:
            messages += [None] * of_message[0].span_messages
        else:
            messages.append(rebuild_message(of_message))
    return messages


def rebuild_message(blocks: Sequence[Block]) -> dict[str, Any]:
    """The message that these blocks stand for, in the form of `request.messages`
    (formats/zcode.md 3.5), without cache markers. The keys' order is not kept."""
    first = blocks[0]
    rest = _object(first.message_json)
    message: dict[str, Any] = {}
    if first.role != _UNKNOWN_ROLE:
        message["role"] = first.role
    calls = [b for b in blocks if b.kind is Kind.TOOL_CALL]
    parts = [b for b in blocks if b.kind is not Kind.TOOL_CALL]
    content = _content(parts) if parts else _no_content(first)
    if content is not _MISSING:
        message["content"] = content
    if calls:
        message["toolCalls"] = [_call(block) for block in calls]
    if first.role == "tool":
        absent = _object(first.extra_json).get(_ABSENT, ())
        names = (("toolName", first.name), ("toolCallId", first.call_id))
        message |= {key: value for key, value in names if key not in absent}
    return message | rest


_MISSING = object()


def _no_content(call: Block) -> Any:
    """The content of a message of nothing but calls."""
    match call.shape.partition(" ")[2]:
        case "absent":
            return _MISSING
        case "null":
            return None
        case "empty-array":
            return []
        case _:
            return ""


def _content(parts: Sequence[Block]) -> Any:
    first = parts[0]
    match first.shape:
        case "absent":
            return _MISSING
        case "null":
            return None
        case "empty-array":
            return []
        case "array":
            return [_element(block) for block in parts]
        case "other" if first.kind is not Kind.UNKNOWN:
            return json.loads(first.text)
        case _:
            # A text of the wire body with keys beside it was an object there.
            return [_element(first)] if _extra(first) else first.text


def _element(block: Block) -> Any:
    plain = _PLAIN.get(block.kind)
    if plain is None:
        return json.loads(block.text)
    return {"type": plain, "text": block.text, **_extra(block)}


def _call(block: Block) -> Any:
    if block.shape.partition(" ")[0] == "other":
        return json.loads(block.text)
    extra = _object(block.extra_json)
    absent = extra.pop(_ABSENT, ())
    fields = {"id": block.call_id, "name": block.name, "input": json.loads(block.text)}
    return {key: value for key, value in fields.items() if key not in absent} | extra


def _extra(block: Block) -> dict[str, Any]:
    """The content block's other keys; the note on absent names is not one of them."""
    extra = _object(block.extra_json)
    if block.role == "tool":
        extra.pop(_ABSENT, None)
    return extra


def _object(text: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(text) if text else {}
    return value
