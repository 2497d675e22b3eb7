"""A system message behind the leading ones carries no cache marker.

It is mid-conversation text: notes of the runtime that may grow at the end of the next request. A
marker there would store a prefix that the next request does not have.
"""

from collections.abc import Iterator

from tracer.anatomy.messages import Sort
from tracer.checks.base import Found, Reporter, excerpt
from tracer.checks.case import CheckedSession
from tracer.checks.zcode._requests import text_of, undecided, with_messages
from tracer.model.findings import Level

LEVEL = Level.ERROR
TITLE = "Mid-conversation system text carries no cache marker"
SOURCE = "formats/zcode.md 9.2, A3"

REPORT = Reporter(__name__, LEVEL)


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for each marker on such a message."""
    requests = with_messages(session)
    yield from undecided(REPORT, requests)
    for request in requests:
        for marker in request.markers:
            index = marker.message_index
            if index is None or index >= len(request.messages):
                continue
            message = request.messages[index]
            if message.sort is Sort.MCS:
                yield REPORT.found(
                    request,
                    f"Message {index} is mid-conversation system text with a cache marker.",
                    index,
                    begins_with=excerpt(text_of(message)),
                )
