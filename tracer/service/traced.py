"""What a trace says of a prompt's parts by their kinds, in place of what texts alone would tell.

The kinds of the prefix are its sections; notes between the messages are reminders, their kind is
their source, with its scope where it has one: `world_state (run)`. A message of the conversation
itself is neither. Without known segments the prefix are the leading system messages.
"""

import sqlite3
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from tracer.anatomy.presence import IN_SYSTEM, Groups, Item, Request
from tracer.anatomy.prompt import McsMessage, PlacedReminder, PlacedSection
from tracer.anatomy.reminders import Trust, Via
from tracer.anatomy.section_spans import How
from tracer.anatomy.segments import SEGMENTS_14, Group, segment_name
from tracer.hashing import digest
from tracer.model.segments import MessageNote, PromptLayout, Segment
from tracer.service.anatomy import RequestAnatomy
from tracer.service.segmenting import TALK, NoteList, PromptPath
from tracer.store.layout_reading import session_layouts
from tracer.store.prompts import session_nodes, tool_names
from tracer.store.reading import AnyRequest

_STABLE_SEGMENTS = frozenset({1, 2, 3})
_UNNUMBERED = -1
"""The segment of a prefix without known segments."""
_DIFF = "diff"
_NAMELESS = "system_message"
_IN_PREFIX = IN_SYSTEM, IN_SYSTEM
_SYSTEM_ROLE = "system"
_HASH_CHARS = 16


class _Place(NamedTuple):
    """Where a message stands, and how large it is. `segment` is 0 behind the prefix; `held_in` is
    the segment that holds it, 0 where none does."""

    message: int
    segment: int
    held_in: int
    role: str
    chars: int
    tokens: int
    content: str


class _Told(NamedTuple):
    """What a message is: a section, a reminder, a mid-conversation system message, or two of
    these."""

    message: int
    held_in: int
    section: PlacedSection | None
    reminder: PlacedReminder | None
    mcs: McsMessage | None


class _Made(NamedTuple):
    """What the messages of a prompt come to. Most requests add none that tells anything."""

    sections: tuple[PlacedSection, ...]
    reminders: tuple[PlacedReminder, ...]
    mcs: tuple[McsMessage, ...]
    section_items: tuple[Item, ...]
    note_items: tuple[Item, ...]


class TracedAnatomies:
    """Puts what a session's trace says into what was found in the prompts, which are given in
    order: of each only what the one before did not have is looked at."""

    def __init__(self, connection: sqlite3.Connection, row_id: int) -> None:
        self._stored = session_layouts(connection, row_id)
        nodes = session_nodes(connection, row_id) if self._stored.layouts else []
        self._path = PromptPath(nodes)
        self._list = NoteList(self._stored)
        self._hashes = tool_names(connection, sorted({node.block_id for node in nodes}))
        self._layout = PromptLayout("", ())
        self._prefix: tuple[tuple[int, int, int], ...] = ()
        self._told: list[_Told] = []
        self._first_index: dict[int, int] = {}
        self._made: _Made | None = None

    def of(self, row: AnyRequest, found: RequestAnatomy | None) -> RequestAnatomy | None:
        """The anatomy of a request; that of a request of another format as it is."""
        stored = self._stored.layouts.get(row.id)
        if stored is None or found is None or row.node_id is None:
            return found
        kept = min(self._path.go(row.node_id), self._list.go(stored.note_ids))
        layout, prefix = stored.layout, _prefix(stored.layout, found)
        if prefix != self._prefix:
            kept = 0
        if layout.segments != self._layout.segments:
            kept = min(kept, _same_until(self._layout.segments, layout.segments))
        self._layout, self._prefix = layout, prefix
        told = len(self._told)
        while self._told and self._told[-1].message >= kept:
            del self._first_index[self._told.pop().message]
        popped = told - len(self._told)
        self._look(kept)
        if popped or len(self._told) != told or self._made is None:
            self._made = _made_of(self._told)
        return self._with(found, self._made)

    def _look(self, first: int) -> None:
        """Look at the messages from one on."""
        path, talking = self._path, {"", *TALK}
        held = [(s.first_message, s.n) for s in self._layout.segments if s.messages]
        for message in range(first, min(len(self._list.notes), len(path.starts))):
            segment = next((n for begin, end, n in self._prefix if begin <= message < end), 0)
            start, end = path.span(message, 1)
            role, note = path.role(start), self._list.notes[message]
            if not segment and note.kind in talking and role != _SYSTEM_ROLE:
                continue
            known = self._hashes.get(path.blocks[start])
            if known is None:  # a gap
                continue
            chars = path.chars[end] - path.chars[start]
            tokens = path.tokens[end] - path.tokens[start]
            content = known[1].hex()[:_HASH_CHARS]
            at = bisect_right(held, message, key=lambda segment: segment[0])
            held_in = held[at - 1][1] if at else 0
            place = _Place(message, segment, held_in, role, chars, tokens, content)
            self._told.append(_told(place, note))
            self._first_index[message] = start

    def _with(self, found: RequestAnatomy, made: _Made) -> RequestAnatomy:
        return replace(
            found,
            traced=True,
            sections=made.sections,
            reminders=made.reminders,
            mcs=made.mcs,
            first_index={**found.first_index, **self._first_index},
            groups=Groups(
                found.groups.tools,
                found.groups.sections._replace(items=made.section_items),
                Request(made.note_items, found.whole),
                Request((), found.whole),
            ),
        )


