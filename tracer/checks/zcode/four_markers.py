"""A main agent's request has four cache markers: one on each of its three leading system messages
and one at the end of the conversation.

Four is what a provider allows. Without the one at the end the conversation is not stored; one on
the tools takes the place of another.
"""

from collections.abc import Iterator

from tracer.anatomy.layout import Variant
from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedRequest, CheckedSession
from tracer.checks.zcode._requests import HEAD, WHOLE_LIST, conversation
from tracer.checks.zcode.conversation_marker import conversation_markers, expected_marker
from tracer.model.findings import Level
from tracer.model.prompt import Tier

LEVEL = Level.ERROR
TITLE = "Four markers on the default path"
SOURCE = "formats/zcode.md 9.2, A1 and A2"

REPORT = Reporter(__name__, LEVEL)


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for each request with fewer or more; a bare system message and a second
    marker in the conversation are told by the rules about those."""
    for request in conversation(session):
        if not request.head_proven:
            yield REPORT.needs(HEAD, request)
        elif request.variant == Variant.MAIN:
            yield from _counted(request)


def _counted(request: CheckedRequest) -> Iterator[Found]:
    on_tools = sorted({m.index for m in request.markers if m.tier is Tier.TOOLS})
    in_talk = conversation_markers(request)
    if on_tools:
        names = [request.tools[i].name for i in on_tools if i < len(request.tools)]
        yield REPORT.found(
            request,
            f"{len(on_tools)} of the tools carry a cache marker.",
            tools=", ".join(names) or "not shown",
            markers=len(request.markers),
        )
    last = expected_marker(request)
    if in_talk or last is None:
        return
    if not request.proves(last):
        yield REPORT.needs(WHOLE_LIST, request)
    else:
        yield REPORT.found(
            request,
            "No message of the conversation carries a cache marker.",
            last,
            markers=len(request.markers),
            expected=request.leading + 1,
        )
