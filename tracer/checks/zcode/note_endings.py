"""A note in a tag ends with its closing tag; the context prefix alone has one more newline.

Every byte of a note is part of the prefix of later requests. An ending that varies changes a
message that says the same.
"""

from collections.abc import Iterator

from tracer.anatomy.reminders import CLOSE_TAG, Via
from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedSession
from tracer.checks.zcode._requests import reminder_texts, undecided, with_messages
from tracer.model.findings import Level

LEVEL = Level.ERROR
TITLE = "A note ends with its tag, the context prefix with one newline more"
SOURCE = "formats/zcode.md 9.2, A7"

REPORT = Reporter(__name__, LEVEL)


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for each note with another ending."""
    requests = with_messages(session)
    yield from undecided(REPORT, requests)
    for request in requests:
        for note in reminder_texts(request):
            if note.reminder.via is not Via.REMINDER:
                continue
            text = request.messages[note.at].blocks[note.reminder.block_index].text
            is_prefix = note.reminder.source == "context_prefix"
            expected = f"{CLOSE_TAG}\n" if is_prefix else CLOSE_TAG
            ending = text[text.rfind(CLOSE_TAG) :]
            if ending != expected:
                yield REPORT.found(
                    request,
                    f"The note in message {note.at} ends in {ending!r}, not in {expected!r}.",
                    note.at,
                    source=note.reminder.source,
                )
