"""The prompt of a `context.built` line: its segments, its messages, its tools.

Content is what the model is sent; everything else that a message says of itself (its id, its kind,
what it covers) stands beside the content as a note. So a message that moves to another segment, or
is written again under another id, is still the same message of the same prompt.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

import msgspec

from tracer.formats._json import compact, int_of, text_of
from tracer.formats._zcode_blocks import decode, message_of, parse_system, tool_of
from tracer.model.events import PromptParsers, RawItem
from tracer.model.prompt import Message
from tracer.model.segments import MessageNote, Outline, PromptLayout, Segment, ToolNote

SEGMENTS_14 = "segments-14"
PREFIX_SEGMENTS = 6
STABLE, DYNAMIC = "stable", "dynamic"
_WIRE_KEYS = frozenset(
    "role content toolCalls toolCallId toolName isError cacheControl cache_control".split()  # noqa: SIM905
)
_TEXT_KEYS = ("id", "kind", "scope", "mode", "reason", "capability", "skill")
_NOTE_KEYS = frozenset({*_TEXT_KEYS, "state", "patch", "covers"})
_TOOL_NOTE = "capability"
_NOTHING = b"null"
_KEPT_LISTS = 16
_MAX_KEPT_BYTES = 128 << 10


class _Listed(NamedTuple):
    """The messages of a list, the id of each or the one that it refers to, and a byte for each: 1
    for a reference."""

    items: tuple[RawItem, ...]
    ids: tuple[str, ...]
    refs: bytes


class _Head(msgspec.Struct):
    id: Any = None
    ref: Any = None


class _Named(msgspec.Struct, gc=False):
    id: str = ""
    ref: str = ""


class _Segment(msgspec.Struct):
    n: Any = None
    messages: msgspec.Raw = msgspec.Raw(b"[]")


class _ToolHead(msgspec.Struct):
    name: Any = None
    capability: Any = None


_decode_head = msgspec.json.Decoder(_Head).decode
_decode_all_named = msgspec.json.Decoder(list[_Named]).decode
_decode_segment = msgspec.json.Decoder(_Segment).decode
_decode_tool_head = msgspec.json.Decoder(_ToolHead).decode
_decode_list = msgspec.json.Decoder(list[msgspec.Raw]).decode
_decode_object = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def raw_object(data: bytes) -> dict[str, bytes]:
    """The values of an object as the bytes that they stand in."""
    return {key: bytes(raw) for key, raw in _decode_object(data).items()}


def outline_of(
    layout: str,
    raw: dict[str, bytes],
    tools: tuple[ToolNote, ...],
    extra_json: str,
) -> tuple[Outline, tuple[RawItem, ...]]:
    """What stands beside the messages, and the messages themselves."""
    segments: list[Segment] = []
    lists: list[_Listed] = []
    total = 0
    for element in _elements(raw.get("segments")):
        number, listed = _segment(element)
        segments.append(Segment(number, total, len(listed.items)))
        lists.append(listed)
        total += len(listed.items)
    if "segments" not in raw:
        lists.append(_listed(raw.get("messages", _NOTHING)))
    items, ids, refs = zip(*lists, strict=True) if lists else ((), (), ())
    outline = Outline(
        PromptLayout(layout, tuple(segments), tools),
        tuple(chain.from_iterable(ids)),
        b"".join(refs),
        _prefix_messages(segments) if layout == SEGMENTS_14 else None,
        extra_json,
    )
    return outline, tuple(chain.from_iterable(items))


def _elements(raw: bytes | None) -> list[RawItem]:
    """The elements of a list; what is no list is one element, so that it is shown."""
    if raw is None or raw == _NOTHING:
        return []
    try:
        return [bytes(item) for item in _decode_list(raw)]
    except (ValueError, RecursionError):
        return [raw]


def _segment(raw: RawItem) -> tuple[int, _Listed]:
    """Number and messages; what is no segment is one message in segment 0."""
    try:
        segment = _decode_segment(raw)
    except (ValueError, RecursionError):
        return 0, _named([raw])
    messages = bytes(segment.messages)
    if not messages.startswith(b"["):
        return 0, _named([raw])
    return int_of(segment.n) or 0, _listed(messages)


def _listed(raw: bytes) -> _Listed:
    """The messages of a list. The list of a segment mostly stands in the next record, too."""
    return _read_list_once(raw) if len(raw) <= _MAX_KEPT_BYTES else _read_list(raw)


def _read_list(raw: bytes) -> _Listed:
    items = _elements(raw)
    try:
        names = _decode_all_named(raw)
    except (ValueError, RecursionError):
        return _named(items)
    return _list_of(items, [(each.ref, each.id) for each in names])


_read_list_once = lru_cache(maxsize=_KEPT_LISTS)(_read_list)


def _named(items: Sequence[RawItem]) -> _Listed:
    """The same where not all of the items are objects whose names are texts."""
    heads = [_head(item) for item in items]
    return _list_of(items, [(text_of(head.ref), text_of(head.id)) for head in heads])


def _list_of(items: Sequence[RawItem], names: Sequence[tuple[str, str]]) -> _Listed:
    return _Listed(
        tuple(items),
        tuple([ref or own for ref, own in names]),
        bytes([bool(ref) for ref, _ in names]),
    )


def _head(raw: RawItem) -> _Head:
    try:
        return _decode_head(raw)
    except (ValueError, RecursionError):
        return _Head()


def _prefix_messages(segments: Sequence[Segment]) -> int:
    """Messages in the segments of the prefix that stand at the head. A World State diff that
    follows a summary is history, although both are the system's."""
    count = 0
    for segment in segments:
        if not 1 <= segment.n <= PREFIX_SEGMENTS:
            break
        count += segment.messages
    return count


