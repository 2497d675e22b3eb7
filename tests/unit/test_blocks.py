"""ZCode's messages, tools and system blocks as prompt blocks (formats/zcode.md 3.5)."""

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.rebuild import rebuild_message
from tracer.formats._zcode_blocks import parse_message, parse_system, parse_tools
from tracer.hashing import norm_hash, wire_hash
from tracer.model.prompt import Block, Kind, MarkerValue, Message, Tier

EPHEMERAL = {"type": "ephemeral"}
CALL = {"id": "call_1", "name": "Read", "input": {"file_path": "/w/a.txt"}}


def parsed(**message: Any) -> Message:
    return parse_message(json.dumps(message).encode())


def only(message: Message) -> Block:
    (block,) = message.blocks
    return block


def kinds(message: Message) -> list[Kind]:
    return [block.kind for block in message.blocks]


def a_text(role: str, text: str, shape: str = "string", **fields: Any) -> Block:
    return Block(Tier.MESSAGES, role, Kind.TEXT, text, shape, **fields)


# Content -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", ["user", "system", "assistant", "developer"])
def test_a_text_is_one_block(role: str) -> None:
    assert parsed(role=role, content="Hello") == Message(role, (a_text(role, "Hello"),))


def test_an_array_is_a_block_an_element() -> None:
    texts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert parsed(role="user", content=texts).blocks == (
        a_text("user", "a", "array"),
        a_text("user", "b", "array"),
    )


def test_reasoning_keeps_its_options() -> None:
    options = {"anthropic": {"signature": "PLACEHOLDER"}}
    block = only(
        parsed(
            role="assistant",
            content=[{"type": "reasoning", "text": "Hm.", "providerOptions": options}],
        )
    )
    assert (block.kind, block.text) == (Kind.REASONING, "Hm.")
    assert json.loads(block.extra_json) == {"providerOptions": options}


@pytest.mark.parametrize(
    ("element", "kind", "name"),
    [
        ({"type": "image", "mediaType": "image/png", "dataUrl": "[omitted]"}, Kind.IMAGE, ""),
        ({"type": "video", "mediaType": "video/mp4", "dataUrl": "[omitted]"}, Kind.VIDEO, ""),
        ({"type": "file", "mediaType": "text/x", "name": "a.py", "text": "1"}, Kind.FILE, "a.py"),
        ({"type": "resource_link", "uri": "file:///w/a"}, Kind.RESOURCE_LINK, "file:///w/a"),
        ({"type": "resource_link", "uri": "u", "name": "n"}, Kind.RESOURCE_LINK, "n"),
        ({"type": "hologram", "depth": 3}, Kind.UNKNOWN, ""),
        ({"no": "type"}, Kind.UNKNOWN, ""),
        ({"type": "text", "text": 5}, Kind.UNKNOWN, ""),
        ({"type": "text"}, Kind.UNKNOWN, ""),
    ],
)
def test_other_elements_keep_their_whole_json(
    element: dict[str, Any], kind: Kind, name: str
) -> None:
    block = only(parsed(role="user", content=[element]))
    assert (block.kind, block.name, block.shape) == (kind, name, "array")
    assert json.loads(block.text) == element


@pytest.mark.parametrize("element", ["text", 5, None, True, [1, {"a": 2}]])
def test_an_element_that_is_no_object_is_kept(element: Any) -> None:
    block = only(parsed(role="user", content=[element]))
    assert block.kind is Kind.UNKNOWN
    assert json.loads(block.text) == element


def test_string_and_array_of_one_text_mean_the_same_in_other_bytes() -> None:
    string = only(parsed(role="user", content="Hello"))
    array = only(parsed(role="user", content=[{"type": "text", "text": "Hello"}]))
    assert wire_hash(string) != wire_hash(array)
    assert norm_hash(string) == norm_hash(array)


