"""Where a block stands in its tier, and whether a request's own record shows it."""

from tracer.model.prompt import Kind, Tier
from tracer.store.prompts import BlockRow
from tracer.store.reading import RequestRow


def tier_index(block: BlockRow, tier: Tier, system_messages: int) -> int:
    """The position inside the tier: of the tool, the system block, or the message."""
    if tier is Tier.TOOLS or block.message_index is None:
        return block.block_index
    if tier is Tier.SYSTEM:
        return block.message_index
    return block.message_index - system_messages


def verified_in(block: BlockRow, tier: Tier, row: RequestRow) -> bool:
    """True where the request's own record shows the block: in its window, or in the wire body that
    every record carries."""
    if block.kind == Kind.GAP:
        return False
    if tier is Tier.TOOLS or block.message_index is None:
        return True
    if tier is Tier.SYSTEM and row.system_from:
        return True
    return row.verified_from is not None and block.message_index >= row.verified_from
