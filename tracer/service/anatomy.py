"""The anatomy of every prompt of a session: what a text says once a text, what a place says once a
message, and what only a whole prompt can tell once for all prompts that share it.

Nothing here is done once a request but looking up what is known already: most requests have the
tools, the prefix and nearly all notes of the one before.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from tracer.anatomy.layout import Layout, Variant
from tracer.anatomy.mcs import START, McsState, McsVerdict, Stand, verdict
from tracer.anatomy.messages import MessageReading, Sort, Spans
from tracer.anatomy.presence import (
    Groups,
    Item,
    RemindersBySource,
    Request,
    mcs_items,
    section_items,
    tool_items,
)
from tracer.anatomy.prompt import (
    McsMessage,
    PlacedReminder,
    PlacedSection,
    ReadMessage,
    attachment_sections,
    layout_of_messages,
    mcs_message,
    placed_reminders,
    system_sections,
    with_plugins,
)
from tracer.anatomy.settle import settle
from tracer.assemble.chains import Link, Sums, unlink
from tracer.assemble.marked import GAP_AT_HEAD, Leg, MarkedMessage
from tracer.assemble.trees import PromptTree
from tracer.model.prompt import Block, Kind, Part, PlacedBlock, Tier
from tracer.service.logged import LoggedSections
from tracer.store.prompts import blocks_with_text, tool_names
from tracer.store.readings import StoredReading, stored_readings
from tracer.store.session_paths import session_tree

Settled: TypeAlias = tuple[ReadMessage, Spans]
_STEP = ReadMessage(-1, (), MessageReading(Sort.ASSISTANT), START)
_SILENT = Block(Tier.MESSAGES, "", Kind.UNKNOWN, "")


@dataclass(frozen=True, slots=True)
class PromptContent:
    """What was found in one prompt. `first_index` gives the place in the prompt of the first block
    of a message, `system_messages` counts the leading ones of the system tier, `whole` is false
    where a message is unknown."""

    variant: Variant
    variant_evidence: str
    sections: tuple[PlacedSection, ...]
    reminders: tuple[PlacedReminder, ...]
    mcs: tuple[McsMessage, ...]
    verdict: McsVerdict
    tools: tuple[str, ...]
    whole: bool
    first_index: dict[int, int]
    system_messages: int


@dataclass(frozen=True, slots=True)
class RequestAnatomy(PromptContent):
    """The same of a prompt that is read with its session, and what presence is told by. `traced`
    tells that a trace names the parts; requests with the same content share the object."""

    groups: Groups
    traced: bool = False


@dataclass(frozen=True, slots=True)
class _Head:
    """The leading system messages of prompts: their layout, sections, and places."""

    layout: Layout
    sections: tuple[PlacedSection, ...]
    first_index: dict[int, int]


@dataclass(frozen=True, slots=True)
class _Told:
    """What one message says, once it is known whether MCS is on."""

    reminders: tuple[PlacedReminder, ...]
    sections: tuple[PlacedSection, ...]
    mcs: tuple[McsMessage, ...]
    mcs_items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class _Talk:
    """What all messages behind the prefix say, and whether a user named a plugin in them."""

    sections: tuple[PlacedSection, ...] = ()
    reminders: tuple[PlacedReminder, ...] = ()
    mcs: tuple[McsMessage, ...] = ()
    first_index: dict[int, int] = field(default_factory=dict)
    by_source: RemindersBySource = field(default_factory=RemindersBySource)
    mcs_items: tuple[Item, ...] = ()
    plugins: bool = False

    def plus(self, marks: Sequence[MarkedMessage], told: Sequence[_Told]) -> "_Talk":
        """The same with more messages behind it."""
        return _Talk(
            _longer(self.sections, [s for t in told for s in t.sections]),
            (*self.reminders, *(r for t in told for r in t.reminders)),
            (*self.mcs, *(m for t in told for m in t.mcs)),
            self.first_index | {m.message_index: m.first_index for m in marks},
            self.by_source.plus(r for t in told for r in t.reminders),
            (*self.mcs_items, *(i for t in told for i in t.mcs_items)),
            self.plugins or any(m.reading.sort is Sort.USER for m in marks),
        )


def _longer(
    sections: tuple[PlacedSection, ...], added: Sequence[PlacedSection]
) -> tuple[PlacedSection, ...]:
    """The same object where nothing is added: requests that have the same sections share it."""
    return (*sections, *added) if added else sections


_NO_TALK = _Talk()


class SessionAnatomy:
    """The anatomy of the prompts of a session. To be made, asked and dropped inside one read."""

    def __init__(self, connection: sqlite3.Connection, row_id: int, logged: LoggedSections) -> None:
        logged.read_texts(connection)
        rows = session_tree(connection, row_id)
        legs = rows.legs
        readings = stored_readings(connection, {leg.block_id for leg in legs})
        self.tree = PromptTree(
            rows,
            {i: stored.reading for i, stored in readings.items()},
            {i for i, stored in readings.items() if stored.plugins},
        )
        self._tools = tool_names(
            connection, sorted({leg.block_id for leg in legs if leg.part == Part.TOOLS})
        )
        self._blocks = blocks_with_text(connection, sorted(_telling(legs, readings)))
        self._logged = logged
        self._verdicts: dict[int, McsVerdict] = {}
        self._tool_lists: dict[int, tuple[tuple[str, ...], Request]] = {}
        self._heads: dict[tuple[int, int], _Head] = {}
        self._settled: dict[tuple[int, McsState], Settled] = {}
        self._told: dict[tuple[int, McsState, int], _Told] = {}
        self._talks: dict[tuple[int, McsState, int], _Talk] = {}
        self._requests: dict[tuple[object, ...], RequestAnatomy] = {}
        self._known: dict[tuple[int, int], RequestAnatomy] = {}
        self._sections: dict[
            tuple[int, int], tuple[tuple[PlacedSection, ...], tuple[Item, ...]]
        ] = {}

    def of(self, node_id: int, started_at_ms: int | None) -> RequestAnatomy:
        """The anatomy of the prompt that ends with a node."""
        sums, version = self.tree.told(node_id), self._logged.version(started_at_ms)
        found = self._known.get((id(sums), version))
        if found is None:
            state = self._verdict(sums.stand)
            key = (id(sums.marks), state, sums.head, version, id(sums.tools), sums.whole)
            found = self._requests.get(key)
            if found is None:
                found = self._requests[key] = self._read(sums, state, version)
            self._known[id(sums), version] = found
        return found

    def _read(self, sums: Sums, state: McsVerdict, version: int) -> RequestAnatomy:
        head = self._head(sums.head, version)
        talk = self._talk(sums.marks, state.state, version)
        tools, tool_group = self._tool_list(sums.tools)
        places = frozenset(head.first_index)
        both = id(head), id(talk.sections)
        if both not in self._sections:
            own = _longer(head.sections, talk.sections)
            self._sections[both] = own, section_items(own, places)
        sections, items = self._sections[both]
        return RequestAnatomy(
            variant=head.layout.variant,
            variant_evidence=head.layout.evidence,
            sections=sections,
            reminders=talk.reminders,
            mcs=talk.mcs,
            verdict=state,
            tools=tools,
            whole=sums.whole,
            first_index=head.first_index | talk.first_index,
            groups=Groups(
                tool_group,
                Request(
                    items,
                    sums.whole,
                    system_shown=sums.head != GAP_AT_HEAD,
                ),
                Request(talk.by_source.items, sums.whole),
                Request(talk.mcs_items, sums.whole),
            ),
            system_messages=len(places),
        )

    def _verdict(self, stand: Stand) -> McsVerdict:
        found = self._verdicts.get(id(stand))
        if found is None:
            found = self._verdicts[id(stand)] = verdict(stand)
        return found

    def _tool_list(self, link: Link[int] | None) -> tuple[tuple[str, ...], Request]:
        found = self._tool_lists.get(id(link))
        if found is None:
            blocks = unlink(link)
            tools = [self._tools[block] for block in blocks if block in self._tools]
            group = Request(tool_items(tools), len(tools) == len(blocks))
            found = self._tool_lists[id(link)] = tuple(name for name, _ in tools), group
        return found

    def _head(self, head: int, version: int) -> _Head:
        found = self._heads.get((head, version))
        if found is None:
            found = self._heads[head, version] = self._read_head(head, version)
        return found

    def _read_head(self, head: int, version: int) -> _Head:
        """The leading system messages, from the node that ends them upwards."""
        if head == GAP_AT_HEAD:
            unknown = ReadMessage(0, (), MessageReading(Sort.GAP), START)
            return _Head(layout_of_messages([unknown]), (), {})
        blocks: dict[int, list[PlacedBlock]] = {}
        first_index: dict[int, int] = {}
        node = self.tree.legs.get(head)
        while node is not None and node.part == Part.SYSTEM:
            node_id, above, block_id, index, block_index = node[:5]
            if index is None:  # not a message: nothing can be said of its place
                node = None if above is None else self.tree.legs[above]
                continue
            first_index[index] = self.tree.sums[node_id].depth - 1
            placed = _placed(index, block_index, self._blocks[block_id])
            blocks.setdefault(index, []).insert(0, placed)
            node = None if above is None else self.tree.legs[above]
        messages = [
            ReadMessage(index, tuple(own), MessageReading(Sort.SYSTEM), START)
            for index, own in sorted(blocks.items())
        ]
        layout = layout_of_messages(messages)
        sections = tuple(system_sections(messages, layout, self._logged.texts(version)))
        return _Head(layout, sections, first_index)

    def _talk(self, marks: Link[MarkedMessage] | None, state: McsState, version: int) -> _Talk:
        """What the messages of a path say: what is new on it behind a path that was read before."""
        fresh: list[MarkedMessage] = []
        link, known = marks, None
        while link is not None and known is None:
            known = self._talks.get((id(link), state, version))
            if known is None:
                fresh.append(link.value)
                link = link.before
        if known is not None and not fresh:
            return known
        fresh.reverse()
        told = [self._tell(mark, state, version) for mark in fresh]
        talk = (known or _NO_TALK).plus(fresh, told)
        if talk.plugins:
            every = unlink(marks)
            talk = _NO_TALK.plus(every, self._tell_plugins(every, state, version))
        self._talks[id(marks), state, version] = talk
        return talk

    def _tell_plugins(
        self, marks: list[MarkedMessage], state: McsState, version: int
    ) -> list[_Told]:
        """The same where a user named a plugin: which note speaks of it, the messages beside it
        tell, later ones included."""
        settled = [self._settle(mark, state) for mark in marks]
        return [
            self._tell(mark, state, version) if after is before else self._say(after, version)
            for mark, before, after in zip(
                marks, settled, _with_plugins(marks, settled), strict=True
            )
        ]

    def _settle(self, mark: MarkedMessage, state: McsState) -> Settled:
        key = (id(mark), state)
        found = self._settled.get(key)
        if found is None:
            blocks = tuple(
                _placed(mark.message_index, position, self._blocks.get(block_id, _SILENT))
                for position, block_id in enumerate(mark.blocks)
            )
            message = ReadMessage(mark.message_index, blocks, mark.reading, mark.before)
            found = self._settled[key] = message, settle(mark.reading, mark.before, state)
        return found

    def _tell(self, mark: MarkedMessage, state: McsState, version: int) -> _Told:
        key = (id(mark), state, version)
        found = self._told.get(key)
        if found is None:
            found = self._told[key] = self._say(self._settle(mark, state), version)
        return found

    def _say(self, pair: Settled, version: int) -> _Told:
        message, spans = pair
        mcs = (mcs_message(message, spans),) if message.reading.sort is Sort.MCS else ()
        return _Told(
            tuple(placed_reminders(message, spans)),
            tuple(attachment_sections([pair], self._logged.texts(version))),
            mcs,
            mcs_items(mcs),
        )


def _telling(legs: Sequence[Leg], readings: Mapping[int, StoredReading]) -> set[int]:
    """The blocks whose text is needed: of the prefix, and of messages that say something."""
    telling = {i for i, stored in readings.items() if stored.reading.spans or stored.plugins}
    return telling | {leg.block_id for leg in legs if leg.part in (Part.SYSTEM, Part.MCS)}


def _placed(message_index: int, block_index: int, block: Block) -> PlacedBlock:
    return PlacedBlock(0, 0, message_index, block_index, block, b"", b"", 0)


def _with_plugins(marks: list[MarkedMessage], settled: list[Settled]) -> list[Settled]:
    """Name the notes about plugins: those of one step of the assistant belong together."""
    spaced: list[Settled] = []
    for number, (mark, pair) in enumerate(zip(marks, settled, strict=True)):
        if number and marks[number - 1].steps != mark.steps:
            spaced.append((_STEP, ()))
        spaced.append(pair)
    found = [pair for pair in with_plugins(spaced) if pair[0] is not _STEP]
    return [
        before if after[1] == before[1] else after
        for before, after in zip(settled, found, strict=True)
    ]