@pytest.mark.parametrize(
    ("message", "shape"),
    [
        ({"role": "user", "content": []}, "empty-array"),
        ({"role": "user", "content": None}, "null"),
        ({"role": "user"}, "absent"),
        ({"role": "user", "content": ""}, "string"),
        ({"role": "user", "content": {"a": 1}}, "other"),
        ({"role": "user", "content": 5}, "other"),
    ],
)
def test_content_that_holds_nothing_or_is_odd_is_told_apart(
    message: dict[str, Any], shape: str
) -> None:
    block = only(parsed(**message))
    assert (block.kind, block.shape) == (Kind.TEXT, shape)
    assert rebuild_message([block]) == message


# Tool calls and results --------------------------------------------------------------------------


def test_a_step_of_calls_only_has_no_text_block() -> None:
    block = only(parsed(role="assistant", content="", toolCalls=[CALL]))
    assert (block.kind, block.name, block.call_id) == (Kind.TOOL_CALL, "Read", "call_1")
    assert block.text == '{"file_path":"/w/a.txt"}'


@pytest.mark.parametrize(
    ("content", "shape"),
    [
        ({}, "call absent"),
        ({"content": None}, "call null"),
        ({"content": []}, "call empty-array"),
        ({"content": ""}, "call"),
    ],
)
def test_calls_without_content_bring_no_block_of_their_own(
    content: dict[str, Any], shape: str
) -> None:
    message = {"role": "assistant", "toolCalls": [CALL]} | content
    block = only(parsed(**message))
    assert (block.kind, block.shape) == (Kind.TOOL_CALL, shape)
    assert rebuild_message([block]) == message


def test_reasoning_text_and_calls_stand_in_this_order() -> None:
    content = [{"type": "reasoning", "text": "Hm."}, {"type": "text", "text": "Reading."}]
    message = parsed(role="assistant", content=content, toolCalls=[CALL, {**CALL, "id": "call_2"}])
    assert kinds(message) == [Kind.REASONING, Kind.TEXT, Kind.TOOL_CALL, Kind.TOOL_CALL]


@pytest.mark.parametrize("value", ["not an object", None, 5, [1], {}])
def test_the_input_of_a_call_may_be_any_json(value: Any) -> None:
    block = only(parsed(role="assistant", content="", toolCalls=[{**CALL, "input": value}]))
    assert json.loads(block.text) == value
    assert block.extra_json == ""


def test_an_input_of_null_is_not_a_missing_one() -> None:
    null = parsed(role="assistant", content="", toolCalls=[{**CALL, "input": None}])
    missing = parsed(role="assistant", content="", toolCalls=[{"id": "call_1", "name": "Read"}])
    assert wire_hash(only(null)) != wire_hash(only(missing))


def test_the_keys_order_of_an_input_is_kept() -> None:
    one, other = ({"a": 1, "b": 2}, {"b": 2, "a": 1})
    blocks = [
        only(parsed(role="assistant", content="", toolCalls=[{**CALL, "input": value}]))
        for value in (one, other)
    ]
    assert wire_hash(blocks[0]) != wire_hash(blocks[1])
    assert norm_hash(blocks[0]) == norm_hash(blocks[1])


def test_a_provider_executed_call_says_so() -> None:
    block = only(
        parsed(role="assistant", content="", toolCalls=[{**CALL, "providerExecuted": True}])
    )
    assert json.loads(block.extra_json) == {"providerExecuted": True}


def test_a_tool_result_names_its_call() -> None:
    block = only(parsed(role="tool", content="done", toolCallId="call_1", toolName="Read"))
    assert (block.kind, block.name, block.call_id, block.text) == (
        Kind.TOOL_RESULT, "Read", "call_1", "done",
    )  # fmt: skip


def test_a_tool_result_of_several_elements_is_one_message() -> None:
    content = [{"type": "text", "text": "seen"}, {"type": "image", "dataUrl": "[omitted]"}]
    message = parsed(role="tool", content=content, toolCallId="call_1", toolName="Shot")
    assert kinds(message) == [Kind.TOOL_RESULT, Kind.IMAGE]
    assert {block.call_id for block in message.blocks} == {"call_1"}


def test_an_error_flag_is_kept_and_changes_the_hash() -> None:
    fine = only(parsed(role="tool", content="x", toolCallId="c", toolName="Read"))
    failed = only(parsed(role="tool", content="x", toolCallId="c", toolName="Read", isError=True))
    assert json.loads(failed.message_json) == {"isError": True}
    assert wire_hash(fine) != wire_hash(failed)


