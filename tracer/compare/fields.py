"""What is not the same in two blocks that stand for one another."""

from tracer.compare.texts import first_difference
from tracer.model.comparison import FieldChange
from tracer.model.prompt import JSON_KINDS, Block, Kind, PlacedBlock, Tier

MEDIA_KINDS = frozenset({Kind.IMAGE, Kind.VIDEO, Kind.FILE, Kind.RESOURCE_LINK})

BEFORE_TEXT = frozenset({"tier", "role", "kind", "message_start", "name", "call_id"})
"""Differences that a reader of the prompt meets before the block's text."""


def starts_message(placed: PlacedBlock) -> bool:
    """Whether a block begins a message. Every tool does."""
    return placed.block_index == 0 or placed.block.tier is Tier.TOOLS


def is_gap(placed: PlacedBlock) -> bool:
    """Whether a block stands for something that the log did not show."""
    return placed.block.kind is Kind.GAP


def same_place_in_prefix(a: PlacedBlock, b: PlacedBlock) -> bool:
    """Whether two blocks continue a common prefix: same content, same cut into messages. A gap
    continues none, however similar it looks."""
    return (
        a.wire_hash == b.wire_hash
        and starts_message(a) == starts_message(b)
        and a.block.kind is not Kind.GAP
    )


def differing(a: PlacedBlock, b: PlacedBlock) -> tuple[str, ...]:
    """The names of what differs (see `Change.differs`), in the order in which a reader of the
    prompt meets them. Does not look at where a message starts."""
    if a.wire_hash == b.wire_hash:
        return ()
    x, y = a.block, b.block
    names = [
        name
        for name, differs in (
            ("tier", x.tier != y.tier),
            ("role", x.role != y.role),
            ("message_notes", x.message_json != y.message_json),
            ("kind", x.kind != y.kind),
            ("shape", x.shape != y.shape),
            ("name", x.name != y.name),
            ("call_id", x.call_id != y.call_id),
        )
        if differs
    ]
    if x.text != y.text:
        same = a.norm_hash == b.norm_hash and x.kind in JSON_KINDS
        names.append("serialisation" if same else "text")
    if x.extra_json != y.extra_json:
        names.append("extra")
    if x.span_messages != y.span_messages:
        names.append("span")
    return tuple(names)


def text_offset(a: Block, b: Block, differs: tuple[str, ...]) -> int:
    """The first code point at which the texts differ; 0 where the blocks differ before their texts
    or not in their texts. A tool's name is part of its text."""
    if a.text == b.text:
        return 0
    tools = a.kind is b.kind is Kind.TOOL_SCHEMA
    if not tools and not BEFORE_TEXT.isdisjoint(differs):
        return 0
    return first_difference(a.text, b.text)


def field_changes(a: Block, b: Block) -> tuple[FieldChange, ...]:
    """The values before and after of what differs beside the text."""
    pairs = (
        ("tier", a.tier.value, b.tier.value),
        ("role", a.role, b.role),
        ("kind", a.kind.value, b.kind.value),
        ("shape", a.shape, b.shape),
        ("name", a.name, b.name),
        ("call_id", a.call_id, b.call_id),
        ("extra", a.extra_json, b.extra_json),
        ("message_notes", a.message_json, b.message_json),
    )
    return tuple(FieldChange(*pair) for pair in pairs if pair[1] != pair[2])
