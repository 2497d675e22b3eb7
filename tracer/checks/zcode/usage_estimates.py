"""The agent's account of its context is what a recount of the prompt gives, category by category.

Both count the same texts by the same rule. Another number means that the account speaks of another
prompt than was sent, or counts it otherwise than it should; and compaction is decided by it. Tools
and messages are measured on JSON whose exact form is not known, so only a difference of more than a
quarter counts there.
"""

from collections.abc import Iterator

from tracer.anatomy.messages import Sort
from tracer.anatomy.rendering import render_message
from tracer.anatomy.sections import UNKNOWN_SECTION
from tracer.anatomy.usage_categories import (
    CATEGORY_NAMES,
    Size,
    counts_as_message,
    is_mcp_tool,
    size_of,
)
from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedMessage, CheckedRequest, CheckedSession
from tracer.checks.zcode._requests import SNAPSHOT, WHOLE_LIST, conversation
from tracer.model.events import UsageCategory
from tracer.model.findings import Level

LEVEL = Level.WARNING
TITLE = "Logged context usage equals a recount"
SOURCE = "formats/zcode.md 2.7"

REPORT = Reporter(__name__, LEVEL)
_TOKENS = "token numbers: the logger redacted them, so that only characters were compared"
_SECTIONS = "the sections of the prefix: a part of it is none that is known"
_RENDERED = frozenset({"messages", "system_tool_schemas", "mcp_tool_schemas"})
"""Categories that are measured on JSON which the log may hold in another form."""
_TOLERANCE = 0.25


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for each category whose number begins to be another one."""
    sizes: dict[int, Size] = {}
    wrong: dict[str, frozenset[str]] = {}
    for request in conversation(session):
        if request.usage is None:
            yield REPORT.needs(SNAPSHOT, request)
        elif not request.whole:
            yield REPORT.needs(WHOLE_LIST, request)
        else:
            if request.usage.tokens_redacted:
                yield REPORT.needs(_TOKENS, request)
            if any(s.source == UNKNOWN_SECTION for s in request.sections):
                yield REPORT.needs(_SECTIONS, request)
            else:
                found = dict(_compared(request, _recounted(request, sizes)))
                known = wrong.get(request.lane, frozenset())
                wrong[request.lane] = frozenset(found)
                yield from (finding for source, finding in found.items() if source not in known)


def _recounted(request: CheckedRequest, sizes: dict[int, Size]) -> dict[str, Size]:
    found = {source: Size() for source in CATEGORY_NAMES}
    for section in request.sections:
        source = "system_prompt" if section.target == "system" else "meta_user_context"
        source = {"skills": "skills", "tools": "tool_prompt"}.get(section.source, source)
        found[source] = found[source].plus(Size(section.chars, section.tokens_estimate))
    for tool in request.tools:
        source = "mcp_tool_schemas" if is_mcp_tool(tool.name) else "system_tool_schemas"
        found[source] = found[source].plus(_tool_size(sizes, id(tool), tool.text))
    for message in request.messages:
        if message.sort is not Sort.SYSTEM and counts_as_message(message.blocks[0]):
            found["messages"] = found["messages"].plus(_message_size(sizes, message))
    return found


def _tool_size(sizes: dict[int, Size], key: int, text: str) -> Size:
    if key not in sizes:
        sizes[key] = size_of(text)
    return sizes[key]


def _message_size(sizes: dict[int, Size], message: CheckedMessage) -> Size:
    key = id(message)
    if key not in sizes:
        sizes[key] = size_of(render_message(message.blocks))
    return sizes[key]


def _compared(request: CheckedRequest, recounted: dict[str, Size]) -> Iterator[tuple[str, Found]]:
    """Each category with another number, and what is to be told of it."""
    for category in request.usage.categories if request.usage else ():
        again = recounted.get(category.source)
        if again is None:
            continue
        unit, logged, counted = _numbers(category, again)
        if logged is None or _is_same(category.source, logged, counted):
            continue
        found = REPORT.found(
            request,
            f"The account gives {category.name or category.source} {logged:,} {unit}, a recount "
            f"{counted:,}.",
            category=category.source,
            logged=logged,
            recounted=counted,
            unit=unit,
        )
        yield category.source, found


def _numbers(category: UsageCategory, again: Size) -> tuple[str, int | None, int]:
    if category.tokens is not None:
        return "tokens", category.tokens, again.tokens
    return "characters", category.chars, again.chars


def _is_same(source: str, logged: int, counted: int) -> bool:
    slack = _TOLERANCE * max(logged, counted) if source in _RENDERED else 0
    return abs(logged - counted) <= slack
