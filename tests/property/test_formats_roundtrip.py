"""Blocks keep everything that a message said: it can be put together from them again."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rebuild import PlacedBlock, rebuild_message, rebuild_messages
from tests.samples import all_samples
from tracer.formats import all_formats
from tracer.formats._json import clean
from tracer.formats._zcode_blocks import parse_message, parse_system, parse_tools
from tracer.hashing import wire_hash
from tracer.model.events import ModelCall
from tracer.model.prompt import Block, Kind, Tier

MARKER = {"type": "ephemeral"}
MARKER_KEYS = frozenset({"cacheControl", "cache_control"})

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
# The formats' own keys, so that they turn up in unusual places and with unusual values.
KEYS = st.sampled_from(
    ["type", "text", "id", "name", "input", "uri", "role", "content", "toolCalls", "toolName"]
    + ["toolCallId", "isError", "modelId", "providerOptions", "absent", "dataUrl", "other"]
)
OBJECTS = st.dictionaries(KEYS, JSON, max_size=5)
TYPES = st.sampled_from(["text", "reasoning", "image", "video", "file", "resource_link", "new"])
ELEMENTS = st.one_of(
    JSON,
    OBJECTS,
    st.builds(lambda text: {"type": "text", "text": text}, TEXTS),
    st.builds(lambda kind, rest: rest | {"type": kind}, TYPES, OBJECTS),
)
CALLS = JSON | OBJECTS | st.builds(lambda rest: rest | {"id": "1", "name": "R"}, OBJECTS)
ROLES = st.sampled_from(["system", "user", "assistant", "tool", "developer", "unknown", ""])


@st.composite
def messages(draw: st.DrawFn) -> dict[str, Any]:
    """Anything that can stand where a message is expected, mostly much like one."""
    message = draw(OBJECTS)
    if draw(st.booleans()):
        message["content"] = draw(TEXTS | JSON | st.lists(ELEMENTS, max_size=3))
    if draw(st.booleans()):
        message["toolCalls"] = draw(st.lists(CALLS, max_size=3))
    if draw(st.integers(0, 9)):
        message["role"] = draw(ROLES)
    return message


def encode(value: Any) -> bytes:
    return json.dumps(value).encode()


def same(one: Any, other: Any) -> bool:
    """Equal as JSON, where 1 is not true."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def marked(value: Any, places: list[bool]) -> Any:
    """The value with cache markers on some of the objects where markers can stand."""
    turn = iter(places)
    if isinstance(value.get("content"), list):
        content = [
            {**element, "cacheControl": MARKER}
            if isinstance(element, dict) and next(turn, False)
            else element
            for element in value["content"]
        ]
        value = {**value, "content": content}
    return {**value, "cacheControl": MARKER} if next(turn, False) else value


def without_markers(message: dict[str, Any]) -> dict[str, Any]:
    """A message as the log shows it, but for its markers."""
    bare = {k: v for k, v in message.items() if k not in MARKER_KEYS}
    if isinstance(bare.get("content"), list):
        bare["content"] = [
            {k: v for k, v in item.items() if k not in MARKER_KEYS}
            if isinstance(item, dict)
            else item
            for item in bare["content"]
        ]
    return bare


@settings(max_examples=400)
@given(messages())
def test_a_message_can_be_put_together_again(message: dict[str, Any]) -> None:
    assert same(rebuild_message(parse_message(encode(message)).blocks), message)


@settings(max_examples=200)
@given(messages(), messages())
def test_two_messages_have_equal_hashes_only_where_they_are_equal(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    hashes = [[wire_hash(b) for b in parse_message(encode(m)).blocks] for m in (one, other)]
    if hashes[0] == hashes[1]:
        assert same(one, other)


@given(messages(), st.lists(st.booleans(), min_size=1, max_size=4))
def test_markers_change_nothing_but_the_list_of_markers(
    message: dict[str, Any], places: list[bool]
) -> None:
    bare, with_markers = (parse_message(encode(m)) for m in (message, marked(message, places)))
    assert bare.blocks == with_markers.blocks
    assert bare.markers == ()
    assert all(0 <= marker.block_index < len(bare.blocks) for marker in with_markers.markers)


@given(st.lists(OBJECTS | JSON, max_size=4))
def test_tools_are_kept_in_order(tools: list[Any]) -> None:
    found = [message.blocks for message in parse_tools(encode(tools))]
    assert [json.loads(block.text) for (block,) in found] == tools
    assert all(block.tier is Tier.TOOLS for (block,) in found)


@given(st.lists(TEXTS, max_size=4))
def test_system_texts_are_equal_in_the_body_and_in_the_messages(texts: list[str]) -> None:
    body = [{"type": "text", "text": text, "cache_control": MARKER} for text in texts]
    of_body = [message.blocks[0] for message in parse_system(encode(body))]
    assert of_body == [Block(Tier.SYSTEM, "system", Kind.TEXT, text) for text in texts]
    for text, block in zip(texts, of_body, strict=True):
        (own,) = parse_message(encode({"role": "system", "content": text})).blocks
        assert (own.text, own.shape, own.extra_json) == (block.text, block.shape, block.extra_json)


@given(st.lists(messages(), max_size=4), st.integers(0, 3))
def test_a_list_is_rebuilt_with_its_gaps(drawn: list[dict[str, Any]], span: int) -> None:
    tool = Block(Tier.TOOLS, "", Kind.TOOL_SCHEMA, "{}")
    placed = [PlacedBlock(None, tool)]
    if span:
        gap = Block(Tier.MESSAGES, "", Kind.GAP, "", span_messages=span)
        placed.append(PlacedBlock(0, gap))
    for index, message in enumerate(drawn, span):
        blocks = parse_message(encode(message)).blocks
        placed += [PlacedBlock(index, block) for block in blocks]
    assert rebuild_messages(placed) == [None] * span + drawn


def test_every_message_of_the_samples_can_be_put_together_again() -> None:
    formats = {log_format.name: log_format for log_format in all_formats()}
    raws = set()
    for sample in all_samples():
        for line in sample.lines():
            event = formats[sample.format_name].parse(line)
            if isinstance(event, ModelCall):
                raws |= set(event.window.items)
    assert len(raws) > 500
    for raw in raws:
        shown = clean(without_markers(json.loads(raw)))
        assert same(rebuild_message(parse_message(raw).blocks), shown)
