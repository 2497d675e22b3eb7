"""The tree of a session's prompts: the sizes of any prompt, and what two of them share, without a
step for each block.

Nodes are numbered in the order of a prompt, so a session is a few runs of ids, each node the parent
of the next one. Over a run sizes are running sums; what the prompts say (`tracer.assemble.chains`)
is known for the legs between the places where something is said, and the same all along a plain
leg.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from tracer.anatomy.messages import BlockReading
from tracer.assemble.chains import EMPTY, Sizes, Sums, path_sums
from tracer.assemble.marked import Leg


class Run(NamedTuple):
    """Nodes with the ids `first` to `last`, each the parent of the next one; `parent_id` is the
    parent of the first."""

    first: int
    last: int
    parent_id: int | None


@dataclass(frozen=True, slots=True)
class TreeRows:
    """A session's prompts as they are stored. `runs` and `legs` are in the order of their ids,
    parents first. Of each node of the runs, one after the other: its letter (as in a leg), its
    tokens (an estimate n is given as -1 - n), and the characters of its path."""

    runs: Sequence[Run]
    legs: Sequence[Leg]
    letters: str
    tokens: Sequence[int]
    cum_chars: Sequence[int]


def known_tokens(tokens: Sequence[int]) -> Sequence[int]:
    """The tokens of nodes, counted or estimated."""
    if min(tokens, default=0) >= 0:  # mostly; tens of thousands of steps fewer
        return tokens
    return [n if n >= 0 else -1 - n for n in tokens]


def estimated(tokens: Sequence[int]) -> Sequence[int]:
    """Of each node 1 where its tokens are an estimate, else 0."""
    if min(tokens, default=0) >= 0:
        return bytes(len(tokens))
    return [int(n < 0) for n in tokens]


class PromptTree:
    """The prompts of a session. Nodes are named by their row ids."""

    def __init__(
        self,
        rows: TreeRows,
        readings: Mapping[int, BlockReading] | None = None,
        plugins: Container[int] = (),
    ) -> None:
        """`readings` and `plugins` as for `path_sums`."""
        self.legs: dict[int, Leg] = {leg.id: leg for leg in rows.legs}
        self.sums: dict[int, Sums] = path_sums(rows.legs, readings, plugins)
        self._rows = rows
        self._ends = list(self.sums)
        self._firsts = [run.first for run in rows.runs]
        lengths = (run.last - run.first + 1 for run in rows.runs)
        self._starts = list(accumulate(lengths, initial=0))
        self._tokens = list(accumulate(known_tokens(rows.tokens), initial=0))
        self._uncounted = list(accumulate(estimated(rows.tokens), initial=0))
        self._above: list[tuple[int, int, int]] = []  # depth, tokens, uncounted above each run
        for run in rows.runs:
            parent = run.parent_id
            self._above.append((0, 0, 0) if parent is None else self.measure(parent))

    @property
    def counted(self) -> bool:
        """Whether every block has its count, gaps aside."""
        return not self._uncounted[-1]

    def measure(self, node: int) -> tuple[int, int, int]:
        """How many blocks a prompt has, its tokens, and how many blocks are not counted."""
        run = bisect_right(self._firsts, node) - 1
        depth, tokens, uncounted = self._above[run]
        start = self._starts[run]
        own = node - self._firsts[run] + 1
        return (
            depth + own,
            tokens + self._tokens[start + own] - self._tokens[start],
            uncounted + self._uncounted[start + own] - self._uncounted[start],
        )

    def depth(self, node: int) -> int:
        """How many blocks a prompt has."""
        return self.measure(node)[0]

    def total_tokens(self, node: int) -> int:
        """The tokens of a prompt."""
        return self.measure(node)[1]

    def uncounted(self, node: int) -> int:
        """How many blocks of a prompt are not counted."""
        return self.measure(node)[2]

    def told(self, node: int) -> Sums:
        """What a prompt says: that of the leg in which it ends. The sizes are the leg's."""
        return self.sums[self._ends[bisect_left(self._ends, node)]]

    def sizes(self, node: int | None) -> Sizes:
        """The sizes of a prompt; those of nothing for None."""
        if node is None:
            return EMPTY
        end = self._ends[bisect_left(self._ends, node)]
        if end == node:
            return self.sums[node]
        leg = self.legs[end]
        above = self.sums[end].emptied() if leg.parent_id is None else self.sums[leg.parent_id]
        depth, tokens, uncounted = self.measure(node)
        run = bisect_right(self._firsts, node) - 1
        at = self._starts[run] + node - self._firsts[run] + 1
        return above.below(
            leg._replace(
                depth=depth,
                cum_chars=self._rows.cum_chars[at - 1],
                tokens=tokens - above.total_tokens,
                uncounted=uncounted - above.uncounted,
                plain=self._rows.letters[at - (depth - above.depth) : at],
            )
        )

    def shared(self, one: int, other: int) -> int | None:
        """The last node that two prompts have in common; None where they begin differently."""
        a, b = (bisect_right(self._firsts, node) - 1 for node in (one, other))
        while a != b:
            run = max(a, b)
            parent = self._rows.runs[run].parent_id
            if parent is None:
                return None
            at = bisect_right(self._firsts, parent) - 1
            if a > b:
                a, one = at, parent
            else:
                b, other = at, parent
        return min(one, other)
