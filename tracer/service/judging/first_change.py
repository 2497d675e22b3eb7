"""Where two prompts part, with the lines around it: two blocks are read, and no more."""

import sqlite3
from collections.abc import Sequence

from tracer.compare import diff_texts, hunk_page
from tracer.compare.describe import note_label
from tracer.model.prompt import JSON_KINDS, Kind, Tier
from tracer.model.segments import MessageNote
from tracer.model.verdict_views import FirstChange
from tracer.service.comparing import first_lines
from tracer.store.judging import BlockInfo, PathRow, block_infos, path_rows
from tracer.store.prompts import block_texts
from tracer.store.tokens import block_text

MAX_LINE_CHARS = 400
"""Of a longer line the part around the change is shown."""


def first_change(
    connection: sqlite3.Connection,
    a_node: int,
    b_node: int,
    notes: tuple[Sequence[MessageNote], Sequence[MessageNote]] = ((), ()),
    *,
    reveal: bool = False,
) -> FirstChange | None:
    """The first difference of two prompts; None where one is the other and more, or where the log
    does not show it. `notes` are what an open trace says of the messages of either. Secrets are
    masked unless `reveal`."""
    a, b = path_rows(connection, a_node), path_rows(connection, b_node)
    depth = 0
    while depth < min(len(a), len(b)) and a[depth].node_id == b[depth].node_id:
        depth += 1
    if depth >= len(a) or depth >= len(b):
        return None
    old: PathRow | None = a[depth]
    new: PathRow | None = b[depth]
    later = {row.block_id: at for at, row in reversed([*enumerate(b)][depth + 1 :])}
    if b[depth].block_id in {row.block_id for row in a[depth + 1 :]}:
        to = later.get(a[depth].block_id)
        if to is not None:
            return _moved(connection, (a[depth], depth), (b[to], to), notes[0])
        new = None
    elif a[depth].block_id in later:
        old = None
    ids = [row.block_id for row in (old, new) if row is not None]
    blocks = block_infos(connection, ids)
    if any(block.kind is Kind.GAP for block in blocks.values()):
        return None
    texts = {i: block_text(*columns) for i, columns in block_texts(connection, ids).items()}
    before = texts.get(old.block_id) if old else None
    after = texts.get(new.block_id) if new else None
    json = all(block.kind in JSON_KINDS for block in blocks.values())
    aligned = diff_texts(before, after, json=json)
    page = hunk_page(aligned, limit=1, context=2, max_line_chars=MAX_LINE_CHARS, reveal=reveal)
    shown = new or old
    assert shown is not None
    return FirstChange(
        op="changed" if old and new else "added" if new else "removed",
        place=_place(shown, blocks[shown.block_id], notes[1 if new else 0]),
        a_index=depth if old else None,
        b_index=depth if new else None,
        lines=first_lines(page.hunks[0].lines) if page.hunks else (),
        more_hunks=max(0, page.total - 1),
        message_index=shown.message_index,
    )


def _moved(
    connection: sqlite3.Connection,
    old: tuple[PathRow, int],
    new: tuple[PathRow, int],
    notes: Sequence[MessageNote],
) -> FirstChange | None:
    """A block that stands elsewhere now; None where the log does not show it."""
    (block,) = block_infos(connection, [old[0].block_id]).values()
    if block.kind is Kind.GAP:
        return None
    number = new[0].block_index if block.tier is Tier.TOOLS else new[0].message_index
    place = f"{_place(old[0], block, notes)}: now at {'-' if number is None else number}"
    return FirstChange("moved", place, old[1], new[1], (), 0)


def _place(row: PathRow, block: BlockInfo, notes: Sequence[MessageNote]) -> str:
    """Where a block stands, in words, and what it is called."""
    if block.tier is Tier.TOOLS:
        return f"tool {row.block_index}" + (f", {block.name}" if block.name else "")
    if row.message_index is None:
        return f"system block {row.block_index}"
    inside = f", block {row.block_index}" if row.block_index else ""
    called = note_label(notes[row.message_index]) if row.message_index < len(notes) else ""
    if block.tier is Tier.SYSTEM:
        return f"system block {row.message_index}{inside}{f' ({called})' if called else ''}"
    return f"message {row.message_index}{inside} ({called or block.role})"
