"""A long common subsequence of two sequences of numbers, fast.

Equal ends are trimmed; what is left is split at the values that occur once on either side (anchors,
as patience and histogram diffs do), again and again. A region that needs little work goes to
difflib. A large region without an anchor falls back on pairing the k-th occurrence of a value with
the k-th occurrence: the result is still a common subsequence, though perhaps not a long one, and
`Matching.fallback` says so.

Cost: O(n log n), times the levels of splitting (few in practice, at most `MAX_DEPTH`).

`few_edits` is for long sequences that are nearly the same: it needs no numbers, finds a shortest
edit, and gives up where there are more than a few.
"""

from bisect import bisect_left
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple

SMALL_WORK = 1_000
"""Elements plus candidate pairs of a region up to which difflib is asked."""

MAX_DEPTH = 32
_CHUNK = 256


class Run(NamedTuple):
    """`size` equal values, from `a` and from `b` on."""

    a: int
    b: int
    size: int


class Matching(NamedTuple):
    """Runs in order, rising on both sides; adjacent runs are merged."""

    runs: list[Run]
    fallback: bool


class _Region(NamedTuple):
    a_lo: int
    a_hi: int
    b_lo: int
    b_hi: int
    depth: int


def few_edits(a: Sequence[Any], b: Sequence[Any], most: int) -> list[Run] | None:
    """The runs of a longest common subsequence if removing and adding `most` elements in all turns
    A into B, else None. After Myers, "An O(ND) Difference Algorithm and Its Variations" (1986):
    for every diagonal, the farthest place that n edits reach. Equal stretches are compared as
    slices; the cost is the lengths plus the square of the edits."""
    if abs(len(a) - len(b)) > most:
        return None
    reach = [0] * (2 * most + 3)
    history: list[list[int]] = []
    last = len(a) - len(b)
    for edits in range(most + 1):
        history.append(reach[most - edits : most + edits + 3])
        for k in range(-edits, edits + 1, 2):
            below, left = reach[most + k + 2], reach[most + k]
            i = below if k == -edits or (k != edits and left < below) else left + 1
            j = i - k
            if i < len(a) and j < len(b) and a[i] == b[j]:
                i += _equal(a, b, i, j, min(len(a) - i, len(b) - j))
            reach[most + k + 1] = i
            if k == last and i >= len(a):
                return _traced(history, k, i)
    return None


def _traced(history: list[list[int]], k: int, end: int) -> list[Run]:
    """The runs of the way that led to place `end` of A on diagonal k, found backwards. Entry n of
    `history` holds the places for diagonals -n - 1 to n + 1 before the n-th edit."""
    runs: list[Run] = []
    for edits in range(len(history) - 1, -1, -1):
        below, left = history[edits][k + edits + 2], history[edits][k + edits]
        down = k == -edits or (k != edits and left < below)
        start = below if down else left + 1
        if end > start:
            runs.append(Run(start, start - k, end - start))
        k, end = (k + 1, below) if down else (k - 1, left)
    return _merge(runs)


def match(a: Sequence[int], b: Sequence[int]) -> Matching:
    """The runs that two sequences have in common."""
    runs: list[Run] = []
    fallback = False
    stack = [_Region(0, len(a), 0, len(b), 0)]
    while stack:
        region = _trim(a, b, stack.pop(), runs)
        if region.a_lo == region.a_hi or region.b_lo == region.b_hi:
            continue
        places_a, places_b, work = _places(a, b, region)
        if not places_a:
            continue
        if work <= SMALL_WORK:
            runs += _difflib(a, b, region)
            continue
        anchors = [
            (places[0], places_b[value][0])
            for value, places in places_a.items()
            if len(places) == 1 and len(places_b[value]) == 1
        ]
        if anchors and region.depth < MAX_DEPTH:
            stack += _between(rising(anchors), region, runs)
            continue
        fallback = True
        paired = [
            pair
            for value, places in places_a.items()
            for pair in zip(places, places_b[value], strict=False)
        ]
        runs += [Run(i, j, 1) for i, j in rising(sorted(paired))]
    return Matching(_merge(runs), fallback)


