"""What a trace says of a prompt's parts by their kinds, in place of what texts alone would tell.

The kinds of the prefix are its sections; notes between the messages are reminders, their kind is
their source. A message of the conversation itself is neither.
"""

import sqlite3
from dataclasses import replace
from typing import NamedTuple

from tracer.anatomy.presence import Groups, ReminderNotes, Request, mcs_items, section_items
from tracer.anatomy.prompt import McsMessage, PlacedReminder, PlacedSection
from tracer.anatomy.reminders import Trust, Via
from tracer.anatomy.section_spans import How
from tracer.anatomy.segments import SEGMENTS_14, Group, segment_name
from tracer.model.segments import MessageNote
from tracer.service.anatomy import RequestAnatomy
from tracer.service.segmenting import TALK, NoteList, PromptPath
from tracer.store.layout_reading import session_layouts
from tracer.store.prompts import session_nodes, tool_names
from tracer.store.reading import AnyRequest

_STABLE_SEGMENTS = frozenset({1, 2, 3})
_SYSTEM_ROLE = "system"
_HASH_CHARS = 16


class _Place(NamedTuple):
    """Where a message stands, and how large it is. `segment` is 0 behind the prefix."""

    message: int
    segment: int
    role: str
    chars: int
    tokens: int
    content: str


class _Told(NamedTuple):
    """What a message is: a section, a reminder, a mid-conversation system message, or two of
    these."""

    message: int
    section: PlacedSection | None
    reminder: PlacedReminder | None
    mcs: McsMessage | None


class TracedAnatomies:
    """Puts what a session's trace says into what was found in the prompts, which are given in
    order: of each only what the one before did not have is looked at."""

    def __init__(self, connection: sqlite3.Connection, row_id: int) -> None:
        self._stored = session_layouts(connection, row_id)
        nodes = session_nodes(connection, row_id) if self._stored.layouts else []
        self._path = PromptPath(nodes)
        self._list = NoteList(self._stored)
        self._hashes = tool_names(connection, sorted({node[2] for node in nodes}))
        self._prefix: tuple[tuple[int, int, int], ...] = ()
        self._told: list[_Told] = []
        self._first_index: dict[int, int] = {}

    def of(self, row: AnyRequest, found: RequestAnatomy | None) -> RequestAnatomy | None:
        """The anatomy of a request; that of a request without a known layout as it is."""
        stored = self._stored.layouts.get(row.id)
        if stored is None or found is None or row.node_id is None:
            return found
        if stored.layout.layout != SEGMENTS_14:
            return found
        kept = min(self._path.go(row.node_id), self._list.go(stored.note_ids))
        prefix = tuple(
            (s.first_message, s.first_message + s.messages, s.n)
            for s in stored.layout.segments
            if segment_name(SEGMENTS_14, s.n).group is Group.PREFIX
        )
        if prefix != self._prefix:
            kept, self._prefix = 0, prefix
        while self._told and self._told[-1].message >= kept:
            del self._first_index[self._told.pop().message]
        self._look(kept)
        return self._with(found)

    def _look(self, first: int) -> None:
        """Look at the messages from one on."""
        path, talking = self._path, {"", *TALK}
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
            place = _Place(message, segment, role, chars, tokens, content)
            self._told.append(_told(place, note))
            self._first_index[message] = start

    def _with(self, found: RequestAnatomy) -> RequestAnatomy:
        sections = tuple(t.section for t in self._told if t.section is not None)
        reminders = tuple(t.reminder for t in self._told if t.reminder is not None)
        mcs = tuple(t.mcs for t in self._told if t.mcs is not None)
        system = frozenset(section.message_index for section in sections)
        return replace(
            found,
            sections=sections,
            reminders=reminders,
            mcs=mcs,
            first_index={**found.first_index, **self._first_index},
            groups=Groups(
                found.groups.tools,
                Request(section_items(sections, system), found.whole),
                Request(ReminderNotes().plus(reminders).items, found.whole),
                Request(mcs_items(mcs), found.whole),
            ),
        )


def _told(place: _Place, note: MessageNote) -> _Told:
    if place.segment:
        return _Told(place.message, _section(place, note), None, None)
    kind = note.kind
    return _Told(
        place.message,
        None,
        _reminder(place, note) if kind and kind not in TALK else None,
        McsMessage(place.message, (kind or "unknown",), place.chars, place.content)
        if place.role == _SYSTEM_ROLE
        else None,
    )


def _section(place: _Place, note: MessageNote) -> PlacedSection:
    source = note.kind or f"segment_{place.segment}"
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
        source=note.kind,
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
