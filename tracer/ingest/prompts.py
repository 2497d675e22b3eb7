"""From the raw items of a record to a stored chain of blocks, without parsing anything twice.

A line repeats most of the line before. Each raw item (a message, the list of tools, the system
blocks) is recognised by the hash of its bytes; only an unseen one is parsed. A message is then the
tuple of its blocks' row ids, so undoing windows compares tuples, and a chain is extended from the
first message that differs.

Cost of one record with w visible and n messages in all: w hashes, list copies of n pointers, and
work on blocks only for what is new.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import takewhile
from operator import eq
from typing import TypeAlias

from tracer.assemble.windows import KEPT_LISTS, Carry, Windows, equal_length
from tracer.ingest.outlines import Known, Outliner
from tracer.model.events import ModelCall, RawItem, WindowKind
from tracer.model.prompt import Block, Kind, Marker, MarkerValue, Message, Tier
from tracer.store.layouts import LayoutFacts
from tracer.store.restore import LoadedChain
from tracer.store.writer import Place, StoredBlock, StoredNode, Writer

Entry: TypeAlias = tuple[int, ...]
"""A message as the row ids of its blocks."""

Item: TypeAlias = tuple[Entry, tuple[MarkerValue, ...]]
"""A message and the markers that stand on it."""

Marked: TypeAlias = list[tuple[int, tuple[MarkerValue, ...]]]
"""Indexes in the whole message list, and the markers on those messages."""

_MAX_ITEMS = 150_000
_MAX_SEEN_BYTES = 8 << 20
_NO_TOOLS_LOGGED = "tools"
_SYSTEM_ROLE = "system"
_MAX_LEADING = 8


@dataclass(frozen=True, slots=True)
class BuiltPrompt:
    """A stored prompt: its last node and what the record proves of it."""

    node: StoredNode | None
    message_count: int | None
    verified_from: int | None
    carry: str
    observed: str
    system_from: str
    markers: tuple[Marker, ...]
    layout: LayoutFacts | None = None


@dataclass(slots=True)
class _Chain:
    """A message list and, for each message, the node that ends it. `root` ends the tools."""

    messages: list[Entry | None]
    root: int
    ends: list[StoredNode]


@dataclass(slots=True)
class _Seen:
    """The raw items of the record before: most of the next record equals them byte for byte, and
    comparing bytes is several times faster than hashing them. `leading` tells that its list began
    in the system tier."""

    offset: int = 0
    leading: bool = False
    raws: tuple[RawItem, ...] = ()
    items: list[Item] = field(default_factory=list)
    lists: dict[str, tuple[RawItem, list[Item]]] = field(default_factory=dict)


@dataclass(slots=True)
class FileState:
    """What a file's next record may be relative to. Kept between reads of a growing file."""

    windows: Windows[Entry] = field(default_factory=Windows)
    seen: _Seen = field(default_factory=lambda: _Seen())
    chains: deque[_Chain] = field(default_factory=lambda: deque(maxlen=KEPT_LISTS))
    known: Known = field(default_factory=Known)
    generation: int = -1
    read_up_to: tuple[int, int] = (0, 0)
    """The segment (its row id) and the offset that this is the state of."""

    def remember(self, chain: _Chain) -> None:
        self.chains.append(chain)


