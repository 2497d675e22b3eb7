"""A prompt: ordered blocks in the provider's order (tools, system, messages)."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Tier(StrEnum):
    """The three tiers of a prompt, in cache order."""

    TOOLS = "tools"
    SYSTEM = "system"
    MESSAGES = "messages"


class Kind(StrEnum):
    """What a block is."""

    TOOL_SCHEMA = "tool_schema"
    TEXT = "text"
    REASONING = "reasoning"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    IMAGE = "image"
    VIDEO = "video"
    FILE = "file"
    RESOURCE_LINK = "resource_link"
    UNKNOWN = "unknown"
    GAP = "gap"


JSON_KINDS = frozenset(
    {Kind.TOOL_SCHEMA, Kind.TOOL_CALL, Kind.IMAGE, Kind.VIDEO, Kind.FILE, Kind.RESOURCE_LINK}
)
"""Kinds whose text is JSON."""

NO_CONTENT = frozenset({"absent", "null", "empty-array"})
"""Shapes of a content that holds nothing: there was none, it was null, or it was an empty list."""


class Part(StrEnum):
    """The category a block is drawn in; order is the order of the stack."""

    TOOLS = "tools"
    SYSTEM = "system"
    CONTEXT = "context"
    HISTORY = "history"
    REMINDER = "reminder"
    MCS = "mcs"
    GAP = "gap"


@dataclass(frozen=True, slots=True)
class Block:
    """One piece of a prompt, without its cache marker.

    `text` is the text of a text block, the compact JSON of a tool's schema or of a call's input.
    `shape` is `string` or `array`: how the message carried its content (same meaning, other bytes).
    A call has `call`, or `other` where it is no object; where it is the first block of a message
    whose content holds nothing, one of NO_CONTENT follows behind a space.
    `extra_json` holds the content block's other keys, `message_json` the message's other keys (on
    its first block only), both as compact JSON objects in logged key order, or empty.
    `span_messages` counts the messages of a gap: messages that the log did not show.
    """

    tier: Tier
    role: str
    kind: Kind
    text: str
    shape: str = "string"
    name: str = ""
    call_id: str = ""
    extra_json: str = ""
    message_json: str = ""
    span_messages: int = 1


@dataclass(frozen=True, slots=True)
class Marker:
    """A cache breakpoint. `index` counts inside its tier (tool position, system block, message);
    `block_index` counts inside the message, `message_index` over the whole list (None for tools).
    `ttl` and `scope` are empty where not given."""

    tier: Tier
    index: int
    block_index: int
    ttl: str = ""
    scope: str = ""
    message_index: int | None = None


class MarkerValue(NamedTuple):
    """The content of a marker without its place."""

    block_index: int
    ttl: str
    scope: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message: at least one block, and the markers that stood on it."""

    role: str
    blocks: tuple[Block, ...]
    markers: tuple[MarkerValue, ...] = ()


@dataclass(frozen=True, slots=True)
class PlacedBlock:
    """A block at its place in one prompt.

    `index` counts over the whole prompt; `tier_index` inside the tier (tool position, system block,
    message); `message_index` over the whole message list, leading system messages included (None
    for tools); `block_index` inside the message. `tokens` is the best count known. `verified` is
    false where the request's own record does not prove the block.
    """

    index: int
    tier_index: int
    message_index: int | None
    block_index: int
    block: Block
    wire_hash: bytes
    norm_hash: bytes
    tokens: int
    marker: Marker | None = None
    verified: bool = True


@dataclass(frozen=True, slots=True)
class Prompt:
    """A whole prompt in the provider's order, with its texts."""

    blocks: tuple[PlacedBlock, ...]
