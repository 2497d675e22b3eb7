"""What a prompt contains, as far as the rows of its blocks tell: without its texts."""

from collections.abc import Sequence

from tracer.model.anatomy_views import McsView, ReminderView
from tracer.model.prompt import Kind, Part, Tier
from tracer.service.facts import PromptFacts
from tracer.store.prompts import BlockRow

UNKNOWN_SOURCE = "unknown"
_CONTEXT_SOURCES = (
    ("As you answer the user's questions, you can", "context_prefix"),
    ("The following skills are available for use", "skills_listing"),
)


def reminder_source(preview: str) -> str:
    """The source of a wrapped reminder as far as its opening tells; else `unknown`."""
    body = preview.removeprefix("<system-reminder>").lstrip()
    return next((s for opening, s in _CONTEXT_SOURCES if body.startswith(opening)), UNKNOWN_SOURCE)


def facts_of(blocks: Sequence[BlockRow]) -> PromptFacts:
    """What a prompt contains, from its blocks."""
    from_tools = tuple(b.name for b in blocks if b.tier == Tier.TOOLS and b.kind != Kind.GAP)
    roles: dict[str, int] = {}
    reminders, mcs = [], []
    for block in blocks:
        if block.message_index is None:
            continue
        if block.block_index == 0 and block.role:
            roles[block.role] = roles.get(block.role, 0) + 1
        if block.part == Part.MCS:
            mcs.append(McsView(block.message_index, ()))
        elif block.part in (Part.CONTEXT, Part.REMINDER):
            source = reminder_source(block.preview)
            reminders.append(ReminderView(source, "reminder", block.message_index))
    return PromptFacts(roles, from_tools, tuple(reminders), tuple(mcs))
