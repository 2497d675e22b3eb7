"""How exactly a place in a prompt is known in billed tokens (cache-rules.md 2.1, 8).

Blocks are counted with another tokenizer than the provider's, and scaled so that they sum to the
bill. The sum is exact, a place in the middle is not: tools, code and prose are off by different
amounts. The prompts of earlier requests that this one goes on from were billed as well, so their
ends are exact: between them places are scaled anew, and the error grows with the distance.
"""

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from tracer.model.verdict import Boundary, CallFacts, Difference, Earlier


@dataclass(frozen=True, slots=True)
class Scale:
    """Places that are known exactly, in tokens, and the error as a fraction of the distance from
    the nearest of them."""

    exact: tuple[int, ...] = ()
    fraction: float = 0.0

    def error_at(self, tokens: int) -> int:
        """How far a place may really be from where it was put."""
        if not self.exact or not self.fraction:
            return 0
        return math.ceil(self.fraction * min(abs(tokens - place) for place in self.exact))


EXACT = Scale()


def anchored(
    difference: Difference, call: CallFacts, earlier: Iterable[Earlier]
) -> tuple[Difference, Scale]:
    """The difference with its places scaled between the ends of earlier whole prompts, and how
    exact they are then."""
    total = difference.boundaries[-1].end_tokens if difference.boundaries else None
    billed = call.prompt_tokens
    if not total or not billed:
        return difference, Scale((0, *((billed,) if billed else ())), difference.error_fraction)
    points = _points(difference, call, earlier, total, billed)
    scale = Scale(tuple(exact for _, exact in points), difference.error_fraction)
    if len(points) == 2 and total == billed:
        return difference, scale
    moved = _mover(points)
    rest, left = total - difference.common_tokens, billed - moved(difference.common_tokens)
    kept = difference.kept_after_tokens
    found = replace(
        difference,
        common_tokens=moved(difference.common_tokens),
        kept_after_tokens=round(kept * left / rest) if kept and rest > 0 else kept,
        boundaries=tuple(_at(b, moved(b.end_tokens)) for b in difference.boundaries),
        changes=tuple(
            replace(c, token_offset=moved(c.token_offset)) if c.token_offset is not None else c
            for c in difference.changes
        ),
        unverified_from_tokens=None
        if difference.unverified_from_tokens is None
        else moved(difference.unverified_from_tokens),
    )
    return found, scale


def _at(b: Boundary, end: int) -> Boundary:
    """The boundary at another place (`replace` is slower)."""
    return Boundary(
        b.index, b.tier, b.tier_index, b.message_index, b.block_index, b.role, b.kind, end, b.label
    )


def _points(
    difference: Difference,
    call: CallFacts,
    earlier: Iterable[Earlier],
    total: int,
    billed: int,
) -> list[tuple[int, int]]:
    """Pairs of an estimated and an exact place, both rising: start, ends of whole prompts, end."""
    ends = {b.index + 1: b.end_tokens for b in difference.boundaries}
    known = {
        ends[e.common_blocks]: e.facts.usage.input_tokens
        for e in earlier
        if e.whole
        and e.common_blocks in ends
        and e.facts.model == call.model
        and e.facts.usage is not None
        and e.facts.usage.input_tokens
    }
    points = [(0, 0)]
    for estimated, exact in sorted(known.items()):
        if estimated > points[-1][0] and points[-1][1] < exact < billed and estimated < total:
            points.append((estimated, exact))
    return [*points, (total, billed)]


def _mover(points: list[tuple[int, int]]) -> Callable[[int], int]:
    starts = [estimated for estimated, _ in points]

    def moved(tokens: int) -> int:
        at = min(max(bisect_right(starts, tokens) - 1, 0), len(points) - 2)
        (x, a), (y, b) = points[at], points[at + 1]
        return round(a + (tokens - x) * (b - a) / (y - x))

    return moved
