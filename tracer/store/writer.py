"""Writing: content once, chains by hash, everything of a batch in one transaction.

Row ids of blocks and nodes are given out here, so that a whole batch can be inserted at its end by
`executemany`. The maps from hash to id are a cache of the database: they are dropped on a rollback
and when they grow too large.
"""

import sqlite3
import zlib
from dataclasses import dataclass
from typing import NamedTuple

from tracer.anatomy.parts import part_of
from tracer.hashing import ROOT_HASH, digest, node_hash, norm_hash, wire_hash
from tracer.model.prompt import Block, Tier
from tracer.store.readings import ReadingRows
from tracer.store.transactions import begin_writing, commit_news, roll_back
from tracer.tokens import estimate_tokens, utf16_length

COMPRESS_FROM_CHARS = 4_000
COMPRESSION_LEVEL = 4
PREVIEW_CHARS = 160
NUL = "\0"
MAX_CACHED = 250_000

_INSERT_BLOCK = f"INSERT INTO blocks VALUES ({','.join('?' * 20)})"
_INSERT_TEXT = "INSERT INTO block_texts VALUES (?, ?, ?)"
_INSERT_NODE = f"INSERT INTO nodes VALUES ({','.join('?' * 11)})"


class Place(NamedTuple):
    """Where a record stands: a source's row id, the line, and the line's first byte."""

    source_id: int
    line: int
    offset_bytes: int


@dataclass(frozen=True, slots=True)
class StoredBlock:
    """A block's row id, its hash and the sizes that a chain adds up."""

    id: int
    wire_hash: bytes
    chars: int
    estimate_tokens: int
    is_system: bool
    part: str
    role: str


@dataclass(frozen=True, slots=True)
class StoredNode:
    """A node's row id and hash, and the sums over the prefix that ends with it."""

    id: int
    hash: bytes
    depth: int
    cum_chars: int
    cum_estimate_tokens: int


