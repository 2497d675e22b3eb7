"""The segments of a session's prompts, and what the model knew at each request.

Requests share most of their prompts. The path of the request before is kept, with sums and worlds
along it, and only what differs is looked at.
"""

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

import msgspec

from tracer.anatomy.segments import SEGMENTS_14, USER_INPUT, Group, segment_name
from tracer.anatomy.told_worlds import ToldWorlds
from tracer.anatomy.world_state import (
    NOTHING,
    RUN,
    SESSION,
    WORLD_STATE,
    Known,
    World,
    changes,
    values,
)
from tracer.assemble.chains import ChainNode
from tracer.model.segment_views import (
    CapabilityView,
    GroupSize,
    RequestSegments,
    SegmentView,
    SkillView,
    StateChangeView,
    StateValue,
    StateView,
    SummaryView,
    WorldView,
)
from tracer.model.segments import MessageNote, PromptLayout, Segment
from tracer.store.layout_reading import SessionLayouts, session_layouts
from tracer.store.prompts import session_nodes
from tracer.store.reading import AnyRequest

_encode = msgspec.json.Encoder().encode
_GROUPS = ("tools", *(group.value for group in Group))
_SKILLS = {9: "start", 11: "on the way", 7: "history"}
_CAPABILITIES = "capabilities"
TALK = frozenset({USER_INPUT, "assistant", "tool_result", "answer"})
"""The kinds of the conversation itself."""

Noted: TypeAlias = tuple[int, MessageNote]
"""A message and its note."""
_SUMMARY = "summary"


class _Before(NamedTuple):
    """What a request is compared with: the one before it in its lane."""

    seq: int
    blocks: Mapping[int, tuple[int, ...]]
    world: World


class _Sized(NamedTuple):
    """The blocks of a segment, how large it is, and the kinds of its messages."""

    blocks: tuple[int, ...]
    chars: int
    tokens: int
    counted: bool
    kinds: tuple[tuple[str, int], ...]


class PromptPath:
    """The nodes of a prompt from its beginning, with sums along it."""

    def __init__(self, nodes: Sequence[ChainNode]) -> None:
        self._nodes = {node.id: node for node in nodes}
        self._at: dict[int, int] = {}
        self._path: list[int] = []
        self.starts: list[int] = []
        self.blocks: list[int] = []
        self.chars: list[int] = [0]
        self.tokens: list[int] = [0]
        self.uncounted: list[int] = [0]

    def go(self, tip: int) -> int:
        """Make this the path to a node; returns how many leading messages are those of the path
        before, for certain."""
        fresh: list[int] = []
        node: int | None = tip
        while node is not None and node not in self._at:
            fresh.append(node)
            node = self._nodes[node].parent_id
        keep = self._at[node] + 1 if node is not None else 0
        for gone in self._path[keep:]:
            del self._at[gone]
        del self._path[keep:], self.blocks[keep:]
        del self.chars[keep + 1 :], self.tokens[keep + 1 :], self.uncounted[keep + 1 :]
        while self.starts and self.starts[-1] >= keep:
            self.starts.pop()
        kept = max(len(self.starts) - 1, 0)  # the last one may go on, or have gone on, otherwise
        for node in reversed(fresh):
            self._add(node)
        return kept

    def _add(self, node_id: int) -> None:
        node = self._nodes[node_id]
        before = self._nodes[node.parent_id] if node.parent_id is not None else None
        if node.message_index is not None and node.block_index == 0:
            self.starts.append(len(self._path))
        self._at[node_id] = len(self._path)
        self._path.append(node_id)
        self.blocks.append(node.block_id)
        estimate = node.cum_estimate_tokens - (before.cum_estimate_tokens if before else 0)
        self.chars.append(node.cum_chars)
        self.tokens.append(
            self.tokens[-1] + (estimate if node.bpe_tokens is None else node.bpe_tokens)
        )
        uncounted = node.bpe_tokens is None and node.part != "gap"
        self.uncounted.append(self.uncounted[-1] + uncounted)

    def span(self, first: int, messages: int) -> tuple[int, int]:
        """The nodes of some messages."""
        starts, end = self.starts, len(self._path)
        begin = starts[first] if first < len(starts) else end
        return begin, starts[first + messages] if first + messages < len(starts) else end

    def role(self, at: int) -> str:
        """The role of the message of a node of the path."""
        return self._nodes[self._path[at]].role

    @property
    def tool_nodes(self) -> int:
        """How many nodes are tools."""
        return self.starts[0] if self.starts else len(self._path)


