"""The difference of a prompt that is an earlier one and more: no text is read, nothing is compared.

Nearly every request is such a one. The result is what comparing the two prompts would give, but
that of a long prompt only those ends of blocks are listed that a verdict looks at.
"""

from bisect import bisect_left
from collections.abc import Sequence

from tracer.cache.difference import (
    CARRIED_OVER,
    ERROR_FRACTION,
    NOT_SHOWN,
    UNSCALED_ERROR_FRACTION,
)
from tracer.model.prompt import Tier
from tracer.model.verdict import Boundary, Difference
from tracer.service.judging.paths import Paths, PathSums
from tracer.store.reading import RequestRow

KEPT_BLOCKS = 48
"""Ends of blocks that are kept at the end of the earlier prompt where markers count."""

KEPT_UNMARKED = 4


class Billed:
    """A path and what was billed for it: where each block ends, in the provider's tokens. `weight`
    is what a token of the head (tools and system) is billed more than one of the messages."""

    def __init__(
        self, paths: Paths, path: Sequence[int], billed: int | None, weight: float = 1.0
    ) -> None:
        self.paths = paths
        self.path = path
        self.billed = billed
        self.tip: PathSums = paths.sums[path[-1]]
        self._more = weight - 1.0
        whole = self.tip.tokens + self.tip.head * self._more
        self._factor = billed / whole if billed and whole and not self.tip.hidden else 1.0

    def end(self, depth: int) -> int:
        """The tokens up to the end of the block at a depth."""
        if depth < 0:
            return 0
        sums, tip = self.paths.sums[self.path[depth]], self.tip
        here = sums.tokens + sums.head * self._more
        if tip.hidden and self.billed:
            rest = max(0.0, self.billed - tip.tokens - tip.head * self._more)
            return round(here + rest * sums.hidden / tip.hidden)
        return round(here * self._factor)


def proven_blocks(paths: Paths, tip: PathSums, path: Sequence[int], row: RequestRow) -> int:
    """How many leading blocks a request's own record proves (tracer.service.placing)."""
    whole = tip.blocks if tip.first_gap is None else tip.first_gap
    if row.verified_from == 0:
        return whole
    for depth in range(tip.talk_from if row.system_from else 0, whole):
        index = paths.nodes[path[depth]].message_index
        if index is not None and (row.verified_from is None or index < row.verified_from):
            return depth
    return whole


def appended(
    now: Billed, common: int, proven: int, read: int | None, kept_blocks: int
) -> Difference:
    """The difference where the first `common` blocks are the whole earlier prompt, of which both
    records prove `proven`. `read` None keeps every end of a block, else there are `kept_blocks` at
    the end of the earlier prompt."""
    tip = now.tip
    verified = min(proven, common)
    hidden = tip.first_gap is not None and tip.first_gap < common
    note = NOT_SHOWN if hidden else CARRIED_OVER
    unproven = verified < common
    kept = range(tip.blocks) if read is None else _kept(now, common, read, kept_blocks)
    return Difference(
        common_blocks=common,
        common_tokens=now.end(common - 1),
        baseline_blocks=common,
        current_blocks=tip.blocks,
        kept_after_tokens=0,
        boundaries=tuple(boundary(now, depth) for depth in kept),
        unverified_from_tokens=now.end(verified - 1) if unproven else None,
        unverified_note=note if unproven else "",
        error_fraction=ERROR_FRACTION if now.billed else UNSCALED_ERROR_FRACTION,
    )


def _kept(now: Billed, common: int, read: int, kept_blocks: int) -> list[int]:
    """The last tool and the system blocks, the blocks around the end of the read, the end of the
    earlier prompt, and what is new; all tools where markers count."""
    tip, sums = now.tip, now.paths.sums
    last_tool = sums[tip.tools_end].depth if tip.tools_end is not None else -1
    first = 0 if kept_blocks >= KEPT_BLOCKS else max(0, last_tool)
    at = bisect_left(range(tip.blocks), read, key=now.end)
    keep = {*range(first, tip.talk_from), *range(max(0, common - kept_blocks), tip.blocks)}
    keep.update(range(max(0, at - 2), min(tip.blocks, at + 3)))
    return sorted(keep)


def boundary(now: Billed, depth: int) -> Boundary:
    """The end of one block."""
    node_id = now.path[depth]
    node = now.paths.nodes[node_id]
    sums = now.paths.sums[node_id]
    block = now.paths.blocks[sums.block_id]
    tier, message_index = block.tier, node.message_index
    index = node.block_index
    if tier is not Tier.TOOLS and message_index is not None:
        index = message_index
        if tier is Tier.MESSAGES:
            index -= now.paths.system_messages(now.tip)
    return Boundary(
        index=depth,
        tier=tier,
        tier_index=index,
        message_index=message_index,
        block_index=node.block_index if message_index is not None else 0,
        role=block.role,
        kind=block.kind,
        end_tokens=now.end(depth),
        label=block.name,
    )