def _trim(a: Sequence[int], b: Sequence[int], region: _Region, runs: list[Run]) -> _Region:
    """The region without its equal ends, which become runs."""
    a_lo, a_hi, b_lo, b_hi, depth = region
    head = _equal(a, b, a_lo, b_lo, min(a_hi - a_lo, b_hi - b_lo))
    if head:
        runs.append(Run(a_lo, b_lo, head))
        a_lo += head
        b_lo += head
    most, tail = min(a_hi - a_lo, b_hi - b_lo), 0
    while tail < most and a[a_hi - 1 - tail] == b[b_hi - 1 - tail]:
        tail += 1
    if tail:
        runs.append(Run(a_hi - tail, b_hi - tail, tail))
    return _Region(a_lo, a_hi - tail, b_lo, b_hi - tail, depth)


def _equal(a: Sequence[int], b: Sequence[int], i: int, j: int, most: int) -> int:
    count = 0
    while most - count >= _CHUNK:
        if a[i + count : i + count + _CHUNK] != b[j + count : j + count + _CHUNK]:
            break
        count += _CHUNK
    while count < most and a[i + count] == b[j + count]:
        count += 1
    return count


def _places(
    a: Sequence[int], b: Sequence[int], region: _Region
) -> tuple[dict[int, list[int]], dict[int, list[int]], int]:
    """Where each value of both sides stands, on either side in order, and the work that difflib
    would have with the region."""
    a_lo, a_hi, b_lo, b_hi, _ = region
    in_b: dict[int, list[int]] = {}
    for j in range(b_lo, b_hi):
        in_b.setdefault(b[j], []).append(j)
    in_a: dict[int, list[int]] = {}
    candidates = 0
    for i in range(a_lo, a_hi):
        found = in_b.get(a[i])
        if found is not None:
            in_a.setdefault(a[i], []).append(i)
            candidates += len(found)
    return in_a, in_b, a_hi - a_lo + b_hi - b_lo + candidates


def _difflib(a: Sequence[int], b: Sequence[int], region: _Region) -> list[Run]:
    a_lo, a_hi, b_lo, b_hi, _ = region
    matcher = SequenceMatcher(None, a[a_lo:a_hi], b[b_lo:b_hi], autojunk=False)
    return [
        Run(a_lo + i, b_lo + j, count) for i, j, count in matcher.get_matching_blocks() if count
    ]


def _between(anchors: list[tuple[int, int]], region: _Region, runs: list[Run]) -> list[_Region]:
    """The regions between anchors; anchors become runs."""
    a_at, a_end, b_at, b_end, depth = region
    found = []
    for i, j in anchors:
        runs.append(Run(i, j, 1))
        if i > a_at and j > b_at:
            found.append(_Region(a_at, i, b_at, j, depth + 1))
        a_at, b_at = i + 1, j + 1
    found.append(_Region(a_at, a_end, b_at, b_end, depth + 1))
    return found


def rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest part of `pairs`, which rise on the first side, that rises on both."""
    tails: list[int] = []
    tail_at: list[int] = []
    before: list[int] = []
    for at, (_, j) in enumerate(pairs):
        if not tails or j > tails[-1]:
            depth = len(tails)
            tails.append(j)
            tail_at.append(at)
        else:
            depth = bisect_left(tails, j)
            tails[depth] = j
            tail_at[depth] = at
        before.append(tail_at[depth - 1] if depth else -1)
    if len(tails) == len(pairs):
        return pairs
    chosen = []
    at = tail_at[-1] if tail_at else -1
    while at >= 0:
        chosen.append(pairs[at])
        at = before[at]
    chosen.reverse()
    return chosen


def _merge(runs: list[Run]) -> list[Run]:
    merged: list[Run] = []
    for run in sorted(runs):
        if merged:
            a, b, size = merged[-1]
            if a + size == run.a and b + size == run.b:
                merged[-1] = Run(a, b, size + run.size)
                continue
        merged.append(run)
    return merged
