"""What one message is and holds, as far as its own blocks tell.

Results depend on blocks only, so they are computed once a block, whatever the number of requests
that carry it: `read_block` is what to keep, `read_message` puts the blocks of a message together.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from tracer.anatomy.reminder_sources import UNWRAPPED_REPLY
from tracer.anatomy.reminders import (
    ReminderSpan,
    Unverified,
    Via,
    recognise_reminders,
    unverified_tags,
)
from tracer.model.prompt import Block, Kind, PlacedBlock, Tier


class Sort(StrEnum):
    """What a message is in the projection (formats/zcode.md 9). REPLY: a user message that carries
    a presentation; WRAPPED: one whose whole text is reminder tags."""

    SYSTEM = "system"
    MCS = "mcs"
    WRAPPED = "wrapped"
    USER = "user"
    REPLY = "reply"
    ASSISTANT = "assistant"
    TOOL = "tool"
    GAP = "gap"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class BlockReading:
    """The reminders and look-alikes of one block; `reply` tells that it starts like an unwrapped
    message from another session (formats/zcode.md 8.1, `subagent_reply`)."""

    spans: tuple[ReminderSpan, ...] = ()
    unverified: tuple[Unverified, ...] = ()
    reply: bool = False


class PlacedSpan(NamedTuple):
    """A reminder and the block of its message."""

    block_index: int
    span: ReminderSpan


Spans: TypeAlias = tuple[PlacedSpan, ...]
"""The reminders of one message, in order."""


class PlacedLook(NamedTuple):
    """A look-alike tag and the block of its message."""

    block_index: int
    look: Unverified


@dataclass(frozen=True, slots=True)
class MessageReading:
    """One message: its sort, its reminders, the look-alike tags in it."""

    sort: Sort
    spans: Spans = ()
    unverified: tuple[PlacedLook, ...] = ()


@dataclass(slots=True)
class BlockCache:
    """Readings by block hash, to be kept by whoever reads many prompts of one session."""

    readings: dict[bytes, BlockReading] = field(default_factory=dict)

    def read(self, placed: PlacedBlock) -> BlockReading:
        """The reading of a block, computed at most once."""
        known = self.readings.get(placed.wire_hash)
        if known is None:
            known = self.readings[placed.wire_hash] = read_block(placed.block)
        return known


NOTHING = BlockReading()
"""The reading of a block in which nothing was found."""
_SILENT = {sort: MessageReading(sort) for sort in Sort}
"""The readings of messages that say nothing, which are most."""
_BESIDE = "Other content stands beside it in the message: a reminder is a message's whole text."
_WHY = {
    Via.MCS: "Quoted inside a note of the runtime; system text carries no tags.",
    Via.INLINE: "Printed by a tool, or quoted in what it read.",
    Via.REMINDER: "Typed or pasted by the user: the message is more than one tag pair.",
}


def via_of(block: Block) -> Via | None:
    """How a block could carry a reminder; None where it cannot."""
    if block.tier is not Tier.MESSAGES:
        return None
    if block.role == "system":
        return Via.MCS
    if block.role == "user" and block.kind is Kind.TEXT:
        return Via.REMINDER
    if block.role == "tool" and block.kind is Kind.TOOL_RESULT:
        return Via.INLINE
    return None


def read_block(block: Block) -> BlockReading:
    """The reminders and look-alike tags of one block. The prefix's own text may speak of tags, so
    system blocks and tool schemas have neither."""
    if block.tier is not Tier.MESSAGES or block.kind is Kind.GAP:
        return NOTHING
    via = via_of(block)
    if via is None:
        looks = unverified_tags(block.text, (), "Written by the model.")
        return BlockReading((), looks) if looks else NOTHING
    spans = recognise_reminders(block.text, block.role, via)
    looks = unverified_tags(block.text, spans, _WHY[via])
    reply = via is Via.REMINDER and UNWRAPPED_REPLY.match(block.text) is not None
    return BlockReading(spans, looks, reply) if spans or looks or reply else NOTHING


def read_message(blocks: Sequence[PlacedBlock], cache: BlockCache) -> MessageReading:
    """What a message is, from its blocks in order.

    A user message is wrapped only where each of its blocks is a tag pair as a whole; in a tool's
    result only the last block can end with an inline reminder.
    """
    first = blocks[0].block
    readings = [cache.read(placed) for placed in blocks]
    sort = sort_of(
        first.role,
        readings,
        gap=first.kind is Kind.GAP,
        prefix=first.tier is Tier.SYSTEM,
    )
    return message_of(sort, readings)


def message_of(sort: Sort, readings: Sequence[BlockReading]) -> MessageReading:
    """The reading of a message of this sort, from those of its blocks in order."""
    if all(reading is NOTHING for reading in readings):
        return _SILENT[sort]
    looks = [PlacedLook(i, look) for i, r in enumerate(readings) for look in r.unverified]
    spans = [PlacedSpan(i, span) for i, r in enumerate(readings) for span in r.spans]
    if sort is Sort.TOOL:
        spans, dropped = _split(spans, lambda p: p.block_index == len(readings) - 1)
    elif sort in (Sort.WRAPPED, Sort.MCS):
        dropped = []
    else:
        spans, dropped = [], spans
    looks += [PlacedLook(i, _beside(s)) for i, s in dropped]
    looks.sort(key=lambda p: (p.block_index, p.look.start_char))
    return MessageReading(sort, tuple(spans), tuple(looks))


def sort_of(
    role: str, readings: Sequence[BlockReading], *, gap: bool = False, prefix: bool = False
) -> Sort:
    """What a message is, by its role and the readings of its blocks. `gap` tells that it stands for
    unknown ones, `prefix` that it is one of the leading system messages."""
    if gap:
        return Sort.GAP
    if prefix:
        return Sort.SYSTEM
    if role == "system":
        return Sort.MCS
    if role == "user":
        if all(r.spans for r in readings):
            return Sort.WRAPPED
        return Sort.REPLY if readings[0].reply else Sort.USER
    if role == "assistant":
        return Sort.ASSISTANT
    return Sort.TOOL if role == "tool" else Sort.OTHER


def _split(
    spans: list[PlacedSpan], keep: Callable[[PlacedSpan], bool]
) -> tuple[list[PlacedSpan], list[PlacedSpan]]:
    return [s for s in spans if keep(s)], [s for s in spans if not keep(s)]


def _beside(span: ReminderSpan) -> Unverified:
    return Unverified(span.start_char, span.end_char, _BESIDE)
