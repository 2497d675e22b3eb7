"""Reading prompts: chains of nodes, and the blocks they are made of.

The chain of a request is walked by a recursive query; the nodes of a whole session are loaded at
once (`session_nodes`), never path by path.
"""

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple, cast

from tracer.assemble.chains import ChainNode
from tracer.tokens import DEFAULT_ENCODING

_MAX_IN = 500
_UP = """WITH RECURSIVE up(id) AS (
  VALUES (?1)
  UNION ALL
  SELECT n.parent_id FROM up JOIN nodes n ON n.id = up.id WHERE n.parent_id IS NOT NULL
)"""


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


def session_nodes(connection: sqlite3.Connection, row_id: int) -> list[ChainNode]:
    """Every node of a session's prompts, each once, parents before children.

    The rows are what the query gives, in the order of ChainNode's fields: building an object for
    each of them would take longer than the query.
    """
    rows = connection.execute(
        """WITH RECURSIVE up(id) AS (
  SELECT node_id FROM requests WHERE session_id = ?1 AND node_id IS NOT NULL
  UNION
  SELECT n.parent_id FROM up JOIN nodes n ON n.id = up.id WHERE n.parent_id IS NOT NULL
)
SELECT n.id, n.parent_id, n.block_id, n.message_index, n.block_index, n.part, n.role, n.cum_chars,
  n.cum_estimate_tokens, t.tokens
FROM up JOIN nodes n ON n.id = up.id
LEFT JOIN block_tokens t ON t.block_id = n.block_id AND t.counter = ?2
ORDER BY n.id""",
        (row_id, DEFAULT_ENCODING),
    )
    return cast("list[ChainNode]", rows.fetchall())


def block_labels(connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, tuple[str, str]]:
    """Names and previews of blocks, by row id."""
    found: dict[int, tuple[str, str]] = {}
    for start in range(0, len(ids), _MAX_IN):
        some = ids[start : start + _MAX_IN]
        marks = ",".join("?" * len(some))
        rows = connection.execute(
            f"SELECT id, name, preview FROM blocks WHERE id IN ({marks})", tuple(some)
        )
        found.update({row[0]: (row[1], row[2]) for row in rows})
    return found


_BLOCK_COLUMNS = """n.id, n.depth, n.message_index, n.block_index, b.id, b.wire_hash, b.tier,
  b.role, b.kind, b.part, b.name, b.call_id, b.chars, b.bytes, b.estimate_tokens, t.tokens, t.exact,
  b.span_messages, b.preview, b.extra_json, b.source_id, b.line, b.offset_bytes, b.shape,
  b.message_json"""


def prompt_blocks(connection: sqlite3.Connection, node_id: int) -> list[BlockRow]:
    """All blocks of a prompt, in order."""
    rows = connection.execute(
        f"{_UP} SELECT {_BLOCK_COLUMNS} FROM up JOIN nodes n ON n.id = up.id "
        "JOIN blocks b ON b.id = n.block_id "
        "LEFT JOIN block_tokens t ON t.block_id = b.id AND t.counter = ?2 ORDER BY n.depth",
        (node_id, DEFAULT_ENCODING),
    )
    return [BlockRow(*row) for row in rows]


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
