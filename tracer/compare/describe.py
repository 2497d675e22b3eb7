"""Short names of blocks, for people. Numbers are the prompt's own and count from 0."""

import re
from collections.abc import Sequence

from tracer.compare.identity import is_reminder, reminder_opening
from tracer.model.prompt import Kind, PlacedBlock, Tier
from tracer.model.segments import MessageNote
from tracer.words import plural

MAX_NAME_CHARS = 60
_MAX_ID_CHARS = 14
_BLANK = re.compile(r"[\s\x00-\x1f\x7f-\xa0\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff]+")
_NOUNS = {
    Kind.TEXT: "text",
    Kind.REASONING: "reasoning",
    Kind.IMAGE: "image",
    Kind.VIDEO: "video",
    Kind.FILE: "file",
    Kind.RESOURCE_LINK: "link",
    Kind.UNKNOWN: "block of an unknown kind",
}


def block_label(placed: PlacedBlock) -> str:
    """What a block is, in a few words on one line: `tool Bash`, `system block 3`,
    `result of Read (call_ab12)`, `message 12 · user text`."""
    block = placed.block
    if block.kind is Kind.GAP:
        return _gap_label(placed)
    if block.tier is Tier.TOOLS:
        return f"tool {_short(block.name)}" if block.name else f"tool {placed.tier_index}"
    if block.tier is Tier.SYSTEM:
        return f"system block {placed.tier_index}" + _inside(placed)
    if block.kind is Kind.TOOL_CALL:
        return "call" + _of(placed)
    if block.kind is Kind.TOOL_RESULT:
        return "result" + _of(placed)
    where = f"message {placed.message_index}" + _inside(placed)
    if block.role != "system" and is_reminder(block):
        return f"{where} \u00b7 reminder \u201c{_short(reminder_opening(block), 40)}\u201d"
    noun = _NOUNS.get(block.kind, block.kind.value)
    role = "tool result" if block.role == "tool" else _short(block.role)
    return f"{where} \u00b7 {role} {noun}"


_PLAIN_KINDS = frozenset({"", "user_input", "assistant", "tool_result"})


def note_label(note: MessageNote) -> str:
    """What an open trace says a message is: `todo reminder`, `summary`, `guide of the capability
    web`, `World State of the session`; empty where its role says as much."""
    if note.kind in _PLAIN_KINDS:
        return ""
    if note.kind == "capability_guide" and note.capability:
        return f"guide of the capability {_short(note.capability)}"
    if note.kind == "world_state":
        what = "World State diff" if note.mode == "diff" else "World State"
        return f"{what} of the {_short(note.scope)}" if note.scope else what
    return _short(note.kind.replace("_", " "))


def run_label(blocks: Sequence[PlacedBlock]) -> str:
    """What a run of blocks of one tier is: the block's own label if it is one, else
    `tools 0 to 11`, `messages 3 to 40`. Raises ValueError for no blocks."""
    if not blocks:
        raise ValueError("a run of no blocks has no label")
    first, last = blocks[0], blocks[-1]
    if len(blocks) == 1:
        return block_label(first)
    if first.block.tier is Tier.MESSAGES:
        low, high, noun = first.message_index, last.message_index, "message"
    else:
        low, high = first.tier_index, last.tier_index
        noun = "tool" if first.block.tier is Tier.TOOLS else "system block"
    if low == high:
        return f"{noun} {low}, blocks {first.block_index} to {last.block_index}"
    return f"{noun}s {low} to {high}"


def _gap_label(placed: PlacedBlock) -> str:
    if placed.block.tier is Tier.TOOLS:
        return "tools that the log did not show"
    return f"{plural(placed.block.span_messages, 'message')} that the log did not show"


def _inside(placed: PlacedBlock) -> str:
    return f", block {placed.block_index}" if placed.block_index else ""


def _of(placed: PlacedBlock) -> str:
    block = placed.block
    name = f" of {_short(block.name)}" if block.name else ""
    if block.call_id:
        return f"{name} ({_short_id(block.call_id)})"
    return f"{name} in message {placed.message_index}" + _inside(placed)


def _short(text: str, most: int = MAX_NAME_CHARS) -> str:
    line = _BLANK.sub(" ", text[: 4 * most]).strip()
    return line if len(line) <= most else line[: most - 1].rstrip() + "\u2026"


def _short_id(text: str) -> str:
    """The ids of a session begin alike: a long one keeps its end."""
    line = _BLANK.sub(" ", text)
    return line if len(line) <= _MAX_ID_CHARS else "\u2026" + line[-8:]
