"""How to add a rule: copy this file into the folder of its family and change it. This docstring is
the rule for people: first what must hold, in a sentence.

Then why: what goes wrong for the model, the cache or the user where it does not hold.
"""

from collections.abc import Iterator

from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedSession
from tracer.model.findings import Level

LEVEL = Level.ERROR
TITLE = "No message is empty"
SOURCE = "design.md 9"

REPORT = Reporter(__name__, LEVEL)


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields what was found. Only messages that are new at a request are looked at: with
    thousands of requests, looking at every list from its beginning would take seconds."""
    for request in session.requests:
        if not request.messages:
            yield REPORT.needs("the messages of the request", request)
        for index, message in request.fresh():
            if not any(block.text for block in message.blocks):
                yield REPORT.found(request, f"Message {index} is empty.", index, role=message.role)
