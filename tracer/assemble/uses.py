"""Who sent a block: from the chains of prompts, for a few blocks at once.

Nodes only ever come to the end, parents before children, and never change: they are read once and
then only what is new. One pass over them tells which of the wanted blocks lie on the way to each
node; a request has what lies on the way to its last one.
"""

from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Sent(NamedTuple):
    """A request that sent a block: its place in the order of requests, its last node."""

    order: int
    tip: int


@dataclass(slots=True)
class Use:
    """The requests of one session that sent a block: how many, the first and the last."""

    times: int
    first: Sent
    last: Sent


class Forest:
    """Parents and blocks of all nodes, by row id. Not safe in threads while it grows."""

    def __init__(self) -> None:
        self._parents = array("q", [0])
        self._blocks = array("q", [0])

    @property
    def last_id(self) -> int:
        """The highest row id that is known."""
        return len(self._parents) - 1

    def grow(self, nodes: Iterable[tuple[int, int, int]]) -> None:
        """Add nodes (row id, parent or 0, block) in the order of their ids."""
        parents, blocks = self._parents, self._blocks
        for node, parent, block in nodes:
            gap = node - len(parents)
            if gap:
                parents.extend([0] * gap)
                blocks.extend([0] * gap)
            parents.append(parent)
            blocks.append(block)

    def knows(self, nodes: Iterable[tuple[int, int, int]]) -> bool:
        """Whether these nodes are known, each as it is given; False for none."""
        given = list(nodes)
        return bool(given) and all(
            node <= self.last_id and (self._parents[node], self._blocks[node]) == (parent, block)
            for node, parent, block in given
        )

    def blocks_of(self, tips: Iterable[int]) -> set[int]:
        """All blocks on the ways to some nodes."""
        seen: set[int] = set()
        for tip in tips:
            node = tip
            while node and node not in seen:
                seen.add(node)
                node = self._parents[node]
        return {self._blocks[node] for node in seen}

    def block(self, node: int) -> int:
        """The block that a node adds."""
        return self._blocks[node]

    def path(self, tip: int) -> list[int]:
        """The nodes of a prompt, the first block's first."""
        nodes = []
        node = tip
        while node:
            nodes.append(node)
            node = self._parents[node]
        nodes.reverse()
        return nodes

    def node_on_path(self, tip: int, some: Collection[int]) -> int:
        """The first node of a prompt that adds one of some blocks; 0 where none does."""
        found, node, blocks = 0, tip, self._blocks
        while node:
            if blocks[node] in some:
                found = node
            node = self._parents[node]
        return found

    def uses(
        self, wanted: Mapping[int, int], requests: Sequence[tuple[int, int]]
    ) -> dict[int, dict[int, Use]]:
        """Who sent the wanted blocks, by group and session. `wanted` tells the group of each block:
        a request that sent several of one group counts once. `requests` are (session, last node)
        in their order."""
        starts = {node: wanted[block] for node, block in enumerate(self._blocks) if block in wanted}
        found: dict[int, dict[int, Use]] = {group: {} for group in wanted.values()}
        if not starts:
            return found
        low, labels, sets = self._labels(starts)
        sums: dict[tuple[int, int], Use] = {}
        for order, (session, tip) in enumerate(requests):
            label = labels[tip - low] if tip >= low else 0
            if not label:
                continue
            use = sums.get((label, session))
            sent = Sent(order, tip)
            if use is None:
                sums[label, session] = Use(1, sent, sent)
            else:
                use.times, use.last = use.times + 1, sent
        for (label, session), use in sums.items():
            for group in sets[label]:
                _add(found[group], session, use)
        return found

    def _labels(self, starts: dict[int, int]) -> tuple[int, list[int], list[frozenset[int]]]:
        """For each node from the first start on the number of the set of groups on its way."""
        low = min(starts)
        labels = [0] * (len(self._parents) - low)
        sets: list[frozenset[int]] = [frozenset()]
        numbers: dict[frozenset[int], int] = {sets[0]: 0}
        parents = self._parents
        for node in range(low, len(parents)):
            parent = parents[node]
            label = labels[parent - low] if parent >= low else 0
            group = starts.get(node)
            if group is not None:
                own = sets[label] | {group}
                label = numbers.setdefault(own, len(sets))
                if label == len(sets):
                    sets.append(own)
            labels[node - low] = label
        return low, labels, sets


def _add(uses: dict[int, Use], session: int, use: Use) -> None:
    known = uses.get(session)
    if known is None:
        uses[session] = Use(use.times, use.first, use.last)
        return
    known.times += use.times
    known.first = min(known.first, use.first)
    known.last = max(known.last, use.last)