def test_an_empty_tool_name_is_not_a_missing_one() -> None:
    empty = only(parsed(role="tool", content="x", toolCallId="c", toolName=""))
    missing = only(parsed(role="tool", content="x", toolCallId="c"))
    assert empty.name == missing.name == ""
    assert wire_hash(empty) != wire_hash(missing)


# Other keys --------------------------------------------------------------------------------------


def test_who_wrote_a_message_is_kept_on_its_first_block_only() -> None:
    content = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    first, second = parsed(role="assistant", content=content, modelId="m", providerId="p").blocks
    assert json.loads(first.message_json) == {"modelId": "m", "providerId": "p"}
    assert second.message_json == ""


def test_who_wrote_a_message_does_not_change_its_meaning() -> None:
    plain = only(parsed(role="assistant", content="a"))
    signed = only(parsed(role="assistant", content="a", modelId="m"))
    assert wire_hash(plain) != wire_hash(signed)
    assert norm_hash(plain) == norm_hash(signed)


# Cache markers -----------------------------------------------------------------------------------


def test_a_marker_is_no_content() -> None:
    bare = parsed(role="user", content="Hello")
    marked = parsed(role="user", content="Hello", cacheControl=EPHEMERAL)
    assert bare.blocks == marked.blocks
    assert (bare.markers, marked.markers) == ((), (MarkerValue(0, "", ""),))


def test_a_marker_of_a_message_stands_on_its_last_block() -> None:
    content = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    message = parsed(
        role="user", content=content, cacheControl={**EPHEMERAL, "ttl": "1h", "scope": "org"}
    )
    assert message.markers == (MarkerValue(1, "1h", "org"),)
    calls = parsed(role="assistant", content="x", toolCalls=[CALL], cacheControl=EPHEMERAL)
    assert calls.markers == (MarkerValue(1, "", ""),)


@pytest.mark.parametrize("key", ["cacheControl", "cache_control"])
@pytest.mark.parametrize(
    "element", [{"type": "text", "text": "a"}, {"type": "image", "dataUrl": "[omitted]"}]
)
def test_a_marker_on_an_element_stands_on_its_block(key: str, element: dict[str, Any]) -> None:
    other = {"type": "text", "text": "b"}
    bare = parsed(role="user", content=[other, element])
    marked = parsed(role="user", content=[other, {**element, key: {**EPHEMERAL, "ttl": "5m"}}])
    assert bare.blocks == marked.blocks
    assert marked.markers == (MarkerValue(1, "5m", ""),)


@pytest.mark.parametrize("marker", [None, "ephemeral", True, []])
def test_a_marker_of_another_type_is_neither_marker_nor_content(marker: Any) -> None:
    message = parsed(role="user", content="Hello", cacheControl=marker)
    assert (message.blocks, message.markers) == ((a_text("user", "Hello"),), ())


# Malformed ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"null", b'"text"', b"\xff", b'{"a":"\xff"}'])
def test_bytes_that_are_no_message_raise_a_value_error(raw: bytes) -> None:
    with pytest.raises(ValueError):
        parse_message(raw)


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"role": None, "content": "x"},
        {"role": 5, "content": "x"},
        {"role": "assistant", "content": "", "toolCalls": "odd"},
        {"role": "assistant", "content": "", "toolCalls": {"a": 1}},
        {"role": "assistant", "content": "", "toolCalls": None},
        {"role": "assistant", "content": "x", "toolCalls": []},
        {"role": "assistant", "content": "", "toolCalls": ["odd", None, 5]},
        {"role": "assistant", "content": "", "toolCalls": [{"id": 5, "name": None}]},
        {"role": "tool", "content": "x", "toolCalls": [CALL]},
        {"role": "user", "content": "", "toolCalls": [CALL, "odd"]},
        {"role": "tool", "content": [], "toolCallId": 5, "toolName": None},
        {"role": "tool"},
    ],
)
def test_an_odd_message_has_a_block_and_loses_nothing(message: dict[str, Any]) -> None:
    made = parsed(**message)
    assert made.blocks
    assert rebuild_message(made.blocks) == message


