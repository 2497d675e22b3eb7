"""What a trace says of a prompt's parts by their kinds, in place of what texts alone would tell.

The kinds of the prefix are its sections; notes between the messages are reminders, their kind is
their source. A message of the conversation itself is neither.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from tracer.anatomy.presence import Groups, ReminderNotes, Request, mcs_items, section_items
from tracer.anatomy.prompt import McsMessage, PlacedReminder, PlacedSection
from tracer.anatomy.reminders import Trust, Via
from tracer.anatomy.section_spans import How
from tracer.anatomy.segments import SEGMENTS_14, Group, segment_name
from tracer.model.segments import MessageNote, PromptLayout
from tracer.service.anatomy import RequestAnatomy
from tracer.service.segmenting import PromptPath
from tracer.store.layout_reading import session_layouts
from tracer.store.prompts import session_nodes, tool_names
from tracer.store.reading import AnyRequest

_TALK = frozenset({"user_input", "assistant", "tool_result", "answer"})
_STABLE_SEGMENTS = frozenset({1, 2, 3})
_SYSTEM_ROLE = "system"
_HASH_CHARS = 16


class _Place(NamedTuple):
    """Where a message stands, and how large it is. `segment` is 0 for a plain list."""

    message: int
    segment: int
    role: str
    chars: int
    tokens: int
    content: str


class TracedAnatomies:
    """Puts what a session's trace says into what was found in the prompts."""

    def __init__(self, connection: sqlite3.Connection, row_id: int) -> None:
        self._stored = session_layouts(connection, row_id)
        nodes = session_nodes(connection, row_id) if self._stored.layouts else []
        self._path = PromptPath(nodes)
        self._hashes = tool_names(connection, sorted({node[2] for node in nodes}))

    def of(self, row: AnyRequest, found: RequestAnatomy | None) -> RequestAnatomy | None:
        """The anatomy of a request; that of a request without a known layout as it is."""
        stored = self._stored.layouts.get(row.id)
        if stored is None or found is None or row.node_id is None:
            return found
        if stored.layout.layout != SEGMENTS_14:
            return found
        self._path.go(row.node_id)
        notes = [self._stored.notes[i] for i in stored.note_ids]
        places = self._places(stored.layout)
        return _with(
            found, places, notes, {p.message: self._path.starts[p.message] for p in places}
        )

    def _places(self, layout: PromptLayout) -> list[_Place]:
        path = self._path
        found = []
        for segment in layout.segments:
            for message in range(segment.first_message, segment.first_message + segment.messages):
                start, end = path.span(message, 1)
                known = self._hashes.get(path.blocks[start])
                if known is not None:  # else it is a gap
                    sizes = (
                        path.chars[end] - path.chars[start],
                        path.tokens[end] - path.tokens[start],
                    )
                    content = known[1].hex()[:_HASH_CHARS]
                    found.append(_Place(message, segment.n, path.role(start), *sizes, content))
        return found


def _with(
    found: RequestAnatomy,
    places: Sequence[_Place],
    notes: Sequence[MessageNote],
    first_index: Mapping[int, int],
) -> RequestAnatomy:
    sections, reminders, mcs = [], [], []
    for place in places:
        note = notes[place.message]
        if segment_name(SEGMENTS_14, place.segment).group is Group.PREFIX:
            sections.append(_section(place, note))
            continue
        if note.kind and note.kind not in _TALK:
            reminders.append(_reminder(place, note))
        if place.role == _SYSTEM_ROLE:
            sources = (note.kind or "unknown",)
            mcs.append(McsMessage(place.message, sources, place.chars, place.content))
    whole = found.whole
    system = frozenset(s.message_index for s in sections)
    return replace(
        found,
        sections=tuple(sections),
        reminders=tuple(reminders),
        mcs=tuple(mcs),
        first_index={**found.first_index, **first_index},
        groups=Groups(
            found.groups.tools,
            Request(section_items(sections, system), whole),
            Request(ReminderNotes().plus(reminders).items, whole),
            Request(mcs_items(mcs), whole),
        ),
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
