"""Reading prompts: chains of nodes, and the blocks they are made of.

The chain of a request is walked by a recursive query; the nodes of a whole session are loaded at
once (`session_nodes`), never path by path.
"""

import json
import sqlite3
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from tracer.assemble.chains import ChainNode
from tracer.model.prompt import Block, Kind, Part, Tier
from tracer.store.tokens import block_text
from tracer.tokens import DEFAULT_ENCODING

_MAX_IN = 500
_UP = """WITH RECURSIVE up(id) AS (
  VALUES (?1)
  UNION ALL
  SELECT n.parent_id FROM up JOIN nodes n ON n.id = up.id WHERE n.parent_id IS NOT NULL
)"""


Hash: TypeAlias = bytes
"""A hash, in a row that has a column named `bytes`."""


class BlockRow(NamedTuple):
    """One block of a prompt, in order; texts are loaded apart."""

    node_id: int
    depth: int
    message_index: int | None
    block_index: int
    block_id: int
    wire_hash: bytes
    tier: str
    role: str
    kind: str
    part: str
    name: str
    call_id: str
    chars: int
    bytes: int
    estimate_tokens: int
    bpe_tokens: int | None
    exact: int | None
    span_messages: int
    preview: str
    extra_json: str
    source_id: int | None
    line: int | None
    offset_bytes: int | None
    shape: str
    message_json: str
    norm_hash: Hash


_NODE_COLUMNS = """n.id, n.parent_id, n.block_id, n.message_index, n.block_index, n.part, n.role,
  n.cum_chars, n.cum_estimate_tokens, t.tokens"""
_NODE_TOKENS = (
    f"LEFT JOIN block_tokens t ON t.block_id = n.block_id AND t.counter = '{DEFAULT_ENCODING}'"
)
# A session's nodes were mostly stored in one go. Reading a span of ids takes a third of the time of
# following parents one by one, as long as the span is not mostly other sessions'.
_SPAN_NODES_PER_REQUEST = 64


def session_nodes(connection: sqlite3.Connection, row_id: int) -> list[ChainNode]:
    """Every node of a session's prompts, each once, parents before children."""
    tips = [
        row[0]
        for row in connection.execute(
            "SELECT DISTINCT node_id FROM requests WHERE session_id = ? AND node_id IS NOT NULL",
            (row_id,),
        )
    ]
    if not tips:
        return []
    first, last = min(tips), max(tips)
    if last - first > _SPAN_NODES_PER_REQUEST * len(tips):
        return _ancestors(connection, tips)
    rows = connection.execute(
        f"SELECT {_NODE_COLUMNS} FROM nodes n {_NODE_TOKENS} WHERE n.id BETWEEN ? AND ? "
        "ORDER BY n.id",
        (first, last),
    ).fetchall()
    needed = set(tips)
    own = []
    for row in reversed(rows):
        if row[0] in needed:
            own.append(row)
            if row[1] is not None:
                needed.add(row[1])
    own.reverse()
    before = [node for node in needed if node < first]
    return [*_ancestors(connection, before), *map(ChainNode._make, own)]


def _ancestors(connection: sqlite3.Connection, tips: Sequence[int]) -> list[ChainNode]:
    """The nodes of some paths, each once, parents before children."""
    if not tips:
        return []
    rows = connection.execute(
        f"""WITH RECURSIVE up(id) AS (
  SELECT value FROM json_each(?)
  UNION
  SELECT n.parent_id FROM up JOIN nodes n ON n.id = up.id WHERE n.parent_id IS NOT NULL
)
SELECT {_NODE_COLUMNS} FROM up JOIN nodes n ON n.id = up.id {_NODE_TOKENS} ORDER BY n.id""",
        (json.dumps(tips),),
    )
    return [*map(ChainNode._make, rows)]


def tool_names(connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, tuple[str, bytes]]:
    """Names and hashes of the blocks that are tools, by row id; a gap is none."""
    found: dict[int, tuple[str, bytes]] = {}
    for start in range(0, len(ids), _MAX_IN):
        some = ids[start : start + _MAX_IN]
        marks = ",".join("?" * len(some))
        rows = connection.execute(
            f"SELECT id, name, wire_hash FROM blocks WHERE id IN ({marks}) AND kind <> ?",
            (*some, Kind.GAP),
        )
        found.update({row[0]: (row[1], row[2]) for row in rows})
    return found


