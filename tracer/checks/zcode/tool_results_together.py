"""The results of one step of the assistant stand together, right behind its calls.

A note that arrives while tools run waits for the last result. Providers refuse a call whose result
does not follow, and some read what stands between as an answer of the user.
"""

from collections.abc import Iterator

from tracer.anatomy.messages import Sort
from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedRequest, CheckedSession
from tracer.checks.zcode._requests import called, undecided, with_messages
from tracer.model.findings import Level
from tracer.model.prompt import Kind

LEVEL = Level.ERROR
TITLE = "Results of one step stand together"
SOURCE = "formats/zcode.md 9.2, A9"

REPORT = Reporter(__name__, LEVEL)


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for each message between the results of one step."""
    requests = with_messages(session)
    yield from undecided(REPORT, requests)
    for request in requests:
        for index, message in request.proven:
            if message.sort is not Sort.TOOL:
                continue
            between = _between(request, index)
            if between is not None:
                yield REPORT.found(
                    request,
                    f"Message {between}, {called(request.messages[between])}, stands before the "
                    f"result in message {index}, which belongs to the step before it.",
                    between,
                    result_in_message=index,
                    call=message.blocks[0].call_id,
                )


def _between(request: CheckedRequest, index: int) -> int | None:
    """The first message between a result and the other results or the calls of its step."""
    at = index - 1
    while at >= 0 and request.messages[at].sort not in (Sort.TOOL, Sort.ASSISTANT):
        if request.messages[at].sort in (Sort.GAP, Sort.SYSTEM):
            return None
        at -= 1
    first = at + 1
    while at >= 0 and request.messages[at].sort is Sort.TOOL:
        at -= 1
    if first == index or at < 0 or request.messages[at].sort is not Sort.ASSISTANT:
        return None
    wanted = request.messages[index].blocks[0].call_id
    calls = {b.call_id for b in request.messages[at].blocks if b.kind is Kind.TOOL_CALL}
    return first if wanted in calls else None
