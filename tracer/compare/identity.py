"""What a block is, whatever it says: which blocks of two prompts stand for one another.

Tools are known by name, calls and results by call id, reminders and system blocks by how they
begin, other texts by their opening. Where nothing of that helps, two texts that share most of their
content in the same place are taken for versions of one.
"""

import re
from collections.abc import Hashable
from typing import TypeAlias

from tracer.compare.fields import MEDIA_KINDS
from tracer.compare.texts import common_suffix, first_difference
from tracer.model.prompt import Block, Kind, Tier

Identity: TypeAlias = tuple[Hashable, ...]

SIMILAR = 0.5
"""Share of the longer text from which on two texts are versions of one."""

_OPENING_CHARS = 48
_LEAST_OPENING = 16
_MAX_COMPARED_CHARS = 65_536
_TAG = re.compile(r"\s*<([a-z][a-z_-]*reminder)>\s*")
_HEADING = re.compile(r"^#{1,6} +(\S.*)$", re.MULTILINE)
_DIGITS = re.compile(r"\d+")
_BLANK = re.compile(r"\s+")


def is_reminder(block: Block) -> bool:
    """Whether a message block looks like a note that the agent puts in by itself: a text in a
    reminder tag, or a system message in the middle of the conversation."""
    if block.tier is not Tier.MESSAGES or block.kind is not Kind.TEXT:
        return False
    return block.role == "system" or (block.role == "user" and _TAG.match(block.text) is not None)


def reminder_opening(block: Block) -> str:
    """The first words of a reminder's body."""
    match = _TAG.match(block.text)
    return _opening(block.text, match.end() if match else 0)


def identity(block: Block) -> Identity | None:
    """What to know a block by; None where it has nothing to be known by."""
    if block.tier is Tier.TOOLS:
        return ("tool", block.name) if block.name else None
    if block.call_id:
        return ("call" if block.kind is Kind.TOOL_CALL else "result", block.call_id)
    if block.tier is Tier.SYSTEM:
        return ("system", _system_opening(block.text))
    if is_reminder(block):
        return ("reminder", _DIGITS.sub("#", reminder_opening(block)))
    if block.kind in (Kind.TEXT, Kind.REASONING):
        opening = _DIGITS.sub("#", _opening(block.text, 0))
        if len(opening) >= _LEAST_OPENING:
            return ("text", block.role, block.kind, opening)
    return None


def is_strong(identity: Identity | None) -> bool:
    """Whether an identity holds wherever the block stands: a name or an id, not a likeness."""
    return identity is not None and identity[0] in ("tool", "call", "result")


def is_weak(identity: Identity | None) -> bool:
    """Whether an identity means something only in the same place."""
    return identity is None or identity[0] == "text"


def compatible(a: Block, b: Block) -> bool:
    """Whether one block can stand in the place of another: same tier and role, same kind (or media
    and the text that replaced it), and no names or ids that say otherwise."""
    if a.tier is not b.tier or a.role != b.role:
        return False
    if a.kind is not b.kind:
        replaced = {a.kind, b.kind} & {Kind.TEXT, Kind.TOOL_RESULT}
        if not replaced or not ({a.kind, b.kind} & MEDIA_KINDS):
            return False
    if is_reminder(a) != is_reminder(b):
        return False
    return a.call_id == b.call_id and (a.tier is not Tier.TOOLS or a.name == b.name)


def similarity(a: str, b: str) -> float:
    """How much of the longer text both share, 0 to 1: equal ends, or equal lines by length,
    whichever is more. Looks at the first 64 K characters; linear in them."""
    a, b = a[:_MAX_COMPARED_CHARS], b[:_MAX_COMPARED_CHARS]
    longer = max(len(a), len(b))
    if not longer:
        return 1.0
    head = first_difference(a, b)
    tail = common_suffix(a, b, min(len(a), len(b)) - head)
    ends = (head + tail) / longer
    if ends >= SIMILAR or "\n" not in a or "\n" not in b:
        return ends
    lines_a, lines_b = a.split("\n"), set(b.split("\n"))
    return max(ends, sum(len(line) + 1 for line in lines_a if line in lines_b) / (longer + 1))


def _opening(text: str, start: int) -> str:
    return _BLANK.sub(" ", text[start : start + 4 * _OPENING_CHARS].lstrip())[:_OPENING_CHARS]


def _system_opening(text: str) -> str:
    """A system block's first heading, else its first words."""
    match = _HEADING.search(text, 0, 2_000)
    return match[1][:_OPENING_CHARS] if match else _DIGITS.sub("#", _opening(text, 0))
