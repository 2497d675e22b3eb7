"""Hashes are equal exactly where contents are, and chains exactly where prefixes are."""

import json
import sys
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tracer.hashing import HASH_BYTES, ROOT_HASH, node_hash, norm_hash, wire_hash
from tracer.model.prompt import Block, Kind, Tier

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-2, 2) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=2), JSON, max_size=4)
# Few values, so that two drawn blocks are often equal in all fields but one.
TEXTS = st.sampled_from(["", "a", "b", "ab", '["a"]', "null", '"', "\\", "\n", "\U0001f600"])
BLOCKS = st.builds(
    Block,
    st.sampled_from(Tier),
    TEXTS,
    st.sampled_from(Kind),
    TEXTS,
    st.sampled_from(["string", "array"]),
    TEXTS,
    TEXTS,
    TEXTS,
    TEXTS,
    st.integers(1, 3),
)
JSON_KINDS = st.sampled_from([Kind.TOOL_SCHEMA, Kind.TOOL_CALL, Kind.FILE, Kind.IMAGE])


def dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def reordered(value: Any) -> Any:
    """The same JSON value with the keys of every object in the opposite order."""
    if isinstance(value, dict):
        return {key: reordered(inner) for key, inner in reversed(value.items())}
    return [reordered(inner) for inner in value] if isinstance(value, list) else value


def json_block(value: Any, kind: Kind = Kind.TOOL_CALL, **changes: Any) -> Block:
    return replace(Block(Tier.MESSAGES, "assistant", kind, dumps(value)), **changes)


@settings(max_examples=300)
@given(BLOCKS, BLOCKS)
def test_the_wire_hash_differs_exactly_where_the_content_does(one: Block, other: Block) -> None:
    assert (wire_hash(one) == wire_hash(other)) == (one == other)
    assert len(wire_hash(one)) == len(norm_hash(one)) == HASH_BYTES


@given(BLOCKS, st.data())
def test_every_field_is_in_the_wire_hash(block: Block, data: st.DataObject) -> None:
    field = data.draw(st.sampled_from([f.name for f in fields(Block)]))
    old = getattr(block, field)
    if isinstance(old, int):
        new: Any = old + 1
    elif isinstance(old, Tier | Kind):
        new = data.draw(st.sampled_from([v for v in type(old) if v != old]))
    else:
        new = old + "x"
    changed = replace(block, **{field: new})
    assert wire_hash(changed) != wire_hash(block)


@given(BLOCKS)
def test_text_cannot_wander_from_one_field_to_the_next(block: Block) -> None:
    at_the_end = replace(block, name=block.name + "x")
    at_the_start = replace(block, call_id="x" + block.call_id)
    assert wire_hash(at_the_end) != wire_hash(at_the_start)
    assert norm_hash(at_the_end) != norm_hash(at_the_start)


@given(JSON, JSON_KINDS, OBJECTS)
def test_the_norm_hash_ignores_the_order_of_keys(value: Any, kind: Kind, extra: Any) -> None:
    one = json_block(value, kind, extra_json=dumps(extra))
    other = json_block(reordered(value), kind, extra_json=dumps(reordered(extra)))
    assert norm_hash(one) == norm_hash(other)
    assert (wire_hash(one) == wire_hash(other)) == (one == other)


@given(JSON, JSON_KINDS)
def test_the_norm_hash_ignores_white_space_between_tokens(value: Any, kind: Kind) -> None:
    wide = json_block(None, kind, text=json.dumps(value, indent=2, ensure_ascii=True))
    assert norm_hash(wide) == norm_hash(json_block(value, kind))


@given(BLOCKS, TEXTS)
def test_the_norm_hash_ignores_the_shape_and_who_wrote_the_message(block: Block, who: str) -> None:
    for shape in ("string", "array"):
        assert norm_hash(replace(block, shape=shape, message_json=who)) == norm_hash(block)


@given(JSON, JSON, JSON_KINDS)
def test_the_norm_hash_tells_values_apart(one: Any, other: Any, kind: Kind) -> None:
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (norm_hash(json_block(one, kind)) == norm_hash(json_block(other, kind))) == same


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), st.sampled_from(Kind))
def test_any_text_can_be_hashed_whatever_its_kind(text: str, kind: Kind) -> None:
    block = Block(Tier.MESSAGES, "user", kind, text, extra_json=text)
    assert norm_hash(block) == norm_hash(block)


def test_json_nested_as_deep_as_it_can_be_read_can_be_hashed() -> None:
    limit = sys.getrecursionlimit()
    for depth in (*range(limit - 200, limit), 5 * limit):
        text = "[" * depth + "]" * depth
        assert len(norm_hash(json_block(None, text=text))) == HASH_BYTES


Step = tuple[Block, bool]


def chain(steps: Sequence[Step]) -> list[bytes]:
    """The hash of each node; a step is a block and whether it begins a message."""
    hashes = [ROOT_HASH]
    for block, starts in steps:
        hashes.append(node_hash(hashes[-1], wire_hash(block), starts))
    return hashes[1:]


STEPS = st.lists(
    st.tuples(
        st.sampled_from([Block(Tier.MESSAGES, "user", Kind.TEXT, text) for text in "ab"]),
        st.booleans(),
    ),
    max_size=6,
)


@settings(max_examples=300)
@given(STEPS, STEPS)
def test_hashes_at_one_depth_are_equal_exactly_where_the_prefixes_are(
    one: list[Step], other: list[Step]
) -> None:
    hashes = zip(chain(one), chain(other), strict=False)
    for depth, (a, b) in enumerate(hashes, 1):
        assert (a == b) == (one[:depth] == other[:depth])


@given(STEPS)
def test_no_two_depths_of_a_chain_share_a_hash(steps: list[Step]) -> None:
    hashes = [ROOT_HASH, *chain(steps)]
    assert len(set(hashes)) == len(hashes)
