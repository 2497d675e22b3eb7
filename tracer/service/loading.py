"""Loading whole prompts with their texts: two at the most for a comparison."""

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from tracer.model.prompt import Block, Marker, PlacedBlock, Prompt, Tier
from tracer.service.placing import KINDS, TIERS, tier_index, verified_in
from tracer.store.prompts import BlockRow, block_texts, prompt_blocks
from tracer.store.reading import AnyRequest
from tracer.store.tokens import block_text


class LoadedPrompt(NamedTuple):
    """A prompt, and the row of each of its blocks."""

    rows: list[BlockRow]
    prompt: Prompt


def load_prompts(
    connection: sqlite3.Connection, requests: Sequence[tuple[AnyRequest, list[Marker]]]
) -> list[LoadedPrompt]:
    """The prompts of requests with the text of every block; empty where the log holds none.
    A text that they share is read once and held once."""
    chains = [
        [] if row.node_id is None else prompt_blocks(connection, row.node_id) for row, _ in requests
    ]
    packed = block_texts(connection, sorted({b.block_id for rows in chains for b in rows}))
    texts = {block_id: block_text(*columns) for block_id, columns in packed.items()}
    return [
        LoadedPrompt(rows, Prompt(place_blocks(rows, texts, row, markers)))
        for rows, (row, markers) in zip(chains, requests, strict=True)
    ]


def place_blocks(
    rows: list[BlockRow], texts: dict[int, str], row: AnyRequest, markers: list[Marker]
) -> tuple[PlacedBlock, ...]:
    """Blocks at their places; a block whose text is not given has an empty one."""
    by_place = {(m.tier, m.index, m.block_index): m for m in markers}
    system_messages = 0
    placed = []
    for block in rows:
        tier, index = TIERS[block.tier], block.message_index
        if tier is Tier.SYSTEM and index is not None:
            system_messages = index + 1
        at = tier_index(block, tier, system_messages)
        inner = block.block_index if index is not None else 0
        placed.append(
            PlacedBlock(
                index=block.depth,
                tier_index=at,
                message_index=index,
                block_index=inner,
                block=Block(
                    tier,
                    block.role,
                    KINDS[block.kind],
                    texts.get(block.block_id, ""),
                    block.shape,
                    block.name,
                    block.call_id,
                    block.extra_json,
                    block.message_json,
                    block.span_messages,
                ),  # fmt: skip
                wire_hash=block.wire_hash,
                norm_hash=block.norm_hash,
                tokens=block.estimate_tokens if block.bpe_tokens is None else block.bpe_tokens,
                marker=by_place.get((tier, at, inner)) if by_place else None,
                verified=verified_in(block, tier, row),
            )
        )
    return tuple(placed)
