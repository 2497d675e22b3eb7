"""A message that became blocks becomes the same message again, whatever it was."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import bare
from tests.property.window_writer import histories
from tests.rebuild import PlacedBlock, rebuild_message, rebuild_messages
from tracer.formats._zcode_blocks import parse_message
from tracer.hashing import norm_hash, wire_hash
from tracer.model.prompt import Block, Kind, Tier

TEXTS = st.text(st.characters(), max_size=8) | st.sampled_from(
    ("", "absent", "\ud83d", "\U0001f600")
)
SCALARS = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(-1e9, 1e9) | TEXTS
VALUES = st.recursive(
    SCALARS, lambda v: st.lists(v, max_size=3) | st.dictionaries(TEXTS, v, max_size=3), max_leaves=6
)
KEYS = st.sampled_from(
    ("type", "text", "id", "name", "input", "uri", "toolName", "toolCallId", "absent", "isError")
)
LOOSE = st.dictionaries(KEYS | TEXTS, VALUES, max_size=4)
MARKED = st.sampled_from(({}, {"cacheControl": {"type": "ephemeral"}}, {"cache_control": None}))
BLOCKS = st.builds(
    lambda kind, text, more, mark: {**more, "type": kind, "text": text, **mark},
    st.sampled_from(("text", "reasoning", "image", "file", "unheard")),
    TEXTS | VALUES,
    LOOSE,
    MARKED,
)
CALLS = st.builds(
    lambda more, known: {**more, **known},
    LOOSE,
    st.fixed_dictionaries({}, optional={"id": TEXTS, "name": TEXTS, "input": VALUES}),
)
MESSAGES = st.builds(
    lambda more, known, mark: {**more, **known, **mark},
    LOOSE,
    st.fixed_dictionaries(
        {},
        optional={
            "role": st.sampled_from(("system", "user", "assistant", "tool", "unknown", ""))
            | VALUES,
            "content": TEXTS | VALUES | st.lists(BLOCKS | VALUES, max_size=3),
            "toolCalls": st.lists(CALLS | VALUES, max_size=3) | VALUES,
            "toolName": TEXTS | VALUES,
            "toolCallId": TEXTS | VALUES,
        },
    ),
    MARKED,
)


def written(value: Any) -> bytes:
    """A value as JavaScript writes it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


def through_blocks(message: dict[str, Any]) -> dict[str, Any]:
    return rebuild_message(parse_message(written(message)).blocks)


@given(MESSAGES)
def test_any_object_comes_back_without_its_markers(message: dict[str, Any]) -> None:
    assert same(through_blocks(message), bare(message))


@given(MESSAGES, MESSAGES)
def test_different_messages_are_different_blocks(one: dict[str, Any], two: dict[str, Any]) -> None:
    """Equal hashes mean equal content: what is stored once stands for all that has its hash."""
    hashes = [
        [wire_hash(block) for block in parse_message(written(message)).blocks]
        for message in (one, two)
    ]
    if hashes[0] == hashes[1]:
        assert same(bare(one), bare(two))


@given(MESSAGES)
def test_the_order_of_keys_changes_bytes_and_not_the_meaning(message: dict[str, Any]) -> None:
    turned = dict(reversed(message.items()))
    one, two = (parse_message(written(m)).blocks for m in (message, turned))
    assert [norm_hash(b) for b in one] == [norm_hash(b) for b in two]
    assert same(rebuild_message(one), rebuild_message(two))


@given(histories(max_steps=4))
def test_messages_of_the_writer_come_back(history: Any) -> None:
    for call in history.calls:
        for message in call.messages:
            assert through_blocks(message) == bare(message)


def test_a_gap_stands_for_as_many_messages_as_were_not_shown() -> None:
    tool = Block(Tier.TOOLS, "", Kind.TOOL_SCHEMA, "{}")
    gap = Block(Tier.MESSAGES, "", Kind.GAP, "", span_messages=3)
    text = Block(Tier.MESSAGES, "user", Kind.TEXT, "hi")
    more = Block(Tier.MESSAGES, "assistant", Kind.TEXT, "a", "array")
    blocks = [(None, tool), (0, gap), (3, text), (4, more), (4, more)]
    rebuilt = rebuild_messages(PlacedBlock(*b) for b in blocks)
    assert rebuilt == [
        None,
        None,
        None,
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [{"type": "text", "text": "a"}] * 2},
    ]


def same(one: Any, two: Any) -> bool:
    """Equal as JSON: true is not 1, and 1.0 is not 1."""
    return json.dumps(one, sort_keys=True) == json.dumps(two, sort_keys=True)
