"""Mid-conversation system text stands behind a user's message or a tool's result, and before the
end of the prompt or a message of the assistant; two such messages are never neighbours.

Providers refuse or misplace system text elsewhere. Where there is no such place, the agent sends
the notes as a tagged user message instead.
"""

from collections.abc import Iterator

from tracer.anatomy.messages import Sort
from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedRequest, CheckedSession
from tracer.checks.zcode._requests import called, undecided, with_messages
from tracer.model.findings import Level

LEVEL = Level.ERROR
TITLE = "Mid-conversation system text stands where it may"
SOURCE = "formats/zcode.md 9.2, A4"

REPORT = Reporter(__name__, LEVEL)


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for each pair of neighbours that may not be."""
    requests = with_messages(session)
    yield from undecided(REPORT, requests)
    for request in requests:
        for index in range(max(request.common, 1), len(request.messages)):
            if request.proves(index):
                yield from _pair(request, index)


def _pair(request: CheckedRequest, index: int) -> Iterator[Found]:
    first, second = request.messages[index - 1], request.messages[index]
    if first.sort is Sort.MCS and second.sort not in (Sort.ASSISTANT, Sort.GAP):
        yield REPORT.found(
            request,
            f"Message {index - 1} is system text, and {called(second)} follows it.",
            index - 1,
            followed_by=second.role,
            allowed="assistant, or the end of the prompt",
        )
    elif second.sort is Sort.MCS and first.role not in ("user", "tool") and not first.gap:
        yield REPORT.found(
            request,
            f"Message {index} is system text behind {called(first)}.",
            index,
            stands_behind=first.role,
            allowed="user, tool",
        )
