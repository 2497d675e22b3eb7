"""Where a block stands in its tier, and whether a request's own record shows it."""

import sys
from typing import NamedTuple, Protocol

from tracer.model.prompt import Kind, Tier
from tracer.store.reading import AnyRequest

TIERS = {tier.value: tier for tier in Tier}
KINDS = {kind.value: kind for kind in Kind}
"""By their values: looking one up takes a fraction of the time of making one."""


class Placed(Protocol):
    """What tells where a block stands: a row of a prompt, or a `Spot`."""

    @property
    def kind(self) -> str:
        """The block's kind."""

    @property
    def message_index(self) -> int | None:
        """Its message, over the whole list."""

    @property
    def block_index(self) -> int:
        """Its place in the message, or among the tools."""


class Spot(NamedTuple):
    """A block's kind and place."""

    kind: str
    message_index: int | None
    block_index: int


def tier_index(block: Placed, tier: Tier, system_messages: int) -> int:
    """The position inside the tier: of the tool, the system block, or the message."""
    if tier is Tier.TOOLS or block.message_index is None:
        return block.block_index
    if tier is Tier.SYSTEM:
        return block.message_index
    return block.message_index - system_messages


class Shown(NamedTuple):
    """What the own record of a request proves: the messages from `from_index` on, and the system
    tier where `system`. Its list of tools is always its own."""

    from_index: int = 0
    system: bool = True


EVERYTHING = Shown()


def shown_by(row: AnyRequest) -> Shown:
    """What the record of a request proves; no message where it has none."""
    if row.verified_from == 0:
        return EVERYTHING
    return Shown(
        sys.maxsize if row.verified_from is None else row.verified_from, bool(row.system_from)
    )


def verified_in(block: Placed, tier: Tier, row: AnyRequest) -> bool:
    """True where the request's own record shows the block: in its window, or in the wire body that
    every record carries."""
    if block.kind == Kind.GAP:
        return False
    if row.verified_from == 0 or tier is Tier.TOOLS or block.message_index is None:
        return True
    if tier is Tier.SYSTEM and row.system_from:
        return True
    return row.verified_from is not None and block.message_index >= row.verified_from
