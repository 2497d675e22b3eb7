"""The common prefix of two prompts, and the first difference behind it.

Walks block hashes in the provider's order, then the characters of the first pair that differs.
Linear in the number of blocks; only that one pair of texts is read.
"""

from collections.abc import Sequence

from tracer.compare.describe import block_label
from tracer.compare.fields import differing, same_place_in_prefix, starts_message, text_offset
from tracer.compare.texts import SNIPPET_CHARS, snippet
from tracer.model.comparison import Common, Divergence
from tracer.model.prompt import PlacedBlock, Tier

_ORDER = {tier: at for at, tier in enumerate(Tier)}


def equal_blocks(a: Sequence[PlacedBlock], b: Sequence[PlacedBlock], i: int = 0, j: int = 0) -> int:
    """How many blocks from `i` on in A are the same as those from `j` on in B. A gap ends it: two
    gaps of the same length need not hide the same."""
    count = 0
    for x, y in zip(a[i:] if i else a, b[j:] if j else b, strict=False):
        if not same_place_in_prefix(x, y):
            break
        count += 1
    return count


def measure(a: Sequence[PlacedBlock], b: Sequence[PlacedBlock], count: int) -> Common:
    """The size of the first `count` blocks of B, and how many of them both records prove."""
    head = b[:count]
    verified = 0
    for x, y in zip(a, head, strict=False):
        if not (x.verified and y.verified):
            break
        verified += 1
    chars = sum(len(placed.block.text) for placed in head)
    return Common(count, chars, sum(placed.tokens for placed in head), verified)


def divergence(
    a: Sequence[PlacedBlock], b: Sequence[PlacedBlock], i: int, j: int, after_gap: bool = False
) -> Divergence:
    """The difference between A's block `i` and B's block `j`, where both prompts part."""
    x, y = a[i], b[j]
    differs = _all_differing(x, y)
    offset = text_offset(x.block, y.block, differs)
    in_a = _ORDER[x.block.tier] < _ORDER[y.block.tier]
    at, position, blocks = (x, i, a) if in_a else (y, j, b)
    before_it = sum(placed.tokens for placed in b[:j])
    return Divergence(
        tier=at.block.tier,
        index=j,
        a_index=i,
        tier_index=at.tier_index,
        message_index=at.message_index,
        block_index=at.block_index,
        char_offset=offset,
        message_char_offset=_chars_before(blocks, position) + offset,
        token_offset=before_it + tokens_into(y, offset),
        before=snippet(x.block.text, offset),
        after=snippet(y.block.text, offset),
        snippet_start=max(0, offset - SNIPPET_CHARS),
        differs=differs,
        label=block_label(at),
        after_gap=after_gap,
        verified=x.verified and y.verified,
    )


def tokens_into(placed: PlacedBlock, char_offset: int) -> int:
    """The tokens of a block before a character: exact at both ends, proportional between."""
    chars = len(placed.block.text)
    if char_offset <= 0:
        return 0
    return placed.tokens if char_offset >= chars else placed.tokens * char_offset // chars


def _all_differing(x: PlacedBlock, y: PlacedBlock) -> tuple[str, ...]:
    start = () if starts_message(x) == starts_message(y) else ("message_start",)
    return (*start, *differing(x, y))


def _chars_before(blocks: Sequence[PlacedBlock], position: int) -> int:
    """The characters of the blocks before this one in the same message."""
    message_index, chars = blocks[position].message_index, 0
    while message_index is not None and position:
        position -= 1
        if blocks[position].message_index != message_index:
            break
        chars += len(blocks[position].block.text)
    return chars
