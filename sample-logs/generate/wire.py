"""The two renderings a provider adapter makes of canonical messages: wire body and SDK messages."""

from collections.abc import Iterable, Sequence
from typing import Any

from generate.text import Json


def _marker(message: Json) -> Json:
    control = message.get("cacheControl")
    return {"cache_control": dict(control)} if control else {}


def system_blocks(messages: Iterable[Json]) -> list[Json]:
    """Return the leading system messages as `body.system` blocks."""
    blocks: list[Json] = []
    for message in messages:
        if message["role"] != "system":
            break
        blocks.append({"type": "text", "text": message["content"], **_marker(message)})
    return blocks


def wire_messages(messages: Sequence[Json]) -> list[Json]:
    """Return everything behind the leading system messages, adjacent user messages merged."""
    out: list[Json] = []
    for message in messages[len(system_blocks(messages)) :]:
        role = "user" if message["role"] == "tool" else message["role"]
        blocks = _wire_blocks(message)
        if role == "user" and out and out[-1]["role"] == "user":
            out[-1]["content"] += blocks
        else:
            out.append({"role": role, "content": blocks})
    return out


def _wire_blocks(message: Json) -> list[Json]:
    blocks: list[Json] = []
    if message["role"] == "tool":
        blocks.append(
            {
                "type": "tool_result",
                "tool_use_id": message["toolCallId"],
                "content": message["content"],
                **({"is_error": True} if message.get("isError") else {}),
            }
        )
    else:
        blocks += [_wire_block(block) for block in _content_blocks(message)]
    for call in message.get("toolCalls", []):
        name_and_input = {"name": call["name"], "input": call["input"]}
        blocks.append({"type": "tool_use", "id": call["id"], **name_and_input})
    if blocks:
        blocks[-1].update(_marker(message))
    return blocks


def _wire_block(block: Json) -> Json:
    if block["type"] == "reasoning":
        return {"type": "thinking", "thinking": block["text"]}
    if block["type"] == "image":
        data = block["dataUrl"].replace("[dataUrl", "[data")
        kind = block["mediaType"]
        return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}
    return dict(block)


def _content_blocks(message: Json) -> list[Json]:
    content: Any = message["content"]
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return list(content)


def sdk_messages(messages: Iterable[Json]) -> list[Json]:
    """Return the messages in the SDK's form, one for one."""
    return [_sdk_message(message) for message in messages]


def _sdk_message(message: Json) -> Json:
    out: Json = {"role": message["role"]}
    if message["role"] == "system":
        out["content"] = message["content"]
    elif message["role"] == "tool":
        out["content"] = [
            {
                "type": "tool-result",
                "toolCallId": message["toolCallId"],
                "toolName": message["toolName"],
                "output": {
                    "type": "error-text" if message.get("isError") else "text",
                    "value": message["content"],
                },
            }
        ]
    else:
        calls = [
            {
                "type": "tool-call",
                "toolCallId": call["id"],
                "toolName": call["name"],
                "input": call["input"],
            }
            for call in message.get("toolCalls", [])
        ]
        out["content"] = [dict(block) for block in _content_blocks(message)] + calls
    if "cacheControl" in message:
        out["providerOptions"] = {"anthropic": {"cacheControl": dict(message["cacheControl"])}}
    return out
