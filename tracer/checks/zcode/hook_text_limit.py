"""The text that a hook adds is cut at 24,000 characters, and ends in `...` then.

A hook can print anything. Without the cut one careless script fills the context window, in this
request and in all that follow.
"""

from collections.abc import Iterator

from tracer.checks.base import Found, Reporter, excerpt
from tracer.checks.case import CheckedSession
from tracer.checks.zcode._requests import reminder_texts, undecided, with_messages
from tracer.model.findings import Level
from tracer.tokens import utf16_length

LEVEL = Level.ERROR
TITLE = "Hook text is cut at 24,000 characters"
SOURCE = "formats/zcode.md 13"

REPORT = Reporter(__name__, LEVEL)
LIMIT_CHARS = 24_000
_CUT = "..."
_MARK = "#1"


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for each longer one. The first lines, which name the hook, do not count."""
    requests = with_messages(session)
    yield from undecided(REPORT, requests)
    for request in requests:
        for note in reminder_texts(request):
            if note.reminder.source != "hook_context":
                continue
            head = note.body.find(_MARK) + len(_MARK) + 1
            length = utf16_length(note.body)
            allowed = LIMIT_CHARS + len(_CUT) + head
            cut = note.body.endswith(_CUT)
            if length > allowed or (length > LIMIT_CHARS + head and not cut):
                yield REPORT.found(
                    request,
                    f"The hook text in message {note.at} has {length:,} characters.",
                    note.at,
                    characters=length,
                    limit=LIMIT_CHARS,
                    ends_in=excerpt(note.body[-20:]),
                )