def test_half_a_surrogate_pair_becomes_a_replacement_character() -> None:
    message = parse_message(rb'{"role":"user","content":"cut \ud83d"}')
    assert only(message).text == "cut �"


# Tools and system --------------------------------------------------------------------------------


def test_a_tool_is_its_schema_with_its_name() -> None:
    tool = {"name": "Read", "description": "PLACEHOLDER", "input_schema": {"type": "object"}}
    (message,) = parse_tools(json.dumps([tool]).encode())
    block = only(message)
    assert (block.tier, block.kind, block.name) == (Tier.TOOLS, Kind.TOOL_SCHEMA, "Read")
    assert json.loads(block.text) == tool
    assert message.markers == ()


def test_a_function_tool_has_its_name_inside() -> None:
    tool = {"type": "function", "function": {"name": "Bash", "parameters": {}}}
    assert only(parse_tools(json.dumps([tool]).encode())[0]).name == "Bash"


def test_a_marker_on_a_tool_is_no_part_of_its_schema() -> None:
    tool = {"name": "Read", "input_schema": {}}
    (bare,) = parse_tools(json.dumps([tool]).encode())
    (marked,) = parse_tools(json.dumps([{**tool, "cache_control": EPHEMERAL}]).encode())
    assert bare.blocks == marked.blocks
    assert marked.markers == (MarkerValue(0, "", ""),)


def test_the_keys_order_of_a_schema_is_kept() -> None:
    blocks = [
        only(parse_tools(raw)[0]) for raw in (b'[{"name":"R","a":1}]', b'[{"a":1,"name":"R"}]')
    ]
    assert wire_hash(blocks[0]) != wire_hash(blocks[1])
    assert norm_hash(blocks[0]) == norm_hash(blocks[1])


@pytest.mark.parametrize("tool", ["odd", 5, None, [1], {}, {"function": "odd"}, {"name": 5}])
def test_an_odd_tool_is_kept_whole(tool: Any) -> None:
    block = only(parse_tools(json.dumps([tool]).encode())[0])
    assert (block.tier, block.kind, block.name) == (Tier.TOOLS, Kind.TOOL_SCHEMA, "")
    assert json.loads(block.text) == tool


@pytest.mark.parametrize("raw", [b"", b"{}", b"5", b"null", b"\xff"])
def test_tools_that_are_no_list_raise_a_value_error(raw: bytes) -> None:
    with pytest.raises(ValueError):
        parse_tools(raw)


def test_a_system_text_is_one_block_wherever_it_stands() -> None:
    text = "\n\nPLACEHOLDER dynamic body"
    of_message = only(parsed(role="system", content=text, cacheControl=EPHEMERAL))
    body = [{"type": "text", "text": text, "cache_control": EPHEMERAL}]
    (of_body,) = parse_system(json.dumps(body).encode())
    in_system_tier = replace(of_message, tier=Tier.SYSTEM)
    assert wire_hash(in_system_tier) == wire_hash(only(of_body))
    assert wire_hash(of_message) != wire_hash(in_system_tier)
    assert of_body.markers == (MarkerValue(0, "", ""),)


def test_a_system_prompt_may_be_one_text() -> None:
    (message,) = parse_system(b'"PLACEHOLDER"')
    (element,) = parse_system(b'["PLACEHOLDER"]')
    assert message == element
    assert only(message) == Block(Tier.SYSTEM, "system", Kind.TEXT, "PLACEHOLDER")


@pytest.mark.parametrize("element", [5, None, {"type": "text"}, {"type": "image", "a": 1}])
def test_an_odd_system_block_is_kept(element: Any) -> None:
    (message,) = parse_system(json.dumps([element]).encode())
    assert only(message).tier is Tier.SYSTEM
    assert json.loads(only(message).text) == element


@pytest.mark.parametrize("raw", [b"", b"{}", b"5", b"null", b"\xff"])
def test_a_system_prompt_of_another_type_raises_a_value_error(raw: bytes) -> None:
    with pytest.raises(ValueError):
        parse_system(raw)
