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

_FAR = 1 << 62


@dataclass(frozen=True, slots=True)
class LoadedMessage:
    """One message of a stored chain; `gap` counts the unknown messages it stands for."""

    blocks: tuple[StoredBlock, ...]
    end: StoredNode
    gap: int = 0


@dataclass(frozen=True, slots=True)
class LoadedChain:
    """A stored prompt: the node that ends its tools (None without tools) and its messages.
    `earlier_segment` tells that the file was begun anew after it."""

    root: StoredNode | None
    messages: tuple[LoadedMessage, ...]
    earlier_segment: bool


def newest_chains(
    connection: sqlite3.Connection,
    path: str,
    limit: int,
    before: tuple[int, int] | None = None,
) -> Sequence[LoadedChain]:
    """The prompts of a file's newest records, oldest first; `before` (segment, line) leaves out
    that line and what follows it. Every place counts where a record was found: a copy is known
    from another file, and yet the record that the next one may be relative to."""
    segment, line = before or (_FAR, _FAR)
    rows = connection.execute(
        "SELECT r.node_id, s.segment, r.reset_json <> '' "
        "FROM sources s JOIN request_sources p ON p.source_id = s.id "
        "JOIN requests r ON r.id = p.request_id "
        "WHERE s.path = ?1 AND (s.segment, p.line) < (?2, ?3) AND r.window_kind <> 'absent' "
        "ORDER BY s.segment DESC, p.line DESC LIMIT ?4",
        (path, segment, line, limit),
    ).fetchall()
    newest = connection.execute("SELECT max(segment) FROM sources WHERE path = ?", (path,))
    current = newest.fetchone()[0]
    chains: list[LoadedChain] = []
    earlier = False
    for node_id, of_segment, reset in rows:
        earlier = earlier or (before is None and of_segment != current)
        chains.append(load_chain(connection, node_id, earlier))
        earlier = earlier or bool(reset)  # what stood before it was overwritten
    return chains[::-1]


def first_place(connection: sqlite3.Connection, path: str, key: str) -> tuple[int, int] | None:
    """Segment and line at which a request was first found in a file; None where it never was."""
    row: tuple[int, int] | None = connection.execute(
        "SELECT s.segment, p.line FROM requests r JOIN request_sources p ON p.request_id = r.id "
        "JOIN sources s ON s.id = p.source_id WHERE r.key = ? AND s.path = ? "
        "ORDER BY s.segment, p.line LIMIT 1",
        (key, path),
    ).fetchone()
    return row


def load_chain(
    connection: sqlite3.Connection, node_id: int | None, earlier_segment: bool = False
) -> LoadedChain:
    """The prompt that ends with a node."""
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
    return LoadedChain(root, tuple(messages), earlier_segment)
