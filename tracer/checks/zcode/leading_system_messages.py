"""A prompt begins with the system messages of its kind of agent, and each carries a cache marker.

A main agent sends three (a line, the stable sections, the dynamic ones), an agent with a prompt of
its own or a workflow actor two, a subagent one a section: three or four. With another number the
sections have moved to messages where the provider's cache does not look for them; without a marker
the prefix is not cached as far as it could be.
"""

from collections.abc import Iterator

from tracer.anatomy.layout import Variant
from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedRequest, CheckedSession
from tracer.checks.zcode._requests import HEAD, conversation, same_head
from tracer.model.findings import Level

LEVEL = Level.ERROR
TITLE = "One to four leading system messages, each with a cache marker"
SOURCE = "formats/zcode.md 9.2, A1"

REPORT = Reporter(__name__, LEVEL)
_PURPOSE = "the purpose of the call: it may be one for a title, which has no prefix"


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for each prompt with another head than before."""
    for request in conversation(session):
        if not request.head_proven:
            yield REPORT.needs(HEAD, request)
        else:
            yield from _layout(session, request)
            yield from _markers(session, request)


def _layout(session: CheckedSession, request: CheckedRequest) -> Iterator[Found]:
    if request.variant == Variant.NONE and not request.query_source:
        yield REPORT.needs(_PURPOSE, request)
        return
    if request.variant in (Variant.UNKNOWN, Variant.NONE) and not same_head(session, request):
        yield REPORT.found(
            request,
            f"The prompt begins with {request.leading} system messages, as no kind of agent does.",
            min(request.leading, len(request.messages) - 1),
            system_messages=request.leading,
            expected="3 (main), 2 (own prompt, workflow actor), 3 or 4 (subagent)",
        )


def _markers(session: CheckedSession, request: CheckedRequest) -> Iterator[Found]:
    marked = {m.message_index for m in request.markers}
    bare = [i for i in range(request.leading) if i not in marked]
    if bare and bare != _bare_before(session, request):
        yield REPORT.found(
            request,
            f"System message {bare[0]} has no cache marker.",
            bare[0],
            without_marker=", ".join(map(str, bare)),
            system_messages=request.leading,
        )


def _bare_before(session: CheckedSession, request: CheckedRequest) -> list[int]:
    if request.previous is None:
        return []
    before = session.requests[request.previous]
    marked = {m.message_index for m in before.markers}
    return [i for i in range(before.leading) if before.head_proven and i not in marked]
