"""Two prompts compared: their common prefix, the first difference, what happened to each block."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from tracer.compare.align import align
from tracer.compare.changes import changes_of, equal_runs
from tracer.compare.fields import is_gap, same_place_in_prefix
from tracer.compare.prefix import divergence, equal_blocks, measure
from tracer.model.comparison import (
    Common,
    Comparison,
    Divergence,
    Hidden,
    MarkerChange,
    Relation,
)
from tracer.model.prompt import PlacedBlock, Prompt, Tier

Blocks = Sequence[PlacedBlock]


def compare(a: Prompt, b: Prompt) -> Comparison:
    """What became of A, the baseline, in B.

    Texts are only read where blocks differ; hunks are made apart (`hunks.diff_change`). Cost:
    linear in the blocks while most are equal. Cache markers are no content: they are compared
    apart. What the log hides is unknown, never changed; a request of which the log shows no block
    at all should not be compared, as a prompt without blocks is taken at its word.
    """
    common = equal_blocks(a.blocks, b.blocks)
    tail = _equal_tail(a.blocks, b.blocks, common)
    ends = len(a.blocks) - tail, len(b.blocks) - tail
    groups = [
        _align(a.blocks, b.blocks, part_a, part_b)
        for part_a, part_b in _sequences(a.blocks, b.blocks, common, ends)
    ]
    in_order = [(i, i) for i in range(common)]
    in_order += sorted(pair for group in groups for pair in group.in_order)
    in_order += [(ends[0] + n, ends[1] + n) for n in range(tail)]
    walk = _walk(a.blocks, b.blocks, common, in_order)
    measured = measure(a.blocks, b.blocks, common)
    return Comparison(
        a_blocks=len(a.blocks),
        b_blocks=len(b.blocks),
        relation=walk.relation,
        common=measured,
        common_at_most=_at_most(measured, a.blocks, b.blocks, walk.at_most),
        first_divergence=walk.divergence,
        changes=(
            *equal_runs(a.blocks, b.blocks, 0, 0, common),
            *(change for group in groups for change in changes_of(a.blocks, b.blocks, *group)),
            *equal_runs(a.blocks, b.blocks, *ends, tail),
        ),
        marker_changes=_marker_changes(a.blocks, b.blocks, in_order),
        hidden=_hidden(a.blocks, b.blocks, walk.shift_messages),
    )


def apply(a_hashes: Sequence[bytes], comparison: Comparison) -> list[bytes]:
    """B's wire hashes, made from A's and the changes. Every block of A must be accounted for once
    and every block of B filled once; raises ValueError where the comparison is not one of A."""
    made: list[bytes | None] = [None] * comparison.b_blocks
    used = [False] * len(a_hashes)
    for change in comparison.changes:
        for n in range(change.count):
            value = change.b_hash
            if change.a_index is not None:
                i = change.a_index + n
                if used[i] or (change.a_hash and a_hashes[i] != change.a_hash):
                    raise ValueError(f"the change {change.label!r} does not fit block {i} of A")
                used[i] = True
                value = value or a_hashes[i]
            if change.b_index is not None:
                if made[change.b_index + n] is not None:
                    raise ValueError(f"block {change.b_index + n} of B is filled twice")
                made[change.b_index + n] = value
    filled = [value for value in made if value is not None]
    if not all(used) or len(filled) != len(made):
        raise ValueError("the changes leave blocks out")
    return filled


class _Group(NamedTuple):
    """Blocks that are aligned together, and how. Positions count over the whole prompts."""

    a: Sequence[int]
    b: Sequence[int]
    in_order: list[tuple[int, int]]
    elsewhere: list[tuple[int, int]]
    facing: set[tuple[str, int]]


class _Walk(NamedTuple):
    """`at_most` counts the blocks of B before the first difference that the logs show."""

    relation: Relation
    divergence: Divergence | None
    at_most: int
    shift_messages: int | None


def _equal_tail(a: Blocks, b: Blocks, start: int) -> int:
    """How many blocks both prompts end with, but for the first of them: the blocks before it are
    aligned with it in sight."""
    most = min(len(a), len(b)) - start
    tail = 0
    while tail < most and same_place_in_prefix(a[-1 - tail], b[-1 - tail]):
        tail += 1
    return max(0, tail - 1)


def _sequences(
    a: Blocks, b: Blocks, start: int, ends: tuple[int, int]
) -> list[tuple[list[int], list[int]]]:
    """What lies between the common prefix and the common end, as two sequences: tools; system
    blocks and messages."""
    found: tuple[tuple[list[int], list[int]], ...] = (([], []), ([], []))
    for side, (blocks, end) in enumerate(zip((a, b), ends, strict=True)):
        for position in range(start, end):
            in_list = blocks[position].block.tier is not Tier.TOOLS
            found[in_list][side].append(position)
    return [sides for sides in found if any(sides)]


def _align(a: Blocks, b: Blocks, part_a: list[int], part_b: list[int]) -> _Group:
    made = align([a[i] for i in part_a], [b[j] for j in part_b])
    return _Group(
        part_a,
        part_b,
        [(part_a[i], part_b[j]) for i, j in made.in_order],
        [(part_a[i], part_b[j]) for i, j in made.elsewhere],
        {("a", part_a[i]) for i in made.facing_a} | {("b", part_b[j]) for j in made.facing_b},
    )


def _walk(a: Blocks, b: Blocks, start: int, pairs: list[tuple[int, int]]) -> _Walk:
    """From the end of the common prefix to the first difference. Tools that were not logged are
    crossed to the first message of the list. A gap in the list is crossed where both prompts show
    an aligned block behind it, and its number says that nothing came or went."""
    i = j = start
    crossed: int | None = None
    while True:
        if i == len(a) or j == len(b):
            relation = Relation.IDENTICAL if i == len(a) else Relation.TRUNCATED
            if j < len(b):
                relation = Relation.APPENDED
            return _Walk(relation, None, j, crossed)
        if not is_gap(a[i]) and not is_gap(b[j]):
            found = divergence(a, b, i, j, after_gap=crossed is not None)
            return _Walk(Relation.DIVERGED, found, j, crossed)
        if Tier.TOOLS in (a[i].block.tier, b[j].block.tier):
            i, j, crossed = _behind_tools(a, i), _behind_tools(b, j), crossed or 0
        else:
            pair = _next_pair(pairs, i, j)
            if pair is None:
                return _Walk(Relation.UNKNOWN, None, len(b), None)
            i, j = pair
            crossed = (b[j].message_index or 0) - (a[i].message_index or 0)
            if crossed:
                return _Walk(Relation.UNKNOWN, None, j, crossed)
        equal = equal_blocks(a, b, i, j)
        i += equal
        j += equal


def _behind_tools(blocks: Blocks, position: int) -> int:
    """The first block that is no tool: the message list begins there, whatever the tools are."""
    while position < len(blocks) and blocks[position].block.tier is Tier.TOOLS:
        position += 1
    return position


def _next_pair(pairs: list[tuple[int, int]], i: int, j: int) -> tuple[int, int] | None:
    for at in range(bisect_left(pairs, (i, 0)), len(pairs)):
        if pairs[at][1] >= j:
            return pairs[at]
    return None


def _at_most(common: Common, a: Blocks, b: Blocks, count: int) -> Common:
    if count <= common.blocks:
        return common
    whole = measure(a, b, count)
    return replace(whole, verified_blocks=common.verified_blocks)


def _hidden(a: Blocks, b: Blocks, shift_messages: int | None) -> Hidden | None:
    gaps_a = [placed.block for placed in a if is_gap(placed)]
    gaps_b = [placed.block for placed in b if is_gap(placed)]
    if not gaps_a and not gaps_b:
        return None
    return Hidden(
        a_messages=sum(gap.span_messages for gap in gaps_a if gap.tier is not Tier.TOOLS),
        b_messages=sum(gap.span_messages for gap in gaps_b if gap.tier is not Tier.TOOLS),
        tools=any(gap.tier is Tier.TOOLS for gap in (*gaps_a, *gaps_b)),
        shift_messages=shift_messages,
    )


def _marker_changes(a: Blocks, b: Blocks, pairs: list[tuple[int, int]]) -> tuple[MarkerChange, ...]:
    found = []
    for i, j in pairs:
        before, after = a[i].marker, b[j].marker
        if before is None and after is None:
            continue
        if (
            before is None
            or after is None
            or (before.ttl, before.scope) != (after.ttl, after.scope)
        ):
            found.append(MarkerChange(i, j, before, after))
    return tuple(found)
