"""Every tool's result answers a call that stands earlier in the prompt.

A result without its call is refused by providers, or read as noise. A compaction and a run that was
interrupted can leave one, so this is a warning.
"""

from collections.abc import Iterator

from tracer.anatomy.messages import Sort
from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedRequest, CheckedSession
from tracer.checks.zcode._requests import WHOLE_LIST, undecided, with_messages
from tracer.model.findings import Level
from tracer.model.prompt import Kind

LEVEL = Level.WARNING
TITLE = "A result has its call"
SOURCE = "formats/zcode.md 9.2, A11"

REPORT = Reporter(__name__, LEVEL)


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for each result whose call is missing."""
    requests = with_messages(session)
    yield from undecided(REPORT, requests)
    for request in requests:
        for index, message in request.proven:
            if message.sort is not Sort.TOOL:
                continue
            call_id = message.blocks[0].call_id
            known = _has_call(request, index, call_id)
            if known is None:
                yield REPORT.needs(WHOLE_LIST, request)
            elif not known:
                yield REPORT.found(
                    request,
                    f"Message {index} is a result of {message.blocks[0].name or 'a tool'}, and no "
                    "earlier message calls it.",
                    index,
                    call=call_id or "none",
                    tool=message.blocks[0].name or "not named",
                )


def _has_call(request: CheckedRequest, index: int, call_id: str) -> bool | None:
    """Whether an earlier message of the assistant holds a call; None where one is not shown."""
    for at in range(index - 1, -1, -1):
        message = request.messages[at]
        if message.gap:
            return None
        if message.sort is Sort.ASSISTANT:
            for block in message.blocks:
                if block.call_id == call_id and block.kind is Kind.TOOL_CALL:
                    return True
    return False