class NoteList:
    """The notes of a prompt's messages: those that it shares with the prompt before are not looked
    at again. `telling` are the messages whose kind is not that of plain talk."""

    def __init__(self, stored: SessionLayouts) -> None:
        self._stored = stored
        self._ids: tuple[int, ...] = ()
        self.notes: list[MessageNote] = []
        self.kinds: list[str] = []
        self.telling: list[int] = []
        self.tells_anew = True

    def go(self, note_ids: tuple[int, ...]) -> int:
        """Make these the notes; returns how many leading ones are those of before."""
        common = min(len(self._ids), len(note_ids))
        if self._ids[:common] != note_ids[:common]:
            pairs = zip(self._ids, note_ids, strict=False)
            common = next(i for i, (old, new) in enumerate(pairs) if old != new)
        self._ids = note_ids
        del self.notes[common:], self.kinds[common:]
        self.tells_anew = bool(self.telling) and self.telling[-1] >= common
        while self.telling and self.telling[-1] >= common:
            self.telling.pop()
        for message in range(common, len(note_ids)):
            note = self._stored.notes[note_ids[message]]
            self.notes.append(note)
            self.kinds.append(note.kind)
            if note.kind not in TALK:
                self.telling.append(message)
                self.tells_anew = True
        return common


class Segmenter:
    """Reads the layouts of a session's requests, which are given in order."""

    def __init__(self, connection: sqlite3.Connection, row_id: int) -> None:
        self._stored: SessionLayouts = session_layouts(connection, row_id)
        self._path = PromptPath(session_nodes(connection, row_id) if self._stored.layouts else ())
        self._told = ToldWorlds()
        self._list = NoteList(self._stored)
        self._views: dict[int, tuple[Known, StateView]] = {}
        self._before: dict[str, _Before] = {}
        self._telling: list[Noted] = []
        self._world = NOTHING
        self._sized: dict[Segment, _Sized] = {}

    def of(self, row: AnyRequest, seq: int) -> RequestSegments | None:
        """The layout of a request; None where its record has none."""
        stored = self._stored.layouts.get(row.id)
        if stored is None or row.node_id is None:
            return None
        kept = min(self._path.go(row.node_id), self._list.go(stored.note_ids))
        if self._list.tells_anew:
            self._telling = [(at, self._list.notes[at]) for at in self._list.telling]
            self._world = self._known_world(self._telling)
        telling, world = self._telling, self._world
        before = self._before.get(row.lane)
        layout = stored.layout
        same = {s: v for s, v in self._sized.items() if s.first_message + s.messages <= kept}
        self._sized = {s: same.get(s) or self._size(s) for s in layout.segments}
        blocks = {s.n: sized.blocks for s, sized in self._sized.items()}
        segments = tuple(
            _segment(layout, s, before, self._sized[s], blocks[s.n]) for s in layout.segments
        )
        self._before[row.lane] = _Before(seq, blocks, world)
        return RequestSegments(
            layout=layout.layout,
            known=layout.layout == SEGMENTS_14,
            segments=segments,
            groups=self._groups(layout, segments),
            tools=layout.tools,
            world=self._world_view(world, before),
            capabilities=_capabilities(layout, telling, world),
            skills=_skills(layout, telling),
            summary=_summary(telling),
            transaction=_transaction(telling),
            unresolved=layout.unresolved,
            extra_json=stored.extra_json,
        )

    def _known_world(self, telling: Sequence[Noted]) -> World:
        covers = {c for _, note in telling if note.kind == _SUMMARY for c in note.covers}
        return self._told.at([t for t in telling if t[1].kind == WORLD_STATE], covers)

    def _size(self, segment: Segment) -> _Sized:
        path, last = self._path, segment.first_message + segment.messages
        start, end = path.span(segment.first_message, segment.messages)
        return _Sized(
            tuple(path.blocks[start:end]),
            path.chars[end] - path.chars[start],
            path.tokens[end] - path.tokens[start],
            path.uncounted[end] == path.uncounted[start],
            tuple(Counter(self._list.kinds[segment.first_message : last]).items()),
        )

    def _groups(
        self, layout: PromptLayout, segments: Sequence[SegmentView]
    ) -> tuple[GroupSize, ...]:
        path, end = self._path, self._path.tool_nodes
        counted = path.uncounted[end] == 0
        found = [GroupSize("tools", len(layout.tools), path.chars[end], path.tokens[end], counted)]
        order = sorted(segments, key=lambda s: _GROUPS.index(s.group))
        for group, held in groupby(order, key=lambda s: s.group):
            own = list(held)
            found.append(
                GroupSize(
                    group,
                    sum(s.messages for s in own),
                    sum(s.chars for s in own),
                    sum(s.tokens for s in own),
                    all(s.counted for s in own),
                )
            )
        return tuple(g for g in found if g.messages or g.tokens)

    def _world_view(self, world: World, before: _Before | None) -> WorldView:
        old = before.world if before else NOTHING
        found = []
        if before is not None and world is not old:
            for scope, was, now in (
                (SESSION, old.session, world.session),
                (RUN, old.run, world.run),
            ):
                if was is now:
                    continue
                found += [
                    StateChangeView(
                        scope,
                        change.path,
                        _json(change.before) if change.was else "",
                        _json(change.after) if change.now else "",
                    )
                    for change in changes(was.state if was else None, now.state if now else None)
                ]
        return WorldView(
            self._state(SESSION, world.session),
            self._state(RUN, world.run),
            tuple(found),
            before.seq if before else None,
        )

    def _state(self, scope: str, known: Known | None) -> StateView | None:
        if known is None:
            return None
        made = self._views.get(id(known))
        if made is None or made[0] is not known:
            view = StateView(
                scope, known.state, _values(known.state), known.full_message, known.diffs
            )
            made = self._views[id(known)] = known, view
        return made[1]


