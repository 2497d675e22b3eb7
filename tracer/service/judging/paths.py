"""The prompts of a session as paths through a tree: sizes and common prefixes, without texts.

A session's prompts are loaded once, as nodes. What two of them share is where their paths part, so
nothing is compared that is the same by its hash.
"""

import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

from tracer.assemble.chains import ChainNode
from tracer.hashing import digest
from tracer.model.prompt import Kind, Tier
from tracer.model.verdict import HashLadder
from tracer.store.judging import BlockInfo, block_infos, node_hashes
from tracer.store.prompts import session_nodes


class PathSums(NamedTuple):
    """Over a path: tokens (BPE, else the agent's estimate), those of tools and leading system
    messages (`head`), blocks that are not counted, messages that no record shows, where the first
    of them stands (None: nowhere), the nodes that end the tools and the leading system messages
    (None: there are none), and the depth of the first block behind them."""

    parent_id: int | None
    block_id: int
    depth: int
    tokens: int
    head: int
    uncounted: int
    hidden: int
    first_gap: int | None
    tools_end: int | None
    system_end: int | None
    talk_from: int

    @property
    def whole(self) -> bool:
        """True where every message is known."""
        return self.first_gap is None

    @property
    def blocks(self) -> int:
        """How many blocks the path has."""
        return self.depth + 1


class Paths:
    """The paths of one session. `sums` by node id."""

    def __init__(self, connection: sqlite3.Connection, row_id: int, tips: Iterable[int]) -> None:
        self._connection = connection
        self.tips = tuple(dict.fromkeys(tips))
        nodes = session_nodes(connection, row_id)
        self.nodes: dict[int, ChainNode] = {node.id: node for node in nodes}
        self.blocks: dict[int, BlockInfo] = block_infos(
            connection, {node.block_id for node in nodes}
        )
        self.sums: dict[int, PathSums] = {}
        for node in nodes:
            self.sums[node.id] = self._below(node)

    def _below(self, node: ChainNode) -> PathSums:
        id_, parent_id, block_id = node.id, node.parent_id, node.block_id
        block = self.blocks[block_id]
        above = self.sums[parent_id] if parent_id is not None else _EMPTY
        depth, gap, tokens = above.depth + 1, block.kind is Kind.GAP, block.tokens
        first_gap, talk_from = above.first_gap, above.talk_from
        tools_end, system_end = above.tools_end, above.system_end
        if gap:
            tokens = 0
            first_gap = depth if first_gap is None else first_gap
        if block.tier is Tier.TOOLS:
            tools_end, talk_from = None if gap else id_, depth + 1
        elif block.tier is Tier.SYSTEM:
            system_end, talk_from = None if gap else id_, depth + 1
        return PathSums(
            parent_id,
            block_id,
            depth,
            above.tokens + tokens,
            above.head + (0 if block.tier is Tier.MESSAGES else tokens),
            above.uncounted + (not gap and not block.counted),
            above.hidden + (max(1, block.span_messages) if gap else 0),
            first_gap,
            tools_end,
            system_end,
            talk_from,
        )

    def path(self, node_id: int) -> list[int]:
        """The nodes of a path, first block first."""
        found = []
        current: int | None = node_id
        while current is not None:
            found.append(current)
            current = self.sums[current].parent_id
        found.reverse()
        return found

    def system_messages(self, sums: PathSums) -> int:
        """How many leading system messages a path has."""
        if sums.system_end is None:
            return 0
        index = self.nodes[sums.system_end].message_index
        return 0 if index is None else index + 1

    def contains(self, tip: int, node_id: int) -> bool:
        """True where the path to `tip` leads over `node_id`."""
        depth = self.sums[node_id].depth
        current = self.sums[tip]
        at = tip
        while current.depth > depth and current.parent_id is not None:
            at = current.parent_id
            current = self.sums[at]
        return at == node_id

    def ladders(self) -> dict[int, HashLadder]:
        """The hashes that settle whether the client changed a tier, by the tip of each prompt."""
        tools = {self.sums[t].tools_end for t in self.tips} - {None}
        hashes = node_hashes(self._connection, {*self.tips, *(t for t in tools if t is not None)})
        systems: dict[tuple[int | None, int | None], str] = {}
        found = {}
        for tip in self.tips:
            sums = self.sums[tip]
            ends = (sums.tools_end, sums.system_end)
            if ends not in systems:
                systems[ends] = self._system_hash(sums)
            found[tip] = HashLadder(
                tools=hashes[sums.tools_end].hex() if sums.tools_end is not None else "",
                system=systems[ends],
                prompt=hashes[tip].hex() if sums.whole else "",
            )
        return found

    def _system_hash(self, sums: PathSums) -> str:
        """A hash over the leading system messages alone, whatever the tools are."""
        found = []
        current = sums.system_end
        while current is not None and current != sums.tools_end:
            here = self.sums[current]
            found.append(self.blocks[here.block_id].wire_hash)
            current = here.parent_id
        return digest(b"".join(reversed(found))).hex() if found else ""


_EMPTY = PathSums(None, 0, -1, 0, 0, 0, 0, None, None, None, 0)


class Walker:
    """Follows the prompts of one lane: what a prompt shares with any other is found in the steps
    that are new, not in its length."""

    def __init__(self, paths: Paths) -> None:
        self._sums = paths.sums
        self.path: list[int] = []
        self.depth_of: dict[int, int] = {}
        self._parted: dict[int, tuple[int | None, int | None]] = {}

    def step(self, tip: int) -> None:
        """Make the path to `tip` the current one."""
        fresh = []
        current: int | None = tip
        while current is not None and current not in self.depth_of:
            fresh.append(current)
            current = self._sums[current].parent_id
        keep = self.depth_of[current] + 1 if current is not None else 0
        for gone in self.path[keep:]:
            del self.depth_of[gone]
        del self.path[keep:]
        for node in reversed(fresh):
            self.depth_of[node] = len(self.path)
            self.path.append(node)

    def common(self, tip: int) -> int | None:
        """The deepest node that the path to `tip` shares with the current one; None: none."""
        known = self._parted.get(tip)
        if known is not None:
            last, first_own = known
            on_path = last is None or last in self.depth_of
            if on_path and (first_own is None or first_own not in self.depth_of):
                return last
        own: int | None = None
        current: int | None = tip
        while current is not None and current not in self.depth_of:
            own = current
            current = self._sums[current].parent_id
        self._parted[tip] = (current, own)
        return current

    def step_if(self, tip: int | None) -> None:
        """`step`, where there is a prompt."""
        if tip is not None:
            self.step(tip)

    def common_blocks(self, tip: int | None) -> int:
        """How many blocks the path to `tip` shares with the current one."""
        node = self.common(tip) if tip is not None else None
        return 0 if node is None else self._sums[node].blocks