def blocks_with_text(connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, Block]:
    """Tier, role, kind and text of blocks, by row id: all that says what they are."""
    found: dict[int, Block] = {}
    for start in range(0, len(ids), _MAX_IN):
        some = ids[start : start + _MAX_IN]
        marks = ",".join("?" * len(some))
        rows = connection.execute(
            "SELECT b.id, b.tier, b.role, b.kind, x.text, x.text_zlib FROM blocks b "
            f"JOIN block_texts x ON x.block_id = b.id WHERE b.id IN ({marks})",
            tuple(some),
        )
        for block_id, tier, role, kind, text, packed in rows:
            found[block_id] = Block(Tier(tier), role, Kind(kind), block_text(text, packed))
    return found


_BLOCK_COLUMNS = """n.id, n.depth, n.message_index, n.block_index, b.id, b.wire_hash, b.tier,
  b.role, b.kind, b.part, b.name, b.call_id, b.chars, b.bytes, b.estimate_tokens, t.tokens, t.exact,
  b.span_messages, b.preview, b.extra_json, b.source_id, b.line, b.offset_bytes, b.shape,
  b.message_json, b.norm_hash"""
_PROMPT = (
    f"{_UP} SELECT {_BLOCK_COLUMNS} FROM up JOIN nodes n ON n.id = up.id "
    "JOIN blocks b ON b.id = n.block_id "
    "LEFT JOIN block_tokens t ON t.block_id = b.id AND t.counter = ?2"
)


def prompt_blocks(connection: sqlite3.Connection, node_id: int) -> list[BlockRow]:
    """All blocks of a prompt, in order."""
    rows = connection.execute(_PROMPT, (node_id, DEFAULT_ENCODING)).fetchall()
    rows.reverse()  # they come last block first: sorting such wide rows takes longer
    return list(map(BlockRow._make, rows))


def head_and_block(
    connection: sqlite3.Connection, node_id: int, index: int, head: Sequence[Part]
) -> list[BlockRow]:
    """Of a prompt its blocks of some parts, and the one at `index` where there is one, in order."""
    marks = ",".join("?" * len(head))
    rows = connection.execute(
        f"{_PROMPT} WHERE n.depth = ?3 OR b.part IN ({marks}) ORDER BY n.depth",
        (node_id, DEFAULT_ENCODING, index, *head),
    )
    return [BlockRow._make(row) for row in rows]


def session_block_rows(connection: sqlite3.Connection, nodes: Sequence[int]) -> dict[int, BlockRow]:
    """The blocks of nodes, by node id."""
    rows = connection.execute(
        f"SELECT {_BLOCK_COLUMNS} FROM json_each(?1) j JOIN nodes n ON n.id = j.value "
        "JOIN blocks b ON b.id = n.block_id "
        "LEFT JOIN block_tokens t ON t.block_id = b.id AND t.counter = ?2",
        (json.dumps(nodes), DEFAULT_ENCODING),
    )
    return {row[0]: BlockRow(*row) for row in rows}


def chain_ids(connection: sqlite3.Connection, node_id: int) -> list[int]:
    """The node ids of a prompt, first block first."""
    rows = connection.execute(f"{_UP} SELECT id FROM up", (node_id,)).fetchall()
    return [row[0] for row in reversed(rows)]


def response_blocks(connection: sqlite3.Connection, request_row: int) -> list[BlockRow]:
    """The blocks that the model answered with; depth is the position."""
    columns = _BLOCK_COLUMNS.replace("n.id, n.depth, n.message_index, n.block_index", "0, "
                                     "p.position, NULL, p.position")  # fmt: skip
    rows = connection.execute(
        f"SELECT {columns} FROM response_blocks p JOIN blocks b ON b.id = p.block_id "
        "LEFT JOIN block_tokens t ON t.block_id = b.id AND t.counter = ?2 "
        "WHERE p.request_id = ?1 ORDER BY p.position",
        (request_row, DEFAULT_ENCODING),
    )
    return [BlockRow(*row) for row in rows]


def block_texts(
    connection: sqlite3.Connection, ids: Sequence[int]
) -> dict[int, tuple[str | None, bytes | None]]:
    """The two text columns of blocks, by row id."""
    found: dict[int, tuple[str | None, bytes | None]] = {}
    for start in range(0, len(ids), _MAX_IN):
        some = ids[start : start + _MAX_IN]
        marks = ",".join("?" * len(some))
        rows = connection.execute(
            f"SELECT block_id, text, text_zlib FROM block_texts WHERE block_id IN ({marks})",
            tuple(some),
        )
        found.update({row[0]: (row[1], row[2]) for row in rows})
    return found
