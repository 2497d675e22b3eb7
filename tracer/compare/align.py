"""Which block of A stands for which block of B.

One sequence after the other (tools; then the system blocks and messages, which share a list), in
passes from certain to likely, each over what the passes before have left:

1. the same bytes in the same order, reminders last: a reminder that moved over a message is what
   moved, not the message;
2. the same meaning, then the same name or call id, in the same order;
3. the same bytes or meaning elsewhere (moved), or the same text in another role or tier;
4. the same identity (name, call id, opening), in the same order, then elsewhere;
5. a similar text in the same place; then whatever stands alone in the same place.

A block that faces a gap of the other prompt may well be hidden there, so nothing is claimed of it
but what an identity proves. The exception is a block behind the gaps of both prompts and before an
aligned block whose message number is the same in both: its own number then tells its counterpart.

Blocks of one sequence are numbered from 0 in here.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import NamedTuple

from tracer.compare.fields import is_gap
from tracer.compare.identity import (
    SIMILAR,
    Identity,
    compatible,
    identity,
    is_reminder,
    is_strong,
    is_weak,
    similarity,
)
from tracer.compare.match import match, rising
from tracer.model.prompt import PlacedBlock, Tier

_REACH = 4
"""How many blocks ahead a similar text is looked for."""

_MAX_COMPARED_CHARS = 4_000_000
"""Characters that are compared for likeness in one alignment, for the sake of speed."""

_LEAST_TEXT = 16
"""Characters from which on a text is taken to be the same one in another role."""

Key = Callable[[PlacedBlock], Hashable | None]


class Alignment(NamedTuple):
    """Pairs of positions. `in_order` rise on both sides; `elsewhere` cross them. `facing_a` are the
    unpaired blocks of A that face a gap of B, `facing_b` the other way round."""

    in_order: list[tuple[int, int]]
    elsewhere: list[tuple[int, int]]
    facing_a: frozenset[int]
    facing_b: frozenset[int]


class _Region(NamedTuple):
    """What lies between two aligned pairs: unpaired positions, without gaps. `closed`: a pair
    follows. `gap_a` and `gap_b` are the last position of a gap, -1 without one."""

    a: list[int]
    b: list[int]
    closed: tuple[int, int] | None
    gap_a: int
    gap_b: int

    @property
    def hidden(self) -> bool:
        """Whether either side hides something here."""
        return self.gap_a >= 0 or self.gap_b >= 0


def align(a: Sequence[PlacedBlock], b: Sequence[PlacedBlock]) -> Alignment:
    """The alignment of two sequences. Linear for what is equal; see `match` for the rest."""
    aligner = _Aligner(a, b)
    aligner.run()
    facing_a: list[int] = []
    facing_b: list[int] = []
    for region in aligner.regions():
        if region.gap_b >= 0:
            facing_a += region.a
        if region.gap_a >= 0:
            facing_b += region.b
    return Alignment(
        aligner.in_order,
        sorted(aligner.elsewhere),
        frozenset(facing_a),
        frozenset(facing_b),
    )


class _Aligner:
    def __init__(self, a: Sequence[PlacedBlock], b: Sequence[PlacedBlock]) -> None:
        self.a = a
        self.b = b
        self.in_order: list[tuple[int, int]] = []
        self.elsewhere: list[tuple[int, int]] = []
        self.used_a = [False] * len(a)
        self.used_b = [False] * len(b)
        self._compared_chars = 0
        self._identities: dict[int, Identity | None] = {}
        self._gaps_a = {i for i, placed in enumerate(a) if is_gap(placed)}
        self._gaps_b = {j for j, placed in enumerate(b) if is_gap(placed)}
        gaps = [a[i] for i in self._gaps_a] + [b[j] for j in self._gaps_b]
        self._first_hidden = min((gap.message_index or 0 for gap in gaps), default=0)

    def run(self) -> None:
        """All passes."""
        notes = {id(placed) for placed in (*self.a, *self.b) if is_reminder(placed.block)}
        self._match_whole(lambda placed: None if id(placed) in notes else placed.wire_hash)
        self._match_singles()
        if self._done():
            return
        if notes:
            self._match_regions(_wire)
        if self._done():
            return
        self._match_regions(_norm)
        if self._done():
            return
        self._match_regions(self._strong_identity)
        if self._done():
            return
        self._pair_elsewhere(_wire)
        self._pair_elsewhere(_norm)
        self._match_regions(_text, likeness=True)
        self._pair_elsewhere(_text)
        self._match_regions(self._identity, likeness=True)
        self._pair_elsewhere(self._strong_identity, facing=True)
        self._pair_elsewhere(self._other_identity, unique=True)
        self._pair_similar()
        self._pair_alone()
        self._pair_behind_gaps()

    def regions(self) -> Iterator[_Region]:
        """What lies between the pairs that are aligned in order, where there is something."""
        at_a = at_b = 0
        for pair in [*self.in_order, None]:
            i, j = pair or (len(self.a), len(self.b))
            if i > at_a or j > at_b:
                yield self._region(at_a, i, at_b, j, pair)
            at_a = i + 1
            at_b = j + 1

    def _region(
        self, a_lo: int, a_hi: int, b_lo: int, b_hi: int, closed: tuple[int, int] | None
    ) -> _Region:
        left_a = [i for i in range(a_lo, a_hi) if not self.used_a[i]]
        left_b = [j for j in range(b_lo, b_hi) if not self.used_b[j]]
        gap_a = gap_b = -1
        if self._gaps_a:
            gap_a = max(self._gaps_a.intersection(left_a), default=-1)
            left_a = [i for i in left_a if i not in self._gaps_a]
        if self._gaps_b:
            gap_b = max(self._gaps_b.intersection(left_b), default=-1)
            left_b = [j for j in left_b if j not in self._gaps_b]
        return _Region(left_a, left_b, closed, gap_a, gap_b)

    def _done(self) -> bool:
        """Whether one side has nothing left to pair."""
        return all(self.used_a) or all(self.used_b)

    def _identity(self, placed: PlacedBlock) -> Identity | None:
        found = self._identities.get(id(placed), ())
        if found == ():
            found = self._identities[id(placed)] = identity(placed.block)
        return found

    def _strong_identity(self, placed: PlacedBlock) -> Identity | None:
        found = self._identity(placed)
        return found if is_strong(found) else None

    def _other_identity(self, placed: PlacedBlock) -> Identity | None:
        found = self._identity(placed)
        return None if is_strong(found) or is_weak(found) else found

    def _add(self, pairs: Sequence[tuple[int, int]]) -> None:
        """New pairs in order, none of which crosses an old one."""
        if not pairs:
            return
        for i, j in pairs:
            self.used_a[i] = self.used_b[j] = True
        self.in_order = sorted([*self.in_order, *pairs])

    def _match_whole(self, key: Key) -> None:
        seen_a = [i for i in range(len(self.a)) if i not in self._gaps_a]
        seen_b = [j for j in range(len(self.b)) if j not in self._gaps_b]
        self._add(self._matched(seen_a, seen_b, key))

    def _match_singles(self) -> None:
        """Single blocks between aligned ones: the next three passes in one, for speed."""
        found: list[tuple[int, int]] = []
        for region in self.regions():
            if len(region.a) == len(region.b) == 1 and not region.hidden:
                i, j = region.a[0], region.b[0]
                x, y = self.a[i], self.b[j]
                named = self._strong_identity(x)
                if x.norm_hash == y.norm_hash or (named and named == self._strong_identity(y)):
                    found.append((i, j))
        self._add(found)

    def _match_regions(self, key: Key, likeness: bool = False) -> None:
        """Pairs of the same key in the same order. `likeness`: the key may be no more than that,
        which does not count for a block that faces a gap."""
        found: list[tuple[int, int]] = []
        for region in self.regions():
            if not region.a or not region.b:
                continue
            if not (likeness and region.hidden):
                found += self._matched(region.a, region.b, key)
                continue
            front = self._matched(*self._before_gaps(region), key)
            found += front
            last_a, last_b = front[-1] if front else (-1, -1)
            rest_a = [i for i in region.a if i > last_a]
            rest_b = [j for j in region.b if j > last_b]
            found += self._matched(rest_a, rest_b, self._strong_identity)
        self._add(found)

    def _before_gaps(self, region: _Region) -> tuple[list[int], list[int]]:
        """The unpaired blocks that stand before anything is hidden on either side."""
        return (
            [i for i in region.a if self._is_before_gaps(self.a[i])],
            [j for j in region.b if self._is_before_gaps(self.b[j])],
        )

    def _is_before_gaps(self, placed: PlacedBlock) -> bool:
        return placed.message_index is not None and placed.message_index < self._first_hidden

    def _matched(self, a: Sequence[int], b: Sequence[int], key: Key) -> list[tuple[int, int]]:
        """The pairs of a common subsequence of keys; None matches nothing."""
        if len(a) == len(b) == 1:
            found = key(self.a[a[0]])
            same = found is not None and found == key(self.b[b[0]])
            return [(a[0], b[0])] if same else []
        ids: dict[Hashable, int] = {}
        at_a, ids_a = _numbered(self.a, a, key, ids)
        at_b, ids_b = _numbered(self.b, b, key, ids)
        return [
            (at_a[i + n], at_b[j + n])
            for i, j, count in match(ids_a, ids_b).runs
            for n in range(count)
        ]

    def _pair_elsewhere(self, key: Key, facing: bool = False, unique: bool = False) -> None:
        """Pairs the k-th unpaired block of a key with the k-th, wherever it stands. `facing`: also
        beside a gap; `unique`: only where the key occurs once on either side."""
        left_a: dict[Hashable, list[int]] = {}
        left_b: dict[Hashable, list[int]] = {}
        for region in self.regions():
            if facing or not region.hidden:
                for side, blocks, left in ((region.a, self.a, left_a), (region.b, self.b, left_b)):
                    for position in side:
                        found = key(blocks[position])
                        if found is not None:
                            left.setdefault(found, []).append(position)
        for found, places_a in left_a.items():
            places_b = left_b.get(found, [])
            if unique and (len(places_a) != 1 or len(places_b) != 1):
                continue
            for i, j in zip(places_a, places_b, strict=False):
                self.used_a[i] = self.used_b[j] = True
                self.elsewhere.append((i, j))

    def _pair_similar(self) -> None:
        """Texts that share most of their content, in order, not far apart."""
        found: list[tuple[int, int]] = []
        for region in self.regions():
            start = 0
            for i in [] if region.hidden else region.a:
                for at in range(start, min(start + _REACH, len(region.b))):
                    if self._similar(i, region.b[at]):
                        found.append((i, region.b[at]))
                        start = at + 1
                        break
        self._add(found)

    def _similar(self, i: int, j: int) -> bool:
        x, y = self.a[i].block, self.b[j].block
        if self._compared_chars > _MAX_COMPARED_CHARS or not compatible(x, y):
            return False
        self._compared_chars += 256 + len(x.text) + len(y.text)
        return similarity(x.text, y.text) >= SIMILAR

    def _pair_alone(self) -> None:
        """As many blocks on either side, of the same sorts in the same order: one in the place of
        the other. At the end of a prompt only a single one, as nothing holds more in place."""
        found: list[tuple[int, int]] = []
        for region in self.regions():
            a, b = region.a, region.b
            if region.hidden:
                a, b = self._before_gaps(region)
            if len(a) != len(b) or (len(a) > 1 and region.closed is None and not region.hidden):
                continue
            pairs = list(zip(a, b, strict=True))
            if all(compatible(self.a[i].block, self.b[j].block) for i, j in pairs):
                found += pairs
        self._add(found)

    def _pair_behind_gaps(self) -> None:
        """Blocks with the same number behind the gaps of both sides, before an aligned block whose
        number is the same in both: nothing came or went between."""
        found: list[tuple[int, int]] = []
        for region in self.regions():
            if not region.hidden or region.closed is None:
                continue
            x, y = self.a[region.closed[0]], self.b[region.closed[1]]
            if x.message_index != y.message_index or x.message_index is None:
                continue
            at_b = {_number(self.b[j]): j for j in region.b if j > region.gap_b}
            for i in region.a:
                j = at_b.get(_number(self.a[i]))
                if i > region.gap_a and j is not None and self.a[i].message_index is not None:
                    found.append((i, j))
        self._add(rising(found))


def _numbered(
    blocks: Sequence[PlacedBlock], positions: Sequence[int], key: Key, ids: dict[Hashable, int]
) -> tuple[list[int], list[int]]:
    """The positions that have a key, and the keys as numbers."""
    kept: list[int] = []
    numbers: list[int] = []
    for position in positions:
        found = key(blocks[position])
        if found is not None:
            kept.append(position)
            numbers.append(ids.setdefault(found, len(ids)))
    return kept, numbers


def _wire(placed: PlacedBlock) -> Hashable:
    return placed.wire_hash


def _norm(placed: PlacedBlock) -> Hashable:
    return placed.norm_hash


def _text(placed: PlacedBlock) -> Hashable | None:
    """The text alone: the same words in another role or tier."""
    block = placed.block
    if block.call_id or block.tier is Tier.TOOLS or len(block.text) < _LEAST_TEXT:
        return None
    return block.kind, block.text


def _number(placed: PlacedBlock) -> tuple[int | None, int]:
    return placed.message_index, placed.block_index
