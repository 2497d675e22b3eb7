"""Loading what a file's next record may be relative to, after a restart."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from tracer.model.prompt import Kind, Tier
from tracer.store.writer import StoredBlock, StoredNode

_CHAIN = """WITH RECURSIVE up(id) AS (
  VALUES (?1)
  UNION ALL
  SELECT n.parent_id FROM up JOIN nodes n ON n.id = up.id WHERE n.parent_id IS NOT NULL
)
SELECT n.id, n.hash, n.depth, n.cum_chars, n.cum_estimate_tokens, n.message_index, n.block_index,
  b.id, b.wire_hash, b.chars, b.estimate_tokens, b.tier, b.kind, b.span_messages, b.part, b.role
FROM up JOIN nodes n ON n.id = up.id JOIN blocks b ON b.id = n.block_id ORDER BY n.depth"""


@dataclass(frozen=True, slots=True)
class LoadedMessage:
    """One message of a stored chain; `gap` counts the unknown messages it stands for."""

    blocks: tuple[StoredBlock, ...]
    end: StoredNode
    gap: int = 0


@dataclass(frozen=True, slots=True)
class LoadedChain:
    """A stored prompt: the node that ends its tools (None without tools) and its messages."""

    root: StoredNode | None
    messages: tuple[LoadedMessage, ...]


def newest_chains(connection: sqlite3.Connection, path: str, limit: int) -> Sequence[LoadedChain]:
    """The prompts of a file's newest records, oldest first."""
    rows = connection.execute(
        "SELECT r.node_id FROM requests r JOIN sources s ON s.id = r.source_id "
        "WHERE s.path = ? AND r.node_id IS NOT NULL AND r.window_kind <> 'absent' "
        "ORDER BY s.segment DESC, r.line DESC LIMIT ?",
        (path, limit),
    ).fetchall()
    return [_chain(connection, row[0]) for row in reversed(rows)]


def _chain(connection: sqlite3.Connection, node_id: int) -> LoadedChain:
    root: StoredNode | None = None
    messages: list[LoadedMessage] = []
    blocks: list[StoredBlock] = []
    rows = connection.execute(_CHAIN, (node_id,)).fetchall()
    for position, row in enumerate(rows):
        node = StoredNode(*row[:5])
        is_system = row[11] == Tier.SYSTEM
        block = StoredBlock(row[7], row[8], row[9], row[10], is_system, row[14], row[15])
        if row[11] == Tier.TOOLS:
            root = node
            continue
        blocks.append(block)
        following = rows[position + 1] if position + 1 < len(rows) else None
        if following is None or following[6] == 0:
            gap = int(row[13]) if row[12] == Kind.GAP else 0
            messages.append(LoadedMessage(tuple(blocks), node, gap))
            blocks = []
    return LoadedChain(root, tuple(messages))
