"""A session's title: the first words that the user typed."""

from tracer.anatomy.parts import part_of
from tracer.model.events import ModelCall
from tracer.model.prompt import Kind, Part

TITLE_CHARS = 100
# Calls that carry the user's own conversation; a title or compaction call carries a copy of it.
_CONVERSATIONS = frozenset({"main_turn", "subagent", "workflow_child", ""})


def title_of(call: ModelCall) -> str:
    """The first line of the first user text that is no reminder; empty where none is visible."""
    if call.query_source not in _CONVERSATIONS or call.window.offset > 0:
        return ""
    if call.outline is not None and any(call.outline.refs):
        return ""  # the first words may be among what an earlier record has written
    for raw in call.window.items:
        try:
            message = call.parsers.message(raw)
        except (ValueError, RecursionError):
            continue
        if message.role != "user":
            continue
        for block in message.blocks:
            if block.kind is Kind.TEXT and part_of(block) is Part.HISTORY and block.text.strip():
                return _shorten(block.text)
    return ""


def _shorten(text: str) -> str:
    line = text.strip().split("\n", 1)[0].strip()
    return line if len(line) <= TITLE_CHARS else line[: TITLE_CHARS - 1].rstrip() + "…"
