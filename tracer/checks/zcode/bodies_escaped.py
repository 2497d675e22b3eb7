"""Whatever looks like a reminder's tag inside a note has its `<` written as `&lt;`.

Text from files, hooks and tools goes into notes. A tag that is left as it is could end the note or
begin another one, in words that nobody of the agent wrote.
"""

import re
from collections.abc import Iterator

from tracer.anatomy.reminders import Via
from tracer.checks.base import Found, Reporter, excerpt
from tracer.checks.case import CheckedSession
from tracer.checks.zcode._requests import reminder_texts, undecided, with_messages
from tracer.model.findings import Level

LEVEL = Level.ERROR
TITLE = "Tags inside a note are escaped"
SOURCE = "formats/zcode.md 8"

REPORT = Reporter(__name__, LEVEL)
_TAG = re.compile(r"</?system-reminder")


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for each note with such a text in its body."""
    requests = with_messages(session)
    yield from undecided(REPORT, requests)
    for request in requests:
        for note in reminder_texts(request):
            tag = _TAG.search(note.body) if note.reminder.via is Via.REMINDER else None
            if tag:
                yield REPORT.found(
                    request,
                    f"The note in message {note.at} holds a tag that is not escaped.",
                    note.at,
                    source=note.reminder.source,
                    tag=excerpt(note.body[tag.start() :], 40),
                    at_character=note.reminder.start_char + tag.start(),
                )