def _made_of(told: Sequence[_Told]) -> _Made:
    return _Made(
        tuple(t.section for t in told if t.section is not None),
        tuple(t.reminder for t in told if t.reminder is not None),
        tuple(t.mcs for t in told if t.mcs is not None),
        _section_items(told),
        _note_items(told),
    )


def _prefix(layout: PromptLayout, found: RequestAnatomy) -> tuple[tuple[int, int, int], ...]:
    """The first message, the one behind the last, and the number of each segment of the prefix."""
    if layout.layout != SEGMENTS_14:
        return ((0, found.system_messages, _UNNUMBERED),)
    return tuple(
        (s.first_message, s.first_message + s.messages, s.n)
        for s in layout.segments
        if segment_name(SEGMENTS_14, s.n).group is Group.PREFIX
    )


def _same_until(before: Sequence[Segment], now: Sequence[Segment]) -> int:
    """How many leading messages stand in the same segments for certain."""
    for old, new in zip(before, now, strict=False):
        if old != new:
            grown = old.n == new.n and old.first_message == new.first_message
            return new.first_message + (min(old.messages, new.messages) if grown else 0)
    return min(sum(s.messages for s in segments) for segments in (before, now))


def _section_items(told: Iterable[_Told]) -> tuple[Item, ...]:
    """The items of sections: each moves where it stands in another segment."""
    return tuple(
        Item(f"section {t.section.source}", t.section.content_hash, str(t.held_in), *_IN_PREFIX)
        for t in told
        if t.section is not None
    )


def _note_items(told: Iterable[_Told]) -> tuple[Item, ...]:
    """One item for all notes of a name. They change where one comes, goes or reads otherwise, and
    move where they stand in other segments, or in another order."""
    notes: dict[str, list[tuple[str, _Told]]] = {}
    for t in told:
        if t.reminder is not None:
            notes.setdefault(t.reminder.source, []).append((t.reminder.content_hash, t))
        elif t.mcs is not None:
            notes.setdefault(t.mcs.sources[0], []).append((t.mcs.content_hash, t))
    return tuple(
        Item(
            f"reminder {name}",
            digest(",".join(sorted(content for content, _ in own)).encode()).hex(),
            " ".join(f"{t.held_in}:{content}" for content, t in own),
            own[0][1].message,
            own[-1][1].message,
        )
        for name, own in notes.items()
    )


def _told(place: _Place, note: MessageNote) -> _Told:
    if place.segment:
        return _Told(place.message, place.held_in, _section(place, note), None, None)
    kind = note.kind
    system = place.role == _SYSTEM_ROLE
    return _Told(
        place.message,
        place.held_in,
        None,
        _reminder(place, note) if kind and kind not in TALK else None,
        McsMessage(place.message, (_name(note) or _NAMELESS,), place.chars, place.content)
        if system
        else None,
    )


def _name(note: MessageNote) -> str:
    """What a message is called: its kind, with its scope where it has one, else its id."""
    words = (note.scope, note.mode if note.mode == _DIFF else "")
    about = ", ".join(word for word in words if word)
    return f"{note.kind} ({about})" if note.kind and about else note.kind or note.id


def _section(place: _Place, note: MessageNote) -> PlacedSection:
    numbered = f"segment_{place.segment}" if place.segment > 0 else _NAMELESS
    source = _name(note) or numbered
    return PlacedSection(
        source=source,
        name=source.replace("_", " ").capitalize(),
        target="system",
        cache_hint="stable" if place.segment in _STABLE_SEGMENTS else "dynamic",
        message_index=place.message,
        block_index=0,
        start_char=0,
        end_char=place.chars,
        how=How.LOGGED,
        chars=place.chars,
        tokens_estimate=place.tokens,
        content_hash=place.content,
    )


def _reminder(place: _Place, note: MessageNote) -> PlacedReminder:
    return PlacedReminder(
        source=_name(note),
        via=Via.MCS if place.role == _SYSTEM_ROLE else Via.INLINE,
        message_index=place.message,
        block_index=0,
        start_char=0,
        end_char=place.chars,
        ambiguous_with=(),
        presentation="",
        trust=Trust.SYSTEM,
        merged=False,
        chars=place.chars,
        tokens_estimate=place.tokens,
        content_hash=place.content,
    )
