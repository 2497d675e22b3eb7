"""From an alignment to the list of changes: what happened to each block."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from tracer.compare.describe import block_label, run_label
from tracer.compare.fields import differing, is_gap, starts_message
from tracer.compare.identity import is_reminder
from tracer.model.comparison import Change, Op
from tracer.model.prompt import PlacedBlock, Tier

Blocks = Sequence[PlacedBlock]
Pairs = Sequence[tuple[int, int]]


def changes_of(
    a: Blocks,
    b: Blocks,
    part_a: Sequence[int],
    part_b: Sequence[int],
    in_order: Pairs,
    elsewhere: Pairs,
    facing: Collection[tuple[str, int]],
) -> list[Change]:
    """The changes of one sequence in B's order; a removed block stands where it was in A. Equal
    blocks are put together to runs of one tier. `facing` names the blocks (side, position) that the
    other side's log may hide. All positions count over the whole prompts."""
    maker = _Maker(a, b, in_order, elsewhere, facing)
    made = list(maker.changes(part_a, part_b))
    if any(change.op is Op.MOVED for change in made):
        for tier in Tier:
            made = _reordered(made, tier, a, b)
    return made


def equal_runs(a: Blocks, b: Blocks, i: int, j: int, count: int) -> Iterator[Change]:
    """The changes of `count` equal blocks from `i` on in A and from `j` on in B: runs of one tier,
    as well proven."""
    made = 0
    proven = (
        (y.block.tier, x.verified and y.verified)
        for x, y in zip(a[i : i + count], b[j : j + count], strict=True)
    )
    for (tier, verified), found in groupby(proven):
        size = sum(1 for _ in found)
        at = j + made
        yield Change(
            Op.EQUAL, tier, i + made, at, run_label(b[at : at + size]), size, verified=verified
        )
        made += size


class _Maker:
    def __init__(
        self,
        a: Blocks,
        b: Blocks,
        in_order: Pairs,
        elsewhere: Pairs,
        facing: Collection[tuple[str, int]],
    ) -> None:
        self.a = a
        self.b = b
        self.in_order = in_order
        self.partner = dict(in_order)
        self.from_a = {j: i for i, j in elsewhere}
        self.gone = {i for i, _ in elsewhere}
        self.facing = facing

    def changes(self, part_a: Sequence[int], part_b: Sequence[int]) -> Iterator[Change]:
        """All changes, one aligned pair after the other."""
        at_a = at_b = 0
        if part_a and part_b:  # what comes before is the common prefix of both
            self.partner[part_a[0] - 1] = part_b[0] - 1
        run: list[tuple[int, int]] = []
        for pair in [*self.in_order, None]:
            others: list[Change] = []
            while at_a < len(part_a) and (pair is None or part_a[at_a] != pair[0]):
                if part_a[at_a] not in self.gone:
                    others.append(self._only_a(part_a[at_a]))
                at_a += 1
            while at_b < len(part_b) and (pair is None or part_b[at_b] != pair[1]):
                others.append(self._only_b(part_b[at_b]))
                at_b += 1
            at_a += 1
            at_b += 1
            change = self._pair(*pair) if pair else None
            if run and (others or change or pair is None or not self._continues(run[-1], pair)):
                yield self._equal(run)
                run = []
            yield from others
            if change:
                yield change
            elif pair:
                run.append(pair)

    def _continues(self, last: tuple[int, int], pair: tuple[int, int]) -> bool:
        """Whether a pair goes on where an equal run stopped, in the same tier, as well proven."""
        (i, j), (x, y) = last, pair
        return (
            x == i + 1
            and y == j + 1
            and self.b[y].block.tier is self.b[j].block.tier
            and self._proven(x, y) == self._proven(i, j)
        )

    def _proven(self, i: int, j: int) -> bool:
        return self.a[i].verified and self.b[j].verified

    def _equal(self, run: list[tuple[int, int]]) -> Change:
        i, j = run[0]
        return Change(
            Op.EQUAL,
            self.b[j].block.tier,
            i,
            j,
            run_label(self.b[j : j + len(run)]),
            count=len(run),
            verified=self._proven(i, j),
        )

    def _only_a(self, i: int) -> Change:
        placed = self.a[i]
        op = Op.UNKNOWN if is_gap(placed) or ("a", i) in self.facing else Op.REMOVED
        return Change(
            op,
            placed.block.tier,
            i,
            None,
            block_label(placed),
            a_hash=placed.wire_hash,
            verified=placed.verified,
        )

    def _only_b(self, j: int) -> Change:
        i = self.from_a.get(j)
        if i is not None:
            return self._elsewhere(i, j)
        placed = self.b[j]
        op = Op.UNKNOWN if is_gap(placed) or ("b", j) in self.facing else Op.ADDED
        return Change(
            op,
            placed.block.tier,
            None,
            j,
            block_label(placed),
            b_hash=placed.wire_hash,
            verified=placed.verified,
        )

    def _elsewhere(self, i: int, j: int) -> Change:
        x, y = self.a[i].block, self.b[j].block
        same = self.a[i].norm_hash == self.b[j].norm_hash
        moved = same or (x.kind is y.kind and x.text == y.text)
        change = self._changed(i, j, differing(self.a[i], self.b[j]))
        if moved:
            return replace(change, op=Op.MOVED)
        return replace(change, out_of_place=True)

    def _pair(self, i: int, j: int) -> Change | None:
        """The change of an aligned pair; None where it is equal."""
        x, y = self.a[i], self.b[j]
        if x.wire_hash == y.wire_hash:
            if starts_message(x) != starts_message(y) and self.partner.get(i - 1) == j - 1:
                return self._changed(i, j, ("message_start",))
            return None
        differs = differing(x, y)
        if differs == ("message_notes",) and _notes(self.a, i) == _notes(self.b, j):
            differs = ("notes_place",)
        return self._changed(i, j, differs)

    def _changed(self, i: int, j: int, differs: tuple[str, ...]) -> Change:
        x, y = self.a[i], self.b[j]
        return Change(
            Op.CHANGED,
            y.block.tier,
            i,
            j,
            block_label(y),
            a_hash=x.wire_hash,
            b_hash=y.wire_hash,
            differs=differs,
            same_meaning=bool(differs) and x.norm_hash == y.norm_hash,
            verified=self._proven(i, j),
        )


def _notes(blocks: Blocks, position: int) -> str:
    """The other keys of a block's message; they are kept with its first block."""
    while position and not starts_message(blocks[position]):
        position -= 1
    return blocks[position].block.message_json


def _reordered(made: list[Change], tier: Tier, a: Blocks, b: Blocks) -> list[Change]:
    """The changes with MOVED made REORDERED in a tier whose blocks are the same set as before. At
    the end of the messages there may be new ones. A reminder that moves is MOVED: it is what an
    agent moves on purpose."""
    own = [change for change in made if change.tier is tier]
    kept = [c.b_index for c in own if c.a_index is not None and c.b_index is not None]
    last = max(kept, default=-1)
    for change in own:
        came = change.op is Op.ADDED and (tier is Tier.TOOLS or (change.b_index or 0) < last)
        went = change.op in (Op.REMOVED, Op.UNKNOWN)
        crossed = change.a_index is not None and a[change.a_index].block.tier is not tier
        edited = tier is Tier.MESSAGES and change.op is Op.CHANGED and not change.same_meaning
        if came or went or crossed or edited:
            return made
    return [
        replace(change, op=Op.REORDERED)
        if change.op is Op.MOVED
        and change.tier is tier
        and change.b_index is not None
        and not is_reminder(b[change.b_index].block)
        else change
        for change in made
    ]
