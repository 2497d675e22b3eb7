"""A message as the agent renders it when it measures it: JSON of five keys.

`{role, content, toolCalls, toolCallId, toolName}` as JavaScript's JSON.stringify writes it, absent
keys left out (formats/zcode.md 2.7). Only its length and its ideographs matter, and both are those
of the original: parts that are JSON already are taken as they are. Two things were lost before: the
halves of surrogate pairs that the log cut (one character here, six there), and numbers that the
log's reader writes in another form.
"""

import json
from collections.abc import Sequence
from functools import lru_cache
from json.encoder import encode_basestring

import msgspec

from tracer.model.prompt import NO_CONTENT, Block, Kind

_encode = msgspec.json.Encoder().encode
_ABSENT = "absent"


def render_message(blocks: Sequence[Block]) -> str:
    """The JSON text of one message, from its blocks in order."""
    first = blocks[0]
    if len(blocks) == 1 and first.kind is not Kind.TOOL_CALL:
        calls, parts = [], list(blocks)
    else:
        calls = [b for b in blocks if b.kind is Kind.TOOL_CALL]
        parts = [b for b in blocks if b.kind is not Kind.TOOL_CALL]
    fields = [("role", _word(first.role))] if first.role != "unknown" else []
    content = _content(parts) if parts else _no_content(first.shape.partition(" ")[2])
    if content is not None:
        fields.append(("content", content))
    if calls:
        fields.append(("toolCalls", _array([_call(block) for block in calls])))
    if first.role == "tool":
        absent = _notes(first)[1]
        names = (("toolCallId", first.call_id), ("toolName", first.name))
        fields += [(key, _text(value)) for key, value in names if key not in absent]
    return _object(fields)


def _no_content(shape: str) -> str | None:
    """The JSON of a content that holds nothing, of a message of nothing but calls, too."""
    return {_ABSENT: None, "null": "null", "empty-array": "[]"}.get(shape, '""')


def _content(parts: Sequence[Block]) -> str | None:
    first = parts[0]
    if first.shape == "array":
        return _array([_element(block) for block in parts])
    if first.shape in NO_CONTENT:
        return _no_content(first.shape)
    if first.shape == "other" and first.kind is not Kind.UNKNOWN:
        return first.text
    return _text(first.text)


def _element(block: Block) -> str:
    if block.kind in (Kind.TEXT, Kind.TOOL_RESULT, Kind.REASONING):
        kind = "reasoning" if block.kind is Kind.REASONING else "text"
        fields = [("type", _word(kind)), ("text", _text(block.text))]
        return _object([*fields, *_notes(block)[0]])
    return block.text


def _call(block: Block) -> str:
    if not _is_call(block):
        return block.text
    extra, absent = _notes(block)
    fields = (("id", _text(block.call_id)), ("name", _text(block.name)), ("input", block.text))
    left_out = absent | {key for key, _ in extra}  # an id that is no text stands among the extra
    return _object([*(f for f in fields if f[0] not in left_out), *extra])


def _is_call(block: Block) -> bool:
    return block.shape.partition(" ")[0] == "call"


def _notes(block: Block) -> tuple[list[tuple[str, str]], frozenset[str]]:
    """A block's other keys as JSON, and the names of the keys that it did not have."""
    if not block.extra_json:
        return [], frozenset()
    extra = json.loads(block.extra_json)
    absent = extra.pop(_ABSENT, ()) if block.role == "tool" or _is_call(block) else ()
    return [(key, _json(value)) for key, value in extra.items()], frozenset(absent)


def _text(value: str) -> str:
    """What json.dumps makes of a text."""
    try:
        return _encode(value).decode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return encode_basestring(value)


@lru_cache(maxsize=256)
def _word(value: str) -> str:
    """The same of a key, a role or a kind: there are few of them."""
    return _text(value)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _array(items: Sequence[str]) -> str:
    return f"[{','.join(items)}]"


def _object(fields: Sequence[tuple[str, str]]) -> str:
    return "{" + ",".join([f"{_word(key)}:{value}" for key, value in fields]) + "}"
