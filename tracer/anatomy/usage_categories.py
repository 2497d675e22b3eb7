"""What fills the context window, in the agent's own seven categories, computed from the prompt.

The agent logs these numbers at debug level and its logger redacts the tokens (formats/zcode.md 2.4
and 2.7). Everything they were counted from is in the prompt, so they are counted again, by the same
rules and the same estimate. And beside them what the agent counts in no category: the notes of the
runtime, wrapped or as system text.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from tracer.anatomy.messages import Sort, read_message
from tracer.anatomy.prompt import (
    AnatomyContext,
    PlacedReminder,
    PlacedSection,
    PromptAnatomy,
)
from tracer.anatomy.reminders import OPEN_TAG, Via
from tracer.anatomy.rendering import render_message
from tracer.model.prompt import Block, Kind, PlacedBlock, Prompt, Tier
from tracer.tokens import estimate_tokens, utf16_length

TOP_CONTRIBUTORS = 5
CATEGORY_NAMES = {
    "system_prompt": "System prompt",
    "meta_user_context": "Meta user context",
    "skills": "Skills",
    "tool_prompt": "Tool prompt",
    "system_tool_schemas": "System tool schemas",
    "mcp_tool_schemas": "MCP tool schemas",
    "messages": "Messages",
}
"""The categories in the agent's order. `tool_prompt` is counted from a section that no builder
emits any more."""

_NOTIFICATION = f"{OPEN_TAG}\n[SYSTEM NOTIFICATION - NOT USER INPUT]"
_MCP_PARTS = 3


class Size(NamedTuple):
    """UTF-16 units and the agent's estimate of tokens."""

    chars: int = 0
    tokens: int = 0

    def plus(self, other: "Size") -> "Size":
        """The sum of both."""
        return Size(self.chars + other.chars, self.tokens + other.tokens)


def size_of(text: str) -> Size:
    """The size of one text; estimates round up a text, so sums are sums of these."""
    return Size(utf16_length(text), estimate_tokens(text))


@dataclass(frozen=True, slots=True)
class Contributor:
    """Something that a category was counted from. `kind` is one of the agent's: context_section,
    tool_schema, skill, message_role; `count` is the number of messages of a role."""

    kind: str
    label: str
    source: str
    chars: int
    tokens: int
    count: int = 1


@dataclass(frozen=True, slots=True)
class CategoryUsage:
    """One category. `complete` is false where the log does not show all that it is counted from:
    then the numbers are a lower bound. `contributors` are the largest five."""

    source: str
    chars: int
    tokens: int
    contributor_count: int
    contributors: tuple[Contributor, ...]
    complete: bool


@dataclass(frozen=True, slots=True)
class Leftover:
    """What no category counts: `kind` is runtime_reminders, mcs_texts or prefix_frame."""

    kind: str
    count: int
    chars: int
    tokens: int
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UsageBreakdown:
    """The categories with tokens, in the agent's order, and what they leave out."""

    categories: tuple[CategoryUsage, ...]
    leftovers: tuple[Leftover, ...]
    total_tokens: int
    complete: bool


def usage_of(
    prompt: Prompt, anatomy: PromptAnatomy, context: AnatomyContext | None = None
) -> UsageBreakdown:
    """The context usage of a prompt, as the agent would count it (formats/zcode.md 2.7).

    `anatomy` is that of the same prompt; `context` lends its cache. The work is linear in the
    prompt's bytes, since every message is rendered.
    """
    messages = _messages(prompt)
    sized = [_Sized(m[0].block.role, _is_counted(m), _message_size(m)) for m in messages]
    whole = not anatomy.gaps
    found = _section_contributors(anatomy.sections) | _tool_contributors(prompt)
    found["messages"] = _by_role(message for message in sized if message.counted)
    complete = dict.fromkeys(CATEGORY_NAMES, True) | {
        "messages": whole,
        "meta_user_context": whole,
        "skills": whole,
        "system_prompt": bool(anatomy.sections) or whole,
    }
    categories = _categories(found, complete)
    return UsageBreakdown(
        categories=tuple(categories),
        leftovers=tuple(_leftovers(messages, anatomy, context or AnatomyContext())),
        total_tokens=sum(c.tokens for c in categories),
        complete=all(c.complete for c in categories),
    )


def _messages(prompt: Prompt) -> list[tuple[PlacedBlock, ...]]:
    placed = (
        b for b in prompt.blocks if b.message_index is not None and b.block.kind is not Kind.GAP
    )
    return [tuple(group) for _, group in groupby(placed, key=lambda b: b.message_index)]


def _section_contributors(sections: Iterable[PlacedSection]) -> dict[str, list[Contributor]]:
    found: dict[str, list[Contributor]] = {}
    for section in sections:
        category = "system_prompt" if section.target == "system" else "meta_user_context"
        category = {"skills": "skills", "tools": "tool_prompt"}.get(section.source, category)
        found.setdefault(category, []).append(
            Contributor(
                "context_section",
                section.name,
                section.source,
                section.chars,
                section.tokens_estimate,
            )
        )
    return found


