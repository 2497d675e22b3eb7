"""References that nothing defined when they were read, tried again. Files are read in any order:
the one that defines a message may be read after the one that refers to it.
"""

from tracer.assemble.windows import Carry
from tracer.store.layouts import KnownMessage, LayoutRows, name_hash
from tracer.store.restore import LoadedMessage, load_chain
from tracer.store.traces import Filled, Unresolved, fill_prompt, notes_on_path, unresolved_requests
from tracer.store.writer import StoredBlock, StoredNode, Writer


def resolve_references(writer: Writer, row_id: int, session_id: str) -> int:
    """Fill the gaps of a session's prompts as far as they can be; returns how many prompts have
    changed. Requests are taken in the order of their time, and what one refers to counts for those
    after it in its file, as it does when a file is read."""
    rows = LayoutRows(writer)
    changed = 0
    for request in unresolved_requests(writer.connection, row_id):
        found = _found(rows, request, session_id)
        if found:
            _fill(writer, rows, request, found)
            changed += 1
    return changed


def _found(rows: LayoutRows, request: Unresolved, session_id: str) -> dict[str, KnownMessage]:
    found: dict[str, KnownMessage] = {}
    for message_id in dict.fromkeys(request.missing):
        name, at_ms = name_hash(session_id, message_id), request.at_ms
        known = rows.own_message(name, request.place)
        if known is None:
            known = rows.other_message(name, request.place, at_ms)
            if known is None:
                continue
            rows.define(name, request.place, at_ms, known, carried=True)
        found[message_id] = known
    return found


def _fill(
    writer: Writer, rows: LayoutRows, request: Unresolved, found: dict[str, KnownMessage]
) -> None:
    """Build the chain of a prompt anew, with the messages that are known now in their places."""
    chain = load_chain(writer.connection, request.node_id)
    notes = notes_on_path(writer.connection, request.note_node_id)
    node: StoredNode | None = chain.root
    note_ids: list[int] = []
    missing: list[str] = []
    known_from = 0
    leading = head_known = True
    for index, (message, note) in enumerate(zip(chain.messages, notes, strict=True)):
        known = found.get(note.message_id) if message.gap else None
        if message.gap and known is None:
            missing.append(note.message_id)
            known_from = index + 1
            head_known = head_known and not leading
        note_ids.append(known.note_id if known else note.id)
        blocks = _blocks(writer, message, known)
        leading = leading and (blocks[0].is_system or (bool(message.gap) and known is None))
        node = _message(writer, node, blocks, index)
    end = rows.chain(note_ids)
    writer.flush()
    fill_prompt(
        writer.connection,
        request,
        Filled(
            node_id=node.id if node else None,
            note_node_id=end.id if end else None,
            missing=tuple(missing),
            verified_from=known_from,
            carry=Carry.LOST if missing else Carry.NONE,
            system_from=request.system_from or ("messages" if head_known else ""),
        ),
    )


def _blocks(
    writer: Writer, message: LoadedMessage, known: KnownMessage | None
) -> tuple[StoredBlock, ...]:
    if known is None:
        return message.blocks
    return tuple(writer.stored_block(block_id) for block_id in known.blocks)


def _message(
    writer: Writer, node: StoredNode | None, blocks: tuple[StoredBlock, ...], index: int
) -> StoredNode | None:
    for position, block in enumerate(blocks):
        node = writer.node(
            node,
            block,
            starts_message=position == 0,
            message_index=index,
            block_index=position,
        )
    return node
