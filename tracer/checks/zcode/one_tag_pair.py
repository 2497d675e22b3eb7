"""A note has one opening and one closing tag; a tag inside its body stands as `&lt;`.

With a second tag the model sees a note that ends early, and whatever follows as the user's own
words, or the other way round. A user may paste a whole note, so this is a warning.
"""

from collections.abc import Iterator

from tracer.anatomy.messages import Sort
from tracer.anatomy.reminders import CLOSE_TAG, OPEN_TAG
from tracer.checks.base import Found, Reporter, excerpt
from tracer.checks.case import CheckedSession
from tracer.checks.zcode._requests import (
    is_tag_like,
    text_of,
    undecided,
    with_messages,
)
from tracer.model.findings import Level

LEVEL = Level.WARNING
TITLE = "One tag pair a note"
SOURCE = "formats/zcode.md 9.2, A8"

REPORT = Reporter(__name__, LEVEL)


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for each message that begins and ends as a note and has more tags."""
    requests = with_messages(session)
    yield from undecided(REPORT, requests)
    for request in requests:
        for index, message in request.proven:
            if message.sort is not Sort.USER or not is_tag_like(message):
                continue
            text = text_of(message)
            opening, closing = text.count(OPEN_TAG), text.count(CLOSE_TAG)
            if opening + closing > 2:
                yield REPORT.found(
                    request,
                    f"Message {index} begins and ends as a note does, with {opening} opening and "
                    f"{closing} closing tags in all.",
                    index,
                    begins_with=excerpt(text[len(OPEN_TAG) + 1 :]),
                )
