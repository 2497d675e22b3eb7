"""Where the provider's read stopped, on the prompt's own blocks (cache-rules.md 2.5).

A read is a number of tokens; blocks have counts scaled to the bill. So the place is as good as
that scale: the nearest end of a block is named, and where the comparison of the prompts points
elsewhere, that is said.
"""

from bisect import bisect_left
from collections.abc import Sequence

from tracer.cache.expected import noise_tokens
from tracer.cache.wording import tier_place, tokens
from tracer.model.prompt import Tier
from tracer.model.verdict import Boundary, Difference, ReadStop


def read_stop(
    read: int,
    boundaries: Sequence[Boundary],
    difference: Difference | None = None,
    noise: int = 0,
) -> ReadStop | None:
    """The block in which a read of `read` tokens ended; None where the blocks are not known."""
    if not boundaries:
        return None
    ordered = sorted(boundaries, key=lambda b: b.index)
    ends = [b.end_tokens for b in ordered]
    at = min(bisect_left(ends, read), len(ordered) - 1)
    block = ordered[at]
    near_index = at - 1 if at and read - ends[at - 1] <= ends[at] - read else at
    near = ordered[near_index] if read > 0 else None
    distance = read - near.end_tokens if near else read
    agrees, disagreement = _agreement(read, difference, noise)
    start = _start(ordered, at)
    return ReadStop(
        read_tokens=read,
        index=block.index if read else None,
        tier=block.tier if read else None,
        message_index=block.message_index if read else None,
        boundary=_name(near) if near else "the start of the prompt",
        boundary_tokens=near.end_tokens if near else 0,
        distance_tokens=distance,
        agrees=agrees,
        sentence=_sentence(read, near, distance, ordered) + disagreement,
        block_tokens=None if start is None or not read else block.end_tokens - start,
        into_tokens=None if start is None or not read else min(read, block.end_tokens) - start,
    )


def _start(ordered: Sequence[Boundary], at: int) -> int | None:
    """Where a block begins; None where the block before it is not among those that are known."""
    if ordered[at].index == 0:
        return 0
    if at and ordered[at - 1].index == ordered[at].index - 1:
        return ordered[at - 1].end_tokens
    return None


def _sentence(read: int, near: Boundary | None, distance: int, ordered: Sequence[Boundary]) -> str:
    if near is None:
        return "Nothing was read."
    if near.index == ordered[-1].index and distance >= 0:
        return f"The read covers the whole prompt ({tokens(read)})."
    side = "at"
    if distance:
        side = f"{tokens(abs(distance))} {'after' if distance > 0 else 'before'}"
    end = f"the end of {_name(near)}{_tier_note(near, ordered)}"
    return f"The read of {tokens(read)} stopped {side} {end}."


def _tier_note(near: Boundary, ordered: Sequence[Boundary]) -> str:
    behind = next((b for b in ordered if b.index > near.index), None)
    if behind is None or behind.tier is near.tier:
        return ""
    if behind.tier is Tier.MESSAGES:
        return ", which is where tools and system end"
    return f", which is where the {near.tier.value} end"


def _name(boundary: Boundary) -> str:
    index = boundary.tier_index
    if boundary.tier is Tier.MESSAGES and boundary.message_index is not None:
        index = boundary.message_index
    place = tier_place(boundary.tier, index)
    return f"{place} ({boundary.label})" if boundary.label else place


def _agreement(read: int, difference: Difference | None, noise: int) -> tuple[bool | None, str]:
    """Whether the read stopped where the prompts part. An appended prompt parts nowhere."""
    if difference is None or difference.append_only or difference.cut:
        return None, ""
    depth = difference.common_tokens
    tolerance = max(noise, noise_tokens(depth, 1))
    if abs(read - depth) <= tolerance:
        return True, f" The prompts part at about token {depth:,} as billed, which agrees."
    if read < depth:
        return False, (
            f" The prompts part at about token {depth:,} as billed: the provider stopped "
            f"{tokens(depth - read)} before that."
        )
    return False, (
        f" The prompts part at about token {depth:,} as billed: the provider read "
        f"{tokens(read - depth)} past it, so that difference is not one to the cache."
    )
