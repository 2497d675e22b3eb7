"""Stable tools come first, sorted by name; then the dynamic ones, sorted by name.

Schemas stand in front of everything else, so a tool that changes its place costs the whole cache;
dynamic ones behind the stable ones cost only what follows. Names are compared character by
character, as code compares them.
"""

from collections.abc import Iterator, Sequence

from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedSession
from tracer.checks.layout_14._steps import undecided, walk
from tracer.model.findings import Level
from tracer.model.segments import ToolNote

LEVEL = Level.ERROR
TITLE = "Stable tools sorted by name, then dynamic tools sorted by name"
SOURCE = "formats/context-trace.md 4"

REPORT = Reporter(__name__, LEVEL)
DYNAMIC = "dynamic"


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding where a list of tools comes in another wrong order."""
    yield from undecided(session, REPORT)
    for step in walk(session):
        tools = step.request.layout.tools
        if step.before and tools == step.before.request.layout.tools:
            continue
        wrong = _first_wrong(tools)
        if wrong is not None:
            yield REPORT.found(
                step.request,
                _sentence(tools[wrong - 1], tools[wrong]),
                None,
                position=wrong,
                order=", ".join(f"{tool.name} ({tool.group})" for tool in tools),
            )


def _rank(tool: ToolNote) -> tuple[bool, str]:
    return (tool.group == DYNAMIC, tool.name)


def _first_wrong(tools: Sequence[ToolNote]) -> int | None:
    return next((i for i in range(1, len(tools)) if _rank(tools[i]) < _rank(tools[i - 1])), None)


def _sentence(before: ToolNote, tool: ToolNote) -> str:
    if before.group != tool.group:
        return f"The stable tool {tool.name} comes behind the dynamic tool {before.name}."
    return f"The {tool.group} tool {tool.name} comes behind {before.name}."