def is_mcp_tool(name: str) -> bool:
    """True for `mcp__server__tool`."""
    parts = name.split("__", _MCP_PARTS - 1)
    return len(parts) == _MCP_PARTS and parts[0] == "mcp" and all(parts)


def _tool_contributors(prompt: Prompt) -> dict[str, list[Contributor]]:
    found: dict[str, list[Contributor]] = {}
    for placed in prompt.blocks:
        block = placed.block
        if block.tier is Tier.TOOLS and block.kind is not Kind.GAP:
            mcp = is_mcp_tool(block.name)
            source = "mcp_tool" if mcp else "system_tool"
            category = "mcp_tool_schemas" if mcp else "system_tool_schemas"
            found.setdefault(category, []).append(
                Contributor("tool_schema", block.name, source, *size_of(block.text))
            )
    return found


def counts_as_message(first: Block) -> bool:
    """Whether the agent counts a message that begins with this block: not as system text, not where
    it starts with a reminder tag, whoever wrote it, unless it is a notification."""
    if first.role == "system":
        return False
    tagged = first.kind is Kind.TEXT and first.text.startswith(OPEN_TAG)
    return not tagged or first.text.startswith(_NOTIFICATION)


def _is_counted(blocks: Sequence[PlacedBlock]) -> bool:
    return counts_as_message(blocks[0].block)


class _Sized(NamedTuple):
    """The size of one message, and whether the agent counts it among the messages."""

    role: str
    counted: bool
    size: Size


def _message_size(blocks: Sequence[PlacedBlock]) -> Size:
    return size_of(render_message([b.block for b in blocks]))


def _by_role(messages: Iterable[_Sized]) -> list[Contributor]:
    """The messages of each role, roles in the order of their first message."""
    roles: dict[str, list[Size]] = {}
    for message in messages:
        roles.setdefault(message.role, []).append(message.size)
    return [
        Contributor(
            "message_role",
            role,
            role,
            sum(size.chars for size in sizes),
            sum(size.tokens for size in sizes),
            len(sizes),
        )
        for role, sizes in roles.items()
    ]


def _categories(
    found: dict[str, list[Contributor]], complete: dict[str, bool]
) -> list[CategoryUsage]:
    categories = []
    for source in CATEGORY_NAMES:
        items = found.get(source, [])
        tokens = sum(item.tokens for item in items)
        if not tokens:
            continue
        top = sorted(items, key=lambda item: -item.tokens)[:TOP_CONTRIBUTORS]
        categories.append(
            CategoryUsage(
                source,
                sum(item.chars for item in items),
                tokens,
                len(items),
                tuple(top),
                complete[source],
            )
        )
    return categories


def _leftovers(
    messages: Sequence[Sequence[PlacedBlock]], anatomy: PromptAnatomy, context: AnatomyContext
) -> Iterable[Leftover]:
    """Notes in tags, notes as system text, and what the context prefix has beside its sections."""
    counted = {blocks[0].message_index for blocks in messages if _is_counted(blocks)}
    tagged = [
        r
        for r in anatomy.reminders
        if r.via is Via.REMINDER
        and r.source not in ("context_prefix", "skills_listing")
        and r.message_index not in counted
    ]
    merged = [r for r in anatomy.reminders if r.via is Via.MCS and r.source != "skills_listing"]
    for kind, reminders in (("runtime_reminders", tagged), ("mcs_texts", merged)):
        if reminders:
            yield _leftover(kind, reminders)
    frame = _frame(messages, anatomy, context)
    if frame.chars:
        yield Leftover(
            "prefix_frame",
            1,
            frame.chars,
            frame.tokens,
            ("context_prefix",),
        )


def _leftover(kind: str, reminders: Sequence[PlacedReminder]) -> Leftover:
    return Leftover(
        kind,
        len(reminders),
        sum(r.chars for r in reminders),
        sum(r.tokens_estimate for r in reminders),
        tuple(dict.fromkeys(r.source for r in reminders)),
    )


def _frame(
    messages: Sequence[Sequence[PlacedBlock]], anatomy: PromptAnatomy, context: AnatomyContext
) -> Size:
    """What stands around the sections in the context prefix."""
    size = Size()
    for blocks in messages:
        if blocks[0].block.role != "user":  # no other message is a note as a whole
            continue
        reading = read_message(blocks, context.cache)
        if reading.sort is not Sort.WRAPPED:
            continue
        for block_index, span in reading.spans:
            if span.source == "context_prefix":
                text = blocks[block_index].block.text
                index = blocks[0].message_index
                inner = [s for s in anatomy.sections if s.message_index == index]
                size = size.plus(_outside(text, span.start_char, span.end_char, inner))
    return size


def _outside(text: str, start: int, end: int, inner: Sequence[PlacedSection]) -> Size:
    size = Size()
    for section in inner:
        size = size.plus(size_of(text[start : section.start_char]))
        start = section.end_char
    return size.plus(size_of(text[start:end]))