def tools_of(raw: bytes | None) -> tuple[RawItem, tuple[ToolNote, ...]]:
    """The tools in the order of the wire as one list, and what is said beside their schemas."""
    found: list[tuple[str, RawItem]] = []
    order: list[str] = []
    if raw is not None and raw != _NOTHING:
        try:
            groups = raw_object(raw)
        except (ValueError, RecursionError):
            found = [("", item) for item in _elements(raw)]
        else:
            for group in (STABLE, DYNAMIC):
                found += [(group, item) for item in _elements(groups.get(group))]
            order = _names(groups.get("order"))
    heads = [_tool_head(item) for _, item in found]
    names = [text_of(head.name) for head in heads]
    places = _in_order(names, order)
    notes = tuple(ToolNote(names[i], found[i][0], text_of(heads[i].capability)) for i in places)
    joined = b"[" + b",".join(found[i][1] for i in places) + b"]"
    return (joined if raw is not None else b""), notes


def _names(raw: bytes | None) -> list[str]:
    try:
        value = decode(raw) if raw is not None else None
    except (ValueError, RecursionError):
        return []
    return [text_of(name) for name in value] if isinstance(value, list) else []


def _in_order(names: Sequence[str], order: Sequence[str]) -> list[int]:
    """Places of the tools in the given order; those that it does not name come last."""
    left = list(range(len(names)))
    placed = []
    for name in order:
        found = next((i for i in left if names[i] == name), None)
        if found is not None:
            left.remove(found)
            placed.append(found)
    return placed + left


def _tool_head(raw: RawItem) -> _ToolHead:
    try:
        return _decode_tool_head(raw)
    except (ValueError, RecursionError):
        return _ToolHead()


def parse_tools(raw: RawItem) -> tuple[Message, ...]:
    """The schemas without what is said beside them. Raises ValueError."""
    value = decode(raw)
    if not isinstance(value, list):
        raise ValueError("the tools are not a list")
    return tuple(
        tool_of({k: v for k, v in item.items() if k != _TOOL_NOTE})
        if isinstance(item, dict)
        else tool_of(item)
        for item in value
    )


def parse_message(raw: RawItem) -> Message:
    """The content of one message. A World State without a text has that of its object."""
    value = _message(raw)
    wire = {k: v for k, v in value.items() if k in _WIRE_KEYS}
    said = value.get("state", value.get("patch"))
    if "content" not in wire and said is not None:
        wire["content"] = compact(said)
    return message_of(wire)


def parse_note(raw: RawItem) -> MessageNote:
    """What a message says of itself beside its content. Raises ValueError."""
    value = _message(raw)
    rest = {k: v for k, v in value.items() if k not in _WIRE_KEYS and k not in _NOTE_KEYS}
    texts = {k: text_of(value.get(k)) for k in _TEXT_KEYS}
    covers = value.get("covers")
    rest |= {k: value[k] for k in _TEXT_KEYS if k in value and not isinstance(value[k], str)}
    return MessageNote(
        **texts,
        state=_object(value.get("state")),
        patch=_object(value.get("patch")),
        covers=tuple(text_of(c) for c in covers) if isinstance(covers, list) else (),
        extra_json=compact(rest) if rest else "",
    )


def _message(raw: RawItem) -> dict[str, Any]:
    value = decode(raw)
    if not isinstance(value, dict):
        raise ValueError("a message is not an object")
    return value


def _object(value: Any) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None


PARSERS = PromptParsers(
    message=parse_message, tools=parse_tools, system=parse_system, note=parse_note
)
