"""The messages of a record that has an outline: references resolved, notes kept beside them.

A reference stands for the message as the file had it last; else as another file of the session had
it at the time. What no line has defined is a gap of one message that carries the id, so that the
request shows what is missing, and can be completed when the missing file is read.
"""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import compress, count
from operator import itemgetter
from typing import NamedTuple, TypeAlias, cast

from tracer.assemble.windows import equal_length
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


# By position: a record has hundreds of these, and an attribute takes twice as long.
_BLOCKS, _MARKERS, _NOTE_ID = itemgetter(0), itemgetter(1), itemgetter(2)


class Outlined(NamedTuple):
    """The blocks of the messages of a record, the markers on those that have some, what is kept of
    its layout, the first message from which on all are known, and whether all of the system's
    messages at the head are."""

    blocks: list[tuple[int, ...]]
    markers: list[tuple[int, tuple[MarkerValue, ...]]]
    facts: LayoutFacts
    known_from: int
    head_known: bool


@dataclass(slots=True)
class Known:
    """What the newest lines of a file say of messages, by session and message id.

    `items` are references as their bytes stand, with what they mean in `session`; `newest_raws` the
    messages of the newest record, and `newest_items` what the references among them mean: most of a
    record are references that the one before had, too. They hold until a message is defined anew.
    """

    messages: dict[tuple[str, str], KnownMessage] = field(default_factory=dict)
    items: dict[RawItem, OutlinedItem] = field(default_factory=dict)
    newest_raws: tuple[RawItem, ...] = ()
    newest_items: list[OutlinedItem | None] = field(default_factory=list)
    session: str = ""
    generation: int = -1

    def meant(self, raws: tuple[RawItem, ...]) -> list[OutlinedItem | None]:
        """What the references of a record mean, as far as that is known; None for all others."""
        same = equal_length(self.newest_raws, raws)
        return [*self.newest_items[:same], *map(self.items.get, raws[same:])]

    def forget_items(self) -> None:
        """Some reference does not mean any more what it meant."""
        self.items.clear()
        self.newest_raws, self.newest_items = (), []


Store: TypeAlias = Callable[[Message, Place], tuple[tuple[int, ...], tuple[MarkerValue, ...]]]


class _Head:
    """How far the system's messages at the head of a list reach: `limit` at the most."""

    def __init__(
        self, items: Sequence[OutlinedItem | None], limit: int, stored: Mapping[int, StoredBlock]
    ) -> None:
        self.known = True
        self._items = items
        self._limit = limit
        self._stored = stored
        self._end = 0

    def reaches(self, position: int, gaps: Container[int]) -> bool:
        """True where every message before `position` is the system's. Whether one of `gaps` is, is
        not known. All of them have an item."""
        while self._end < min(position, self._limit):
            item = self._items[self._end]
            if self._end not in gaps and item and not self._stored[item.blocks[0]].is_system:
                break
            self._end += 1
        return self._end == position < self._limit


def _without_item(items: Sequence[OutlinedItem | None]) -> Iterator[int]:
    """The positions that have no item, also when those behind them change meanwhile."""
    position = -1
    while True:
        try:
            position = items.index(None, position + 1)
        except ValueError:
            return
        yield position


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
        raws = call.window.items
        limit = len(raws) if outline.prefix_messages is None else outline.prefix_messages
        items = known.meant(raws)
        others: list[int] = []
        head = _Head(items, limit, self._stored)
        gaps: dict[int, str] = {}
        redefined = False
        for position in _without_item(items):
            raw, message_id = raws[position], outline.ids[position]
            leading = head.reaches(position, gaps)
            if outline.refs[position]:
                item = self._referred(call, message_id, raw, place, known)
                if item is None:
                    others.append(position)
                    item = self._gap(call, message_id, raw, place)
                    gaps[position] = message_id
                    head.known = head.known and not leading
            else:
                others.append(position)
                item = self._item(call, raw, leading, place)
                if message_id and self._define(call, message_id, item, place, known):
                    redefined = True
                    items[position + 1 :] = [None] * (len(items) - position - 1)
            items[position] = item
        found = cast("list[OutlinedItem]", items)  # each of them was taken
        layout = replace(outline.layout, unresolved=tuple(gaps.values()))
        notes = self._rows.chain(list(map(_NOTE_ID, found)))
        facts = LayoutFacts(layout, notes, outline.extra_json)
        marked = compress(count(), map(_MARKERS, found))
        markers = [(position, found[position].markers) for position in marked]
        if not redefined:  # else what stands before it does not mean that any more
            known.newest_raws, known.newest_items = raws, items.copy()
            for position in others:
                known.newest_items[position] = None
        known_from = max(gaps, default=-1) + 1
        return Outlined(list(map(_BLOCKS, found)), markers, facts, known_from, head.known)

    def _fresh(self, known: Known, session_id: str) -> None:
        if self._generation != self._writer.generation or len(self._items) > MAX_KNOWN:
            self._items.clear()
            self._generation = self._writer.generation
        if len(known.messages) > MAX_KNOWN:
            known.messages.clear()
        if (known.session, known.generation) != (session_id, self._generation):
            known.forget_items()
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
    ) -> bool:
        """Note what a message is from here on. True where it was another before, so that no
        reference means what it meant."""
        here = KnownMessage(item.blocks, item.note_id)
        key = call.session_id, message_id
        old = self._own(key, place, known)
        if old != here:
            name = name_hash(*key)
            self._rows.define(name, place, call.started_at_ms or 0, here, carried=False)
            known.messages[key] = here
            if old is not None:
                known.forget_items()
                return True
        return False

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