class Writer:
    """The content store. Use between `begin` and `commit`; one process at a time writes."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self._blocks: dict[bytes, StoredBlock] = {}
        self._nodes: dict[tuple[int, int, bool], StoredNode] = {}
        self._params: dict[bytes, int] = {}
        self._new_blocks: list[tuple[object, ...]] = []
        self._new_texts: list[tuple[int, str | None, bytes | None]] = []
        self._new_nodes: list[tuple[object, ...]] = []
        self._readings = ReadingRows()
        self._next_block = self._next_node = 0
        self._own_nodes_from: int | None = None
        self._knows_all_blocks = False
        self._data_version = -1
        self.generation = 0

    def begin(self) -> None:
        """Take the write lock; ids go on from what is stored now."""
        begin_writing(self.connection)
        self._next_block = self._max_id("blocks") + 1
        self._next_node = self._max_id("nodes") + 1
        version = int(self.connection.execute("PRAGMA data_version").fetchone()[0])
        if version != self._data_version or self._own_nodes_from is None:
            self._data_version = version
            self._own_nodes_from = self._next_node
            self._knows_all_blocks = self._next_block == 1

    def commit(self) -> None:
        """Store the batch as a whole."""
        self.flush()
        commit_news(self.connection)
        if len(self._blocks) + len(self._nodes) > MAX_CACHED:
            self.forget()

    def rollback(self) -> None:
        """Drop the batch, and every id that it gave out."""
        roll_back(self.connection)
        self._new_blocks.clear()
        self._new_texts.clear()
        self._new_nodes.clear()
        self._readings.clear()
        self.forget()

    def forget(self) -> None:
        """Drop the caches; whoever holds ids of this writer sees `generation` change."""
        self._blocks.clear()
        self._nodes.clear()
        self._params.clear()
        self._own_nodes_from = None
        self._knows_all_blocks = False
        self.generation += 1

    def flush(self) -> None:
        """Insert what the batch has collected so far."""
        if self._new_blocks:
            self.connection.executemany(_INSERT_BLOCK, self._new_blocks)
            self.connection.executemany(_INSERT_TEXT, self._new_texts)
            self._readings.insert(self.connection)
            self._new_blocks.clear()
            self._new_texts.clear()
        if self._new_nodes:
            self.connection.executemany(_INSERT_NODE, self._new_nodes)
            self._new_nodes.clear()

    def block(self, block: Block, place: Place | None) -> StoredBlock:
        """The stored block with this content, stored now if it is new."""
        key = wire_hash(block)
        stored = self._blocks.get(key)
        if stored is None:
            known = None if self._knows_all_blocks else self._load_block(key)
            stored = known or self._add_block(key, block, place)
            self._blocks[key] = stored
        return stored

    def node(
        self,
        parent: StoredNode | None,
        block: StoredBlock,
        *,
        starts_message: bool,
        message_index: int | None,
        block_index: int,
    ) -> StoredNode:
        """The node that adds `block` to the prefix `parent` (None: the empty one)."""
        cache_key = (parent.id if parent else 0, block.id, starts_message)
        stored = self._nodes.get(cache_key)
        if stored is not None:
            return stored
        key = node_hash(parent.hash if parent else ROOT_HASH, block.wire_hash, starts_message)
        row = None
        if not self._only_ours(parent):
            row = self.connection.execute("SELECT id FROM nodes WHERE hash = ?", (key,)).fetchone()
        node_id = row[0] if row else self._next_node
        stored = StoredNode(
            node_id,
            key,
            parent.depth + 1 if parent else 0,
            (parent.cum_chars if parent else 0) + block.chars,
            (parent.cum_estimate_tokens if parent else 0) + block.estimate_tokens,
        )
        if row is None:
            self._next_node += 1
            self._new_nodes.append(
                (
                    node_id,
                    key,
                    parent.id if parent else None,
                    block.id,
                    stored.depth,
                    message_index,
                    block_index,
                    block.part,
                    block.role,
                    stored.cum_chars,
                    stored.cum_estimate_tokens,
                )
            )
        self._nodes[cache_key] = stored
        return stored

    def _only_ours(self, parent: StoredNode | None) -> bool:
        """True where every child of `parent` is in the cache: this writer made the node, has
        dropped nothing since, and nobody else has written."""
        own_from = self._own_nodes_from
        return parent is not None and own_from is not None and parent.id >= own_from

    def params(self, text: str) -> int | None:
        """The row id of a request's parameters; None for an empty text."""
        if not text:
            return None
        key = digest(text.encode("utf-8", "replace"))
        found = self._params.get(key)
        if found is None:
            execute = self.connection.execute
            execute("INSERT OR IGNORE INTO params (hash, json) VALUES (?, ?)", (key, text))
            found = int(execute("SELECT id FROM params WHERE hash = ?", (key,)).fetchone()[0])
            self._params[key] = found
        return found

    def _max_id(self, table: str) -> int:
        row = self.connection.execute(f"SELECT max(id) FROM {table}").fetchone()
        return int(row[0] or 0)

    def _load_block(self, key: bytes) -> StoredBlock | None:
        row = self.connection.execute(
            "SELECT id, chars, estimate_tokens, tier, part, role FROM blocks WHERE wire_hash = ?",
            (key,),
        ).fetchone()
        if row is None:
            return None
        return StoredBlock(row[0], key, row[1], row[2], row[3] == Tier.SYSTEM, row[4], row[5])

    def stored_block(self, block_id: int) -> StoredBlock:
        """The block of a row id that an earlier batch has stored."""
        row = self.connection.execute(
            "SELECT id, wire_hash, chars, estimate_tokens, tier, part, role FROM blocks "
            "WHERE id = ?",
            (block_id,),
        ).fetchone()
        return StoredBlock(row[0], row[1], row[2], row[3], row[4] == Tier.SYSTEM, row[5], row[6])

    def _add_block(self, key: bytes, block: Block, place: Place | None) -> StoredBlock:
        text = block.text
        chars, estimate = utf16_length(text), estimate_tokens(text)
        data = text.encode("utf-8")
        packs = len(text) >= COMPRESS_FROM_CHARS or NUL in text  # SQLite's LIKE ends at a NUL
        packed = zlib.compress(data, COMPRESSION_LEVEL) if packs else None
        part, is_system = part_of(block), block.tier is Tier.SYSTEM
        stored = StoredBlock(self._next_block, key, chars, estimate, is_system, part, block.role)
        self._next_block += 1
        self._readings.add(stored.id, block)
        self._new_texts.append((stored.id, None if packed else text, packed))
        self._new_blocks.append(
            (
                stored.id,
                key,
                norm_hash(block),
                block.tier,
                block.role,
                block.kind,
                part,
                block.shape,
                block.name,
                block.call_id,
                chars,
                len(data),
                estimate,
                block.span_messages,
                preview(text),
                block.extra_json,
                block.message_json,
                place.source_id if place else None,
                place.line if place else None,
                place.offset_bytes if place else None,
            )
        )
        return stored


def preview(text: str) -> str:
    """The first 160 characters of a text on one line; control characters stay as they are and are
    made visible where they are shown."""
    head = text[: PREVIEW_CHARS * 4].split()
    return " ".join(head)[:PREVIEW_CHARS]
