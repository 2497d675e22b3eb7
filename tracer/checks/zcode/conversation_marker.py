"""Behind the leading system messages one message at most carries a cache marker: the last one that
is not system text, in a compaction request the one before it.

The marker tells the provider how far to store the prompt. On an earlier message everything behind
it is paid for again; a second one is a stale one that was not taken off, and uses up one of the
four that a request may have.
"""

from collections.abc import Iterator

from tracer.anatomy.messages import Sort
from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedRequest, CheckedSession
from tracer.checks.zcode._requests import called, undecided, with_messages
from tracer.model.findings import Level

LEVEL = Level.ERROR
TITLE = "One marker in the conversation, on its last message"
SOURCE = "formats/zcode.md 9.2, A2"

REPORT = Reporter(__name__, LEVEL)
_SYSTEM = (Sort.SYSTEM, Sort.MCS)


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for each request with a marker in another place."""
    requests = with_messages(session)
    yield from undecided(REPORT, requests)
    for request in requests:
        marked = conversation_markers(request)
        expected = expected_marker(request)
        if len(marked) > 1:
            yield REPORT.found(
                request,
                f"{len(marked)} messages of the conversation carry a cache marker.",
                marked[0],
                marked=", ".join(map(str, marked)),
                expected=_shown(expected),
            )
        elif marked and marked[0] != expected:
            yield REPORT.found(
                request,
                f"The cache marker is on message {marked[0]}, "
                f"{called(request.messages[marked[0]])}, not on message {_shown(expected)}.",
                marked[0],
                expected=_shown(expected),
                messages=len(request.messages),
            )


def conversation_markers(request: CheckedRequest) -> list[int]:
    """The messages with a marker that are not system text."""
    found = {m.message_index for m in request.markers if m.message_index is not None}
    size = len(request.messages)
    return sorted(i for i in found if i < size and request.messages[i].sort not in _SYSTEM)


def expected_marker(request: CheckedRequest) -> int | None:
    """The message that the marker belongs on: the last but one in a compaction request."""
    skip = 1 if request.query_source == "compact" else 0
    for index in range(len(request.messages) - 1, -1, -1):
        if request.messages[index].sort not in _SYSTEM:
            if not skip:
                return index
            skip -= 1
    return None


def _shown(index: int | None) -> str:
    return "none" if index is None else str(index)
