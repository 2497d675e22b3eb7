"""Which part of a prompt a block belongs to, judged by its tier, its role and its text.

A part is what a block is drawn as. It says nothing about a reminder's source; a text counts as a
reminder only where the whole text is one tag pair, since anybody can type the tag
(formats/zcode.md 8.2).
"""

import re

from tracer.model.prompt import Block, Kind, Part, Tier

# Forks rename the product but keep the tag; the closing tag ends the text, but for the context
# prefix, which has one more newline (formats/zcode.md 9.2, A7 and A8).
_WRAPPED = re.compile(r"<(system-reminder)>\n(?P<body>.*)\n</\1>\n?", re.DOTALL)
_TAG = re.compile(r"</?system-reminder>")
_PREFIX_OPENINGS = (
    "As you answer the user's questions, you can",
    "The following skills are available for use",
)


def part_of(block: Block) -> Part:
    """The part that a block is drawn in."""
    if block.kind is Kind.GAP:
        return Part.GAP
    if block.tier is Tier.TOOLS:
        return Part.TOOLS
    if block.tier is Tier.SYSTEM:
        return Part.SYSTEM
    if block.role == "system":
        return Part.MCS
    if block.role == "user" and block.kind is Kind.TEXT:
        body = reminder_body(block.text)
        if body is not None:
            return Part.CONTEXT if body.startswith(_PREFIX_OPENINGS) else Part.REMINDER
    return Part.HISTORY


def reminder_body(text: str) -> str | None:
    """The body of a text that is one reminder tag pair as a whole, else None."""
    if not text.startswith("<system-reminder>\n"):
        return None
    match = _WRAPPED.fullmatch(text)
    if not match or _TAG.search(match["body"]):
        return None
    return match["body"]
