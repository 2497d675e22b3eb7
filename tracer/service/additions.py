"""What each request of a session added: every stored block once, where it first stood.

The prompts of a session are paths through a tree of nodes, so this is each node once, with the
request that brought it, and costs no more than reading them.
"""

import sqlite3
from collections.abc import Iterator, Mapping

from tracer.model.new_blocks import NewBlock, RequestAdditions
from tracer.model.prompt import Kind, Part, Tier
from tracer.store.prompts import BlockRow, block_texts, session_block_rows, session_nodes
from tracer.store.reading import RequestRow, session_requests
from tracer.store.tokens import block_text


def session_additions(
    connection: sqlite3.Connection, row_id: int, *, texts: bool
) -> Iterator[RequestAdditions]:
    """The additions of every request, by start time."""
    parents = {node.id: node.parent_id for node in session_nodes(connection, row_id)}
    rows = session_block_rows(connection, sorted(parents))
    owner: dict[int, int] = {}
    for seq, request in enumerate(session_requests(connection, row_id), 1):
        if request.node_id is None:
            yield RequestAdditions(request.key, seq, 0, None, None, ())
            continue
        fresh: list[int] = []
        node: int | None = request.node_id
        while node is not None and node not in owner:
            fresh.append(node)
            node = parents[node]
        owner.update(dict.fromkeys(fresh, seq))
        fresh.reverse()
        yield _additions(connection, request, seq, node, owner, [rows[n] for n in fresh], rows,
                         texts=texts)  # fmt: skip


def _additions(
    connection: sqlite3.Connection,
    request: RequestRow,
    seq: int,
    kept: int | None,
    owner: Mapping[int, int],
    fresh: list[BlockRow],
    rows: Mapping[int, BlockRow],
    *,
    texts: bool,
) -> RequestAdditions:
    assert request.node_id is not None
    packed = block_texts(connection, sorted({b.block_id for b in fresh})) if texts else {}
    blocks = tuple(
        _new_block(b, block_text(*packed[b.block_id]) if b.block_id in packed else None)
        for b in fresh
    )
    return RequestAdditions(
        key=request.key,
        seq=seq,
        kept=rows[kept].depth + 1 if kept is not None else 0,
        kept_seq=owner[kept] if kept is not None else None,
        total=rows[request.node_id].depth + 1,
        blocks=blocks,
    )


def _new_block(row: BlockRow, text: str | None) -> NewBlock:
    return NewBlock(
        index=row.depth,
        tier=Tier(row.tier),
        message_index=row.message_index,
        role=row.role,
        kind=Kind(row.kind),
        part=Part(row.part),
        name=row.name,
        chars=row.chars,
        tokens=row.estimate_tokens if row.bpe_tokens is None else row.bpe_tokens,
        counted=row.bpe_tokens is not None,
        wire_hash=row.wire_hash.hex(),
        span_messages=row.span_messages,
        text=text,
    )
