"""The prompts of a session as lists of messages, in which an equal message is one object.

Each node of the session's chains is looked at once: a prompt's list begins with what an earlier one
has, and only what is new on its path is read.
"""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from tracer.anatomy.messages import BlockReading, Sort, sort_of
from tracer.assemble.chains import ChainNode
from tracer.checks import CheckedMessage
from tracer.model.prompt import Block, Kind, Tier
from tracer.model.segments import MessageNote

_NOTHING = BlockReading()
_NO_NOTE = MessageNote()


class Tools(NamedTuple):
    """The tools of a prompt; `known` is false where some of them are missing."""

    blocks: tuple[Block, ...]
    known: bool


class PathMessages(NamedTuple):
    """The messages of a prompt, gaps as often as they span messages, and its tools."""

    messages: list[CheckedMessage]
    tools: Tools


class SessionMessages:
    """The message lists of a session's prompts. Lists are shared: nobody may change one."""

    def __init__(
        self,
        nodes: Sequence[ChainNode],
        blocks: Mapping[int, tuple[Block, bytes]],
        readings: Mapping[int, BlockReading],
    ) -> None:
        """`blocks` are texts and wire hashes, by row id."""
        self._nodes: dict[int, ChainNode] = {node.id: node for node in nodes}
        self._blocks = blocks
        self._readings = readings
        self._made: dict[tuple[int, ...], CheckedMessage] = {}
        self._lists: dict[int, PathMessages] = {}
        # Of every node that was seen: a list that its path begins, and how much of it.
        self._known: dict[int, tuple[PathMessages, int]] = {}
        self._tool_lists: dict[int | None, Tools] = {}

    def of(self, node_id: int) -> PathMessages:
        """The messages and tools of the prompt that ends with a node."""
        found = self._lists.get(node_id)
        if found is None:
            found = self._lists[node_id] = self._read(node_id)
        return found

    def _read(self, node_id: int) -> PathMessages:
        fresh: list[ChainNode] = []
        current: int | None = node_id
        while current is not None:
            node = self._nodes[current]
            if node.message_index is None or (current in self._known and not _goes_on(node, fresh)):
                break
            fresh.append(node)
            current = node.parent_id
        fresh.reverse()
        if current is not None and current in self._known:
            before, length = self._known[current]
            path = PathMessages(before.messages[:length], before.tools)
        else:
            path = PathMessages([], self._tools(current))
        self._add(path, fresh)
        return path

    def _add(self, path: PathMessages, nodes: Sequence[ChainNode]) -> None:
        ids: list[int] = []
        for node, after in zip_longest(nodes, nodes[1:]):
            ids.append(node.block_id)
            if after and after.block_index and after.message_index == node.message_index:
                continue
            message = self._message(tuple(ids))
            if message.gap:
                path.messages.extend([message] * message.gap)
            else:
                path.messages.append(message)
            self._known.setdefault(node.id, (path, len(path.messages)))
            ids.clear()

    def _message(self, ids: tuple[int, ...]) -> CheckedMessage:
        found = self._made.get(ids)
        if found is None:
            blocks, hashes = zip(*[self._blocks[i] for i in ids], strict=True)
            first = blocks[0]
            gap = first.kind is Kind.GAP
            sort = sort_of(
                first.role,
                [self._readings.get(i, _NOTHING) for i in ids],
                gap=gap,
                prefix=first.tier is Tier.SYSTEM,
            )
            found = self._made[ids] = CheckedMessage(
                first.role,
                Sort.GAP if gap else sort,
                blocks,
                _NO_NOTE,
                b"".join(hashes),
                first.span_messages if gap else 0,
            )
        return found

    def _tools(self, node_id: int | None) -> Tools:
        """The tools of the prompts that begin with a node, which ends them."""
        found = self._tool_lists.get(node_id)
        if found is None:
            blocks: list[Block] = []
            current = node_id
            while current is not None:
                node = self._nodes[current]
                blocks.append(self._blocks[node.block_id][0])
                current = node.parent_id
            blocks.reverse()
            tools = tuple(b for b in blocks if b.tier is Tier.TOOLS and b.kind is not Kind.GAP)
            found = self._tool_lists[node_id] = Tools(tools, len(tools) == len(blocks))
        return found


def _goes_on(node: ChainNode, fresh: Sequence[ChainNode]) -> bool:
    """Whether the message of a node goes on in the node below it."""
    return (
        bool(fresh) and fresh[-1].message_index == node.message_index and fresh[-1].block_index > 0
    )


def shared_messages(a: list[CheckedMessage], b: list[CheckedMessage]) -> int:
    """How many leading messages two lists share. Comparing lists of the same objects is cheap, so
    the place is found by halving."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = high if low == 0 and high == min(len(a), len(b)) else (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