class PromptBuilder:
    """Builds the prompts of records in file order."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._items: dict[bytes, Item] = {}
        self._lists: dict[tuple[str, bytes], list[Item]] = {}
        self._tool_chains: dict[int, tuple[list[Item], StoredNode | None]] = {}
        self._stored: dict[int, StoredBlock] = {}
        self._generation = writer.generation
        self._outliner = Outliner(writer, self._store, self._stored)

    def build(self, call: ModelCall, place: Place, state: FileState) -> BuiltPrompt:
        """The prompt of one record, stored as far as it is new."""
        if self._drop_stale():
            state.seen = _Seen()
        tools = self._list("tools", call.tools, call.parsers.tools, place, state.seen)
        system = self._list("system", call.system, call.parsers.system, place, state.seen)
        if call.window.kind is WindowKind.ABSENT:
            return self._unobserved(call, tools, system, place)
        if call.outline is not None:
            return self._outlined(call, tools, place, state)
        offset = call.window.offset
        items = self._window(call, len(system), place, state)
        undone = state.windows.undo(
            call.window.kind, offset, call.window.count, [entry for entry, _ in items]
        )
        messages, equal = undone.messages, undone.base_equal
        system_from = "messages" if undone.verified_from == 0 else ""
        if system and undone.verified_from > 0:
            messages, changed_at = self._overlay_system(messages, system, undone.verified_from)
            equal = min(equal, changed_at)
            system_from = "body"
            state.windows.replace_newest(messages)
        node = self._chain(call, tools, messages, undone.base, equal, place, state)
        whole = undone.verified_from == 0 and None not in messages
        return BuiltPrompt(
            node=node,
            message_count=call.window.count,
            verified_from=undone.verified_from,
            carry=undone.carry,
            observed="full" if whole else "windowed",
            system_from=system_from,
            markers=self._markers(
                tools, system if system_from == "body" else [], _marked(items, offset), messages
            ),
        )

    def _outlined(
        self, call: ModelCall, tools: list[Item], place: Place, state: FileState
    ) -> BuiltPrompt:
        """The prompt of a record that has an outline: it is given whole, but for references."""
        outlined = self._outliner.read(call, place, state.known)
        undone = state.windows.undo(WindowKind.FULL, 0, call.window.count, outlined.blocks)
        node = self._chain(
            call, tools, undone.messages, undone.base, undone.base_equal, place, state
        )
        return BuiltPrompt(
            node=node,
            message_count=call.window.count,
            verified_from=outlined.known_from,
            carry=Carry.LOST if outlined.known_from else Carry.NONE,
            observed="windowed" if outlined.known_from else "full",
            system_from="messages" if outlined.head_known else "",
            markers=self._markers(tools, [], outlined.markers, undone.messages),
            layout=outlined.facts,
        )

    def restored(self, chains: Sequence[LoadedChain]) -> FileState:
        """A state with the lists of a file's newest records, oldest first, so that reading goes on
        where an earlier process stopped."""
        self._drop_stale()
        state = FileState()
        known: list[list[Entry | None]] = []
        for chain in chains:
            messages: list[Entry | None] = []
            ends: list[StoredNode] = []
            for message in chain.messages:
                for block in message.blocks:
                    self._stored[block.id] = block
                entry = tuple(b.id for b in message.blocks)
                messages += [None] * message.gap if message.gap else [entry]
                ends += [message.end] * (message.gap or 1)
            known.append(messages)
            state.remember(_Chain(messages, chain.root.id if chain.root else 0, ends))
        earlier = sum(chain.earlier_segment for chain in chains)
        state.windows = Windows(known, of_earlier_segments=earlier)
        return state

    def _drop_stale(self) -> bool:
        if self._generation == self._writer.generation and len(self._items) <= _MAX_ITEMS:
            return False
        self._items.clear()
        self._lists.clear()
        self._tool_chains.clear()
        if self._generation != self._writer.generation:
            self._stored.clear()
            self._generation = self._writer.generation
        return True

    def _window(
        self, call: ModelCall, system_blocks: int, place: Place, state: FileState
    ) -> list[Item]:
        """The visible messages. A system message at the head of the list is part of the system
        tier; one that comes later is a mid-conversation message."""
        seen = state.seen
        raws, offset = call.window.items, call.window.offset
        items: list[Item] = []
        leading = offset < max(system_blocks, 1) or self._follows_system(offset, state)
        shift = offset - seen.offset
        before = seen.raws
        same, begins = 0, leading
        if not shift and begins == seen.leading:
            same = len(list(takewhile(bool, map(eq, raws, before))))
            items = seen.items[:same]
            leading = leading and all(self._is_system(item[0]) for item in items)
        for position, raw in enumerate(raws[same:], same):
            there = position + shift
            if (
                0 <= there < len(before)
                and raw == before[there]
                and self._fits(seen.items[there], leading)
            ):
                item = seen.items[there]
            else:
                item = self._item(raw, leading, call, place)
            leading = leading and self._is_system(item[0])
            items.append(item)
        kept = sum(map(len, raws)) <= _MAX_SEEN_BYTES
        seen.offset, seen.raws, seen.items = offset, raws if kept else (), items
        seen.leading = begins
        return items

    def _follows_system(self, offset: int, state: FileState) -> bool:
        """True where a window begins inside the system messages at the head of a known list."""
        return 0 < offset <= _MAX_LEADING and any(
            len(c.messages) > offset and self._is_system(c.messages[offset - 1])
            for c in state.chains
        )

    def _fits(self, item: Item, leading: bool) -> bool:
        """True where an item has the tier that its place asks for: the same system message belongs
        to the system tier at the head of a list, and to the conversation later on."""
        block = self._stored[item[0][0]]
        return block.is_system == leading or block.role != _SYSTEM_ROLE

    def _item(self, raw: RawItem, leading: bool, call: ModelCall, place: Place) -> Item:
        key = sha256(raw).digest()
        if leading:
            key += b"leading"
        known = self._items.get(key)
        if known is None:
            try:
                message = call.parsers.message(raw)
            except (ValueError, RecursionError):
                message = _unreadable(raw)
            if leading and message.role == "system":
                blocks = tuple(replace(block, tier=Tier.SYSTEM) for block in message.blocks)
                message = replace(message, blocks=blocks)
            known = self._items[key] = self._store(message, place)
        return known

    def _list(
        self,
        name: str,
        raw: RawItem,
        parse: Callable[[RawItem], tuple[Message, ...]],
        place: Place,
        seen: _Seen,
    ) -> list[Item]:
        if not raw:
            return []
        before = seen.lists.get(name)
        if before is not None and before[0] == raw:
            return before[1]
        key = name, sha256(raw).digest()  # damaged lines give both lists the same bytes
        known = self._lists.get(key)
        if known is None:
            try:
                messages = parse(raw)
            except (ValueError, RecursionError):
                messages = (_unreadable(raw, Tier.TOOLS if name == "tools" else Tier.SYSTEM),)
            known = self._lists[key] = [self._store(message, place) for message in messages]
        seen.lists[name] = (raw, known)
        return known

    def _store(self, message: Message, place: Place) -> Item:
        stored = [self._writer.block(block, place) for block in message.blocks]
        for block in stored:
            self._stored[block.id] = block
        return tuple(block.id for block in stored), message.markers

    def _overlay_system(
        self,
        messages: list[Entry | None],
        system: list[Item],
        verified_from: int,
    ) -> tuple[list[Entry | None], int]:
        """The list with the system blocks of the wire body at its head: every line carries them,
        so they are proven where the window is not. Also the first index that this changed."""
        carried = 0
        while carried < verified_from and self._is_system(messages[carried]):
            carried += 1
        known = carried == len(system) or messages[0] is None
        head: list[Entry | None] = []
        head += [entry for entry, _ in system[:verified_from]]
        rest: list[Entry | None] = (
            messages[len(head) : verified_from] if known else [None] * (verified_from - len(head))
        )
        unchanged = len(messages) if known else len(head)
        changed_at = next((i for i, entry in enumerate(head) if messages[i] != entry), unchanged)
        return [*head, *rest, *messages[verified_from:]], changed_at

    def _is_system(self, entry: Entry | None) -> bool:
        return entry is not None and self._stored[entry[0]].is_system

    def _chain(
        self,
        call: ModelCall,
        tools: list[Item],
        messages: list[Entry | None],
        base: list[Entry | None] | None,
        equal: int,
        place: Place,
        state: FileState,
    ) -> StoredNode | None:
        root = self._tools_chain(call, tools, place)
        root_id = root.id if root else 0
        known = next((c for c in state.chains if c.messages is base and c.root == root_id), None)
        if known is None:
            known, equal = self._best_chain(state, root_id, messages)
        while equal and messages[equal - 1] is None:
            equal -= 1  # a gap is one block: begin again at its first message
        ends = known.ends[:equal] if known else []
        node = ends[-1] if ends else root
        index = equal
        while index < len(messages):
            entry = messages[index]
            if entry is None:
                span = _gap_length(messages, index)
                node = self._gap(node, index, span, place)
                ends += [node] * span
                index += span
                continue
            for position, block_id in enumerate(entry):
                node = self._writer.node(
                    node,
                    self._stored[block_id],
                    starts_message=position == 0,
                    message_index=index,
                    block_index=position,
                )
            ends.append(node)  # type: ignore[arg-type]  # an entry has at least one block
            index += 1
        state.remember(_Chain(messages, root_id, ends))
        return node

    @staticmethod
    def _best_chain(
        state: FileState, root_id: int, messages: list[Entry | None]
    ) -> tuple[_Chain | None, int]:
        best, best_equal = None, 0
        for chain in reversed(state.chains):
            if chain.root != root_id:
                continue
            equal = equal_length(chain.messages, messages)
            if equal > best_equal:
                best, best_equal = chain, equal
        return best, best_equal

    def _tools_chain(self, call: ModelCall, tools: list[Item], place: Place) -> StoredNode | None:
        """The node that ends the tools. Nearly all calls have a list that was seen before."""
        if not tools:
            if not call.tool_names:
                return None
            gap = Block(Tier.TOOLS, "", Kind.GAP, "", name=_NO_TOOLS_LOGGED, span_messages=0)
            return self._tool_nodes([self._store(Message("", (gap,)), place)])
        known = self._tool_chains.get(id(tools))
        if known is None or known[0] is not tools:
            known = self._tool_chains[id(tools)] = tools, self._tool_nodes(tools)
        return known[1]

    def _tool_nodes(self, tools: list[Item]) -> StoredNode | None:
        node: StoredNode | None = None
        for position, (entry, _) in enumerate(tools):
            node = self._writer.node(
                node,
                self._stored[entry[0]],
                starts_message=True,
                message_index=None,
                block_index=position,
            )
        return node

    def _gap(self, node: StoredNode | None, index: int, span: int, place: Place) -> StoredNode:
        block = self._writer.block(
            Block(Tier.MESSAGES, "", Kind.GAP, "", span_messages=span), place
        )
        self._stored[block.id] = block
        return self._writer.node(
            node, block, starts_message=True, message_index=index, block_index=0
        )

    def _unobserved(
        self,
        call: ModelCall,
        tools: list[Item],
        system: list[Item],
        place: Place,
    ) -> BuiltPrompt:
        """A record without a message list: its tools and system blocks are all that is known."""
        count = call.window.count or None
        node = self._tools_chain(call, tools, place) if tools or system else None
        for index, (entry, _) in enumerate(system):
            node = self._writer.node(
                node,
                self._stored[entry[0]],
                starts_message=True,
                message_index=index,
                block_index=0,
            )
        if node is not None and count is not None and count > len(system):
            node = self._gap(node, len(system), count - len(system), place)
        return BuiltPrompt(
            node,
            count,
            None,
            Carry.LOST,
            "metadata",
            "body" if system else "",
            self._markers(tools, system, [], [entry for entry, _ in system]),
        )

    def _markers(
        self,
        tools: list[Item],
        system: list[Item],
        marked: Marked,
        messages: list[Entry | None],
    ) -> tuple[Marker, ...]:
        """The markers that the record shows. `index` counts inside the tier (design.md 9)."""
        found: list[Marker] = []
        for index, (_, markers) in enumerate(tools):
            if markers:
                found += [Marker(Tier.TOOLS, index, *m) for m in markers]
        for index, (_, markers) in enumerate(system):
            found += [Marker(Tier.SYSTEM, index, *m, message_index=index) for m in markers]
        system_messages = 0
        while system_messages < len(messages) and self._is_system(messages[system_messages]):
            system_messages += 1
        for index, markers in marked:
            in_system = index < system_messages
            if in_system and system:
                continue
            tier = Tier.SYSTEM if in_system else Tier.MESSAGES
            place = index if in_system else index - system_messages
            found += [Marker(tier, place, *m, message_index=index) for m in markers]
        return tuple(found)


def _marked(items: list[Item], offset: int) -> Marked:
    return [(index, markers) for index, (_, markers) in enumerate(items, offset) if markers]


def _gap_length(messages: list[Entry | None], start: int) -> int:
    end = start
    while end < len(messages) and messages[end] is None:
        end += 1
    return end - start


def _unreadable(raw: RawItem, tier: Tier = Tier.MESSAGES) -> Message:
    """A message that could not be read keeps its bytes as text."""
    text = raw.decode("utf-8", "replace")
    return Message("unknown", (Block(tier, "unknown", Kind.UNKNOWN, text, "other"),))
