"""Builders of prompts for the tests of `tracer.compare`, and what they promise."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from tracer.hashing import norm_hash, wire_hash
from tracer.model.comparison import Change, Comparison, Op
from tracer.model.prompt import Block, Kind, Marker, PlacedBlock, Prompt, Tier

Entry = Block | Sequence[Block]
"""A message: one block, or several."""


def a_tool(name: str, description: str = "does something", **keys: Any) -> Block:
    """A tool; more keys go into its schema, in order."""
    schema = {"name": name, "description": description, **keys}
    return Block(
        Tier.TOOLS, "", Kind.TOOL_SCHEMA, json.dumps(schema, separators=(",", ":")), "array", name
    )


def a_system(text: str) -> Block:
    """A system block."""
    return Block(Tier.SYSTEM, "system", Kind.TEXT, text)


def a_text(role: str, text: str, **fields: Any) -> Block:
    """A text of a message."""
    return Block(Tier.MESSAGES, role, Kind.TEXT, text, **fields)


def a_note(body: str) -> Block:
    """A reminder in a user message."""
    return a_text("user", f"<system-reminder>\n{body}\n</system-reminder>")


def a_thought(text: str, **fields: Any) -> Block:
    """A reasoning block."""
    return Block(Tier.MESSAGES, "assistant", Kind.REASONING, text, "array", **fields)


def a_call(call_id: str, name: str = "Read", **given: Any) -> Block:
    """A tool call with its input."""
    text = json.dumps(given, separators=(",", ":"))
    return Block(Tier.MESSAGES, "assistant", Kind.TOOL_CALL, text, "call", name, call_id)


def a_result(call_id: str, text: str, name: str = "Read", kind: Kind = Kind.TOOL_RESULT) -> Block:
    """A tool's result."""
    return Block(Tier.MESSAGES, "tool", kind, text, "string", name, call_id)


def an_image(data: str = "iVBORw0KGgo") -> Block:
    """An image of a user."""
    return Block(
        Tier.MESSAGES, "user", Kind.IMAGE, json.dumps({"type": "image", "data": data}), "array"
    )


def a_gap(messages: int) -> Block:
    """Messages that the log did not show."""
    return Block(Tier.MESSAGES, "", Kind.GAP, "", span_messages=messages)


TOOLS_GAP = Block(Tier.TOOLS, "", Kind.GAP, "", name="tools", span_messages=0)


def a_prompt(
    *entries: Entry, verified_from: int = 0, marked: Iterable[int] = (), tokens: int | None = None
) -> Prompt:
    """A prompt of tools, system blocks and messages in order. `marked` are prompt indexes with a
    cache marker, `tokens` the count of every block (else a fourth of its characters)."""
    placed: list[PlacedBlock] = []
    markers = set(marked)
    message_index = 0
    in_tier = dict.fromkeys(Tier, 0)
    for entry in entries:
        blocks = [entry] if isinstance(entry, Block) else entry
        tier = blocks[0].tier
        for at, block in enumerate(blocks):
            index = len(placed)
            marker = Marker(tier, in_tier[tier], at) if index in markers else None
            placed.append(
                PlacedBlock(
                    index=index,
                    tier_index=in_tier[tier],
                    message_index=None if tier is Tier.TOOLS else message_index,
                    block_index=in_tier[tier] if tier is Tier.TOOLS else at,
                    block=block,
                    wire_hash=wire_hash(block),
                    norm_hash=norm_hash(block),
                    tokens=len(block.text) // 4 if tokens is None else tokens,
                    marker=marker,
                    verified=tier is Tier.TOOLS or message_index >= verified_from,
                )
            )
        in_tier[tier] += blocks[0].span_messages if tier is Tier.MESSAGES else 1
        message_index += 0 if tier is Tier.TOOLS else blocks[0].span_messages
    return Prompt(tuple(placed))


def hashes(prompt: Prompt) -> list[bytes]:
    """The wire hashes of a prompt's blocks."""
    return [placed.wire_hash for placed in prompt.blocks]


def ops(comparison: Comparison) -> list[tuple[Op, str]]:
    """The changes other than equal runs: operation and label."""
    return [(c.op, c.label) for c in comparison.changes if c.op is not Op.EQUAL]


def only(comparison: Comparison) -> Change:
    """The only change other than equal runs."""
    (change,) = (c for c in comparison.changes if c.op is not Op.EQUAL)
    return change


def test_a_prompt_numbers_its_blocks_as_the_store_does() -> None:
    prompt = a_prompt(
        a_tool("A"), a_tool("B"), a_system("s"), a_gap(3), (a_text("user", "x"), an_image())
    )
    places = [(p.index, p.tier_index, p.message_index, p.block_index) for p in prompt.blocks]
    assert places[:3] == [(0, 0, None, 0), (1, 1, None, 1), (2, 0, 0, 0)]
    assert places[3:] == [(3, 0, 1, 0), (4, 3, 4, 0), (5, 3, 4, 1)]