def _segment(
    layout: PromptLayout,
    segment: Segment,
    before: _Before | None,
    sized: _Sized,
    blocks: tuple[int, ...],
) -> SegmentView:
    name, group = segment_name(layout.layout, segment.n)
    return SegmentView(
        segment.n,
        name,
        group.value,
        segment.first_message,
        segment.messages,
        sized.chars,
        sized.tokens,
        sized.counted,
        sized.kinds,
        _change(before.blocks.get(segment.n) if before else None, blocks, before is None),
    )


def _json(value: Any) -> str:
    return _encode(value).decode()


def _change(before: tuple[int, ...] | None, now: tuple[int, ...], first: bool) -> str:
    if first:
        return "first"
    if before is None:
        return "new"
    if before == now:
        return "same"
    return "grown" if now[: len(before)] == before else "changed"


def _values(state: Mapping[str, Any]) -> tuple[StateValue, ...]:
    return tuple(StateValue(path, _json(value)) for path, value in values(state))


def _capabilities(
    layout: PromptLayout, telling: Sequence[Noted], world: World
) -> tuple[CapabilityView, ...]:
    tools: dict[str, int] = {}
    for tool in layout.tools:
        if tool.capability:
            tools[tool.capability] = tools.get(tool.capability, 0) + 1
    guides = {n.capability for _, n in telling if n.kind == "capability_guide" and n.capability}
    said = world.session.state.get(_CAPABILITIES) if world.session else None
    states = {
        name: value if isinstance(value, bool) else None
        for name, value in (said.items() if isinstance(said, Mapping) else ())
    }
    return tuple(
        CapabilityView(name, tools.get(name, 0), name in guides, states.get(name))
        for name in sorted({*tools, *guides, *states})
    )


def _skills(layout: PromptLayout, telling: Sequence[Noted]) -> tuple[SkillView, ...]:
    found = []
    for message, note in telling:
        if note.kind == "skill_body":
            n = next((s.n for s in reversed(layout.segments) if s.first_message <= message), 0)
            found.append(SkillView(note.skill, _SKILLS.get(n, f"segment {n}"), message))
    return tuple(found)


def _summary(telling: Sequence[Noted]) -> SummaryView | None:
    for message, note in reversed(telling):
        if note.kind == _SUMMARY:
            ends = (note.covers[0], note.covers[-1]) if note.covers else ("", "")
            return SummaryView(message, len(note.covers), *ends)
    return None


def _transaction(telling: Sequence[Noted]) -> tuple[StateValue, ...]:
    own = [n for _, n in telling if n.kind == "transaction_snapshot" and n.state is not None]
    return _values(own[-1].state or {}) if own else ()


def session_segments(
    connection: sqlite3.Connection, row_id: int, rows: Sequence[AnyRequest]
) -> dict[int, RequestSegments]:
    """The layouts of a session's requests, by the requests' row ids; nothing for other formats."""
    segmenter = Segmenter(connection, row_id)
    found = {row.id: segmenter.of(row, seq) for seq, row in enumerate(rows, 1)}
    return {request: segments for request, segments in found.items() if segments is not None}
