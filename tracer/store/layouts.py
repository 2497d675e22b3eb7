"""Writing how prompts are laid out: notes once, chains of notes by hash, where messages stand.

The ids that are given out here are a cache of the database: they are dropped whenever the writer
drops its own.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from tracer.assemble.windows import equal_length
from tracer.hashing import ROOT_HASH, digest
from tracer.model.segments import MessageNote, PromptLayout, ToolNote
from tracer.store.writer import Place, Writer

_encode = msgspec.json.Encoder().encode
_decode_ids = msgspec.json.Decoder(tuple[int, ...]).decode
_decode_note = msgspec.json.Decoder(MessageNote).decode
_EMPTY_NOTE = MessageNote()
MAX_CACHED = 100_000


class NoteNode(NamedTuple):
    """A node of the chain of notes."""

    id: int
    hash: bytes
    depth: int


class LayoutFacts(NamedTuple):
    """What a request row keeps of its layout."""

    layout: PromptLayout
    notes: NoteNode | None
    extra_json: str


class KnownMessage(NamedTuple):
    """A message that a session has defined: the row ids of its blocks, and of its note."""

    blocks: tuple[int, ...]
    note_id: int


def name_hash(session_id: str, message_id: str) -> bytes:
    """16 bytes that name a message of a session."""
    return digest(_encode([session_id, message_id]))


def note_json(note: MessageNote) -> str:
    """A note as one object; keys that say nothing are left out."""
    fields = {name: getattr(note, name) for name in MessageNote.__dataclass_fields__}
    said = {k: v for k, v in fields.items() if v != getattr(_EMPTY_NOTE, k)}
    return _encode(said).decode()


def note_of(json: str) -> MessageNote:
    """The note that `note_json` wrote."""
    return _decode_note(json)


class LayoutRows:
    """Writes layouts through a `Writer`'s transaction."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._execute = writer.connection.execute
        self._texts: dict[str, tuple[int, bytes]] = {}
        self._hashes: dict[int, bytes] = {}
        self._nodes: dict[tuple[int, int], NoteNode] = {}
        self._newest: tuple[Sequence[int], list[NoteNode]] = (), []
        self._generation = writer.generation

    def _fresh(self) -> None:
        cached = len(self._texts) + len(self._nodes)
        if self._generation != self._writer.generation or cached > MAX_CACHED:
            self._texts.clear()
            self._hashes.clear()
            self._nodes.clear()
            self._newest = (), []
            self._generation = self._writer.generation

    def note(self, note: MessageNote) -> int:
        """The row id of a note."""
        return self._text(note_json(note))

    def _text(self, json: str) -> int:
        self._fresh()
        known = self._texts.get(json)
        if known is None:
            key = digest(json.encode("utf-8", "replace"))
            self._execute(
                "INSERT OR IGNORE INTO layout_texts (hash, json) VALUES (?, ?)", (key, json)
            )
            row = self._execute("SELECT id FROM layout_texts WHERE hash = ?", (key,)).fetchone()
            known = self._texts[json] = (int(row[0]), key)
            self._hashes[known[0]] = key
        return known[0]

    def chain(self, note_ids: Sequence[int]) -> NoteNode | None:
        """The node that ends the chain of these notes; None for no notes."""
        self._fresh()
        ids, nodes = self._newest
        kept = equal_length(ids, note_ids)
        nodes = nodes[:kept]
        node = nodes[-1] if nodes else None
        for note_id in note_ids[kept:]:
            known = self._nodes.get((node.id if node else 0, note_id))
            node = known or self._node(node, note_id)
            nodes.append(node)
        self._newest = note_ids, nodes
        return node

    def _node(self, parent: NoteNode | None, note_id: int) -> NoteNode:
        key = digest((parent.hash if parent else ROOT_HASH) + self._hash(note_id))
        depth = parent.depth + 1 if parent else 0
        self._execute(
            "INSERT OR IGNORE INTO note_nodes (hash, parent_id, note_id, depth) "
            "VALUES (?, ?, ?, ?)",
            (key, parent.id if parent else None, note_id, depth),
        )
        row = self._execute("SELECT id FROM note_nodes WHERE hash = ?", (key,)).fetchone()
        node = NoteNode(int(row[0]), key, depth)
        self._nodes[parent.id if parent else 0, note_id] = node
        return node

    def _hash(self, note_id: int) -> bytes:
        known = self._hashes.get(note_id)
        if known is None:
            row = self._execute("SELECT hash FROM layout_texts WHERE id = ?", (note_id,)).fetchone()
            known = self._hashes[note_id] = row[0]
        return known

    def define(
        self, name: bytes, place: Place, at_ms: int, known: KnownMessage, *, carried: bool
    ) -> None:
        """Note that a line wrote a message in full, or referred to another file's."""
        self._execute(
            "INSERT OR REPLACE INTO message_places VALUES (?, ?, ?, ?, ?, ?, ?)",
            (name, place.source_id, place.line, at_ms, _encode(known.blocks).decode(),
             known.note_id, int(carried)),
        )  # fmt: skip

    def own_message(self, name: bytes, place: Place) -> KnownMessage | None:
        """A message as the newest line before `place` in the same file has it."""
        return self._found(
            "SELECT m.blocks_json, m.note_id FROM message_places m "
            "JOIN sources s ON s.id = m.source_id JOIN sources n ON n.id = ?2 "
            "WHERE m.name_hash = ?1 AND s.path = n.path AND (s.segment, m.line) < (n.segment, ?3) "
            "ORDER BY s.segment DESC, m.line DESC LIMIT 1",
            (name, place.source_id, place.line),
        )

    def other_message(self, name: bytes, place: Place, at_ms: int) -> KnownMessage | None:
        """A message as the newest line of any other file has it that is not later."""
        return self._found(
            "SELECT m.blocks_json, m.note_id FROM message_places m "
            "JOIN sources s ON s.id = m.source_id JOIN sources n ON n.id = ?2 "
            "WHERE m.name_hash = ?1 AND s.path <> n.path AND m.at_ms <= ?3 AND NOT m.carried "
            "ORDER BY m.at_ms DESC, s.path, s.segment, m.line DESC LIMIT 1",
            (name, place.source_id, at_ms),
        )

    def _found(self, sql: str, values: tuple[Any, ...]) -> KnownMessage | None:
        row = self._execute(sql, values).fetchone()
        return KnownMessage(_decode_ids(row[0]), int(row[1])) if row else None

    def put(self, request: int, facts: LayoutFacts) -> None:
        """Store the layout of a request's own record."""
        layout = facts.layout
        segments = [(s.n, s.messages) for s in layout.segments]
        self._execute(
            "INSERT OR REPLACE INTO request_layouts VALUES (?, ?, ?, ?, ?, ?, ?, NULL)",
            (
                request, layout.layout, _encode(segments).decode() if segments else "",
                self._text(tools_json(layout.tools)) if layout.tools else None,
                facts.notes.id if facts.notes else None,
                _encode(layout.unresolved).decode() if layout.unresolved else "",
                facts.extra_json,
            ),
        )  # fmt: skip


def tools_json(tools: Sequence[ToolNote]) -> str:
    """The notes of a list of tools."""
    return _encode([(t.name, t.group, t.capability) for t in tools]).decode()


def layout_hash(facts: LayoutFacts) -> bytes:
    """16 bytes over everything that a layout says. Row ids are left out."""
    layout = facts.layout
    return digest(
        _encode(
            [
                layout.layout,
                [(s.n, s.messages) for s in layout.segments],
                tools_json(layout.tools),
                facts.notes.hash if facts.notes else None,
                layout.unresolved,
                facts.extra_json,
            ]
        )
    )
