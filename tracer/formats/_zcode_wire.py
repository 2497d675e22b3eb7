"""The message list of a logged request body, in brief (formats/zcode.md 3.5).

The body holds the prompt a second time: as the provider's serialiser wrote it, or, where the true
body was not to be had, in the SDK's form. Its texts are those of the canonical messages, so only
its shape is kept: how many messages and blocks, where the cache markers stand, and a digest.
"""

from typing import Any, NamedTuple

import msgspec

from tracer.formats._json import compact, int_of, text_of
from tracer.hashing import digest

SDK_SOURCE = "ai_sdk_options"
_EMPTY = msgspec.Raw(b"")


class BodyWindow(NamedTuple):
    """`bodyMessagesKind`, `bodyMessageOffset` and `bodyMessageCount`, as logged."""

    kind: Any = None
    offset: Any = None
    count: Any = None


class _Marked(msgspec.Struct):
    cache_control: msgspec.Raw = _EMPTY
    cacheControl: msgspec.Raw = _EMPTY  # noqa: N815  (the log's own name)
    providerOptions: msgspec.Raw = _EMPTY  # noqa: N815


class _Message(_Marked):
    role: Any = None
    content: msgspec.Raw = _EMPTY


_decode_messages = msgspec.json.Decoder(list[_Message]).decode
_decode_blocks = msgspec.json.Decoder(list[_Marked]).decode
_decode_list = msgspec.json.Decoder(list[msgspec.Raw]).decode


def wire_summary(raw_body_messages: bytes, body_source: str, window: BodyWindow) -> str:
    """The shape of `body.messages` as compact JSON; empty where that is no list of messages.

    `count` is the length of the whole list and `offset` the place of the first message that was
    logged; the message indexes of `markers` count in the whole list.
    """
    if not raw_body_messages.lstrip().startswith(b"["):
        return ""
    try:
        return _summary(raw_body_messages, body_source, window)
    except (ValueError, RecursionError):
        return ""


def _summary(raw: bytes, body_source: str, window: BodyWindow) -> str:
    messages = _decode_messages(raw)
    offset = max(int_of(window.offset) or 0, 0)
    end = offset + len(messages)
    roles: dict[str, int] = {}
    blocks, markers = 0, []
    for index, message in enumerate(messages, offset):
        role = text_of(message.role) or "unknown"
        roles[role] = roles.get(role, 0) + 1
        size, marked = _content(bytes(message.content))
        if not marked and _is_marked(message):
            marked = [max(size - 1, 0)]
        blocks += size
        markers += [[index, block] for block in marked]
    return compact(
        {
            "form": "sdk" if body_source == SDK_SOURCE else "wire",
            "kind": text_of(window.kind) or ("tail" if offset else "full"),
            "offset": offset,
            "count": max(int_of(window.count) or 0, end),
            "messages": len(messages),
            "roles": roles,
            "blocks": blocks,
            "markers": markers,
            "digest": digest(raw).hex(),
        }
    )


def _content(raw: bytes) -> tuple[int, list[int]]:
    """How many blocks the content of a message has, and which of them are marked."""
    if not raw or raw == b"null":
        return 0, []
    if not raw.startswith(b"["):
        return 1, []
    try:
        blocks = _decode_blocks(raw)
    except ValueError:  # some block is no object
        return len(_decode_list(raw)), []
    return len(blocks), [place for place, block in enumerate(blocks) if _is_marked(block)]


def _is_marked(item: _Marked) -> bool:
    """Is there a cache marker, in one of the three ways to write it?"""
    if bytes(item.cache_control).startswith(b"{") or bytes(item.cacheControl).startswith(b"{"):
        return True
    options = bytes(item.providerOptions)
    if b"ache" not in options:
        return False
    found = msgspec.json.decode(options)
    return isinstance(found, dict) and any(
        isinstance(one, dict) and isinstance(one.get(key), dict)
        for one in found.values()
        for key in ("cacheControl", "cache_control")
    )
