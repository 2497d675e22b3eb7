"""The messages of a record that has an outline: references resolved, notes kept beside them.

A reference stands for the message as the file had it last; else as another file of the session had
it at the time. What no line has defined is a gap of one message that carries the id, so that the
request shows what is missing, and can be completed when the missing file is read.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import NamedTuple, TypeAlias

from tracer.model.events import ModelCall, RawItem
from tracer.model.prompt import Block, Kind, MarkerValue, Message, Tier
from tracer.model.segments import MessageNote
from tracer.store.layouts import KnownMessage, LayoutFacts, LayoutRows, name_hash
from tracer.store.writer import Place, StoredBlock, Writer

MAX_KNOWN = 150_000


class OutlinedItem(NamedTuple):
    """A message as the row ids of its blocks, the markers on it, and its note's row id."""

    blocks: tuple[int, ...]
    markers: tuple[MarkerValue, ...]
    note_id: int


class Outlined(NamedTuple):
    """The messages of a record, what is kept of its layout, the first message from which on all are
    known, and whether all of the system's messages at the head are."""

    items: list[OutlinedItem]
    facts: LayoutFacts
    known_from: int
    head_known: bool


@dataclass(slots=True)
class Known:
    """What the newest lines of a file say of messages, by session and message id.

    `items` are references as their bytes stand, with what they mean in `session`: most of a record
    are references that the one before had, too. They hold until a message is defined anew.
    """

    messages: dict[tuple[str, str], KnownMessage] = field(default_factory=dict)
    items: dict[RawItem, OutlinedItem] = field(default_factory=dict)
    session: str = ""
    generation: int = -1


Store: TypeAlias = Callable[[Message, Place], tuple[tuple[int, ...], tuple[MarkerValue, ...]]]


class Outliner:
    """Reads the messages of records that have an outline."""

    def __init__(self, writer: Writer, store: Store, stored: dict[int, StoredBlock]) -> None:
        self._rows = LayoutRows(writer)
        self._writer = writer
        self._store = store
        self._stored = stored
        self._items: dict[bytes, OutlinedItem] = {}
        self._generation = writer.generation

    @property
    def rows(self) -> LayoutRows:
        """Where layouts are written."""
        return self._rows

    def read(self, call: ModelCall, place: Place, known: Known) -> Outlined:
        """The messages of a record. `known` is what was read of its file before, and is updated."""
        outline = call.outline
        if outline is None:
            raise ValueError("the record has no outline")
        self._fresh(known, call.session_id)
        limit = len(outline.ids) if outline.prefix_messages is None else outline.prefix_messages
        leading = head_known = True
        items: list[OutlinedItem] = []
        unresolved: list[str] = []
        known_from = 0
        for position, raw in enumerate(call.window.items):
            leading = leading and position < limit
            message_id = outline.ids[position]
            if position in outline.refs:
                found = known.items.get(raw) or self._referred(call, message_id, raw, place, known)
                if found is None:
                    unresolved.append(message_id)
                    known_from = position + 1
                    head_known = head_known and not leading
                    items.append(self._gap(call, message_id, raw, place))
                    continue  # whether it is the system's is not known
                item = found
            else:
                item = self._item(call, raw, leading, place)
                if message_id:
                    self._define(call, message_id, item, place, known)
            leading = leading and self._stored[item.blocks[0]].is_system
            items.append(item)
        layout = replace(outline.layout, unresolved=tuple(unresolved))
        notes = self._rows.chain([item.note_id for item in items])
        facts = LayoutFacts(layout, notes, outline.extra_json)
        return Outlined(items, facts, known_from, head_known)

    def _fresh(self, known: Known, session_id: str) -> None:
        if self._generation != self._writer.generation or len(self._items) > MAX_KNOWN:
            self._items.clear()
            self._generation = self._writer.generation
        if len(known.messages) > MAX_KNOWN:
            known.messages.clear()
        if (known.session, known.generation) != (session_id, self._generation):
            known.items.clear()
            known.session, known.generation = session_id, self._generation

    def _item(self, call: ModelCall, raw: RawItem, leading: bool, place: Place) -> OutlinedItem:
        key = sha256(raw).digest() + (b"leading" if leading else b"")
        item = self._items.get(key)
        if item is None:
            try:
                message, note = call.parsers.message(raw), call.parsers.note(raw)
            except (ValueError, RecursionError):
                message, note = _unreadable(raw), MessageNote()
            if leading and message.role == "system":
                blocks = tuple(replace(block, tier=Tier.SYSTEM) for block in message.blocks)
                message = replace(message, blocks=blocks)
            blocks_ids, markers = self._store(message, place)
            item = self._items[key] = OutlinedItem(blocks_ids, markers, self._rows.note(note))
        return item

    def _define(
        self, call: ModelCall, message_id: str, item: OutlinedItem, place: Place, known: Known
    ) -> None:
        here = KnownMessage(item.blocks, item.note_id)
        key = call.session_id, message_id
        old = self._own(key, place, known)
        if old != here:
            name = name_hash(*key)
            self._rows.define(name, place, call.started_at_ms or 0, here, carried=False)
            known.messages[key] = here
            if old is not None:
                known.items.clear()

    def _own(self, key: tuple[str, str], place: Place, known: Known) -> KnownMessage | None:
        found = known.messages.get(key)
        if found is None:
            found = self._rows.own_message(name_hash(*key), place)
            if found is not None:
                known.messages[key] = found
        return found

    def _referred(
        self, call: ModelCall, message_id: str, raw: RawItem, place: Place, known: Known
    ) -> OutlinedItem | None:
        key = call.session_id, message_id
        found = self._own(key, place, known)
        if found is None:
            name, at_ms = name_hash(*key), call.started_at_ms or 0
            found = self._rows.other_message(name, place, at_ms)
            if found is None:
                return None
            self._rows.define(name, place, at_ms, found, carried=True)
            known.messages[key] = found
        self._load(found.blocks)
        markers = _markers(call, raw, len(found.blocks))
        item = known.items[raw] = OutlinedItem(found.blocks, markers, found.note_id)
        return item

    def _load(self, block_ids: tuple[int, ...]) -> None:
        for block_id in block_ids:
            if block_id not in self._stored:
                self._stored[block_id] = self._writer.stored_block(block_id)

    def _gap(self, call: ModelCall, message_id: str, raw: RawItem, place: Place) -> OutlinedItem:
        gap = Block(Tier.MESSAGES, "", Kind.GAP, "", name=message_id)
        blocks, _ = self._store(Message("", (gap,)), place)
        note = self._rows.note(MessageNote(id=message_id))
        return OutlinedItem(blocks, _markers(call, raw, 1), note)


def _markers(call: ModelCall, raw: RawItem, blocks: int) -> tuple[MarkerValue, ...]:
    """The markers of a reference: its own, since they move from request to request."""
    if b"ache" not in raw:
        return ()
    try:
        markers = call.parsers.message(raw).markers
    except (ValueError, RecursionError):
        return ()
    return tuple(marker._replace(block_index=blocks - 1) for marker in markers)


def _unreadable(raw: RawItem) -> Message:
    """A message that could not be read keeps its bytes as text."""
    text = raw.decode("utf-8", "replace")
    return Message("unknown", (Block(Tier.MESSAGES, "unknown", Kind.UNKNOWN, text, "other"),))
