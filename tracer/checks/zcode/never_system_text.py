"""Notes of eight sources never become mid-conversation system text: the context prefix, a warning
in a tool's result, restored files and plans, the continuation and the check of a goal, and notices
of a fork or a side chat.

They stand for what a user or a tool said. As system text they would carry more weight than that.
"""

from collections.abc import Iterator

from tracer.anatomy.fences import Fences
from tracer.anatomy.messages import Sort
from tracer.anatomy.reminder_sources import REMINDER_SOURCES, match_opening
from tracer.anatomy.reminders import paragraph_starts
from tracer.checks.base import Found, Reporter, excerpt
from tracer.checks.case import CheckedSession
from tracer.checks.zcode._requests import text_of, undecided, with_messages
from tracer.model.findings import Level

LEVEL = Level.ERROR
TITLE = "Eight sources never become system text"
SOURCE = "formats/zcode.md 8"

REPORT = Reporter(__name__, LEVEL)
NEVER = tuple(r.source for r in REMINDER_SOURCES.values() if r.base and not r.mcs)
_QUOTING = frozenset(
    {"prompt_attachment", "hook_context", "incoming_message", "referenced_session_context"}
)
"""Notes that carry other people's text: what follows such a one may be a part of it."""


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for each body of such a source in system text."""
    requests = with_messages(session)
    yield from undecided(REPORT, requests)
    for request in requests:
        for index, message in request.proven:
            if message.sort is not Sort.MCS:
                continue
            text = text_of(message)
            for at, source in _bodies(text):
                yield REPORT.found(
                    request,
                    f"Message {index} is system text and holds a note of {source}.",
                    index,
                    source=source,
                    begins_with=excerpt(text[at:]),
                    at_character=at,
                )


def _bodies(text: str) -> Iterator[tuple[int, str]]:
    """Where a note of such a source begins, as far as its words tell it from all others."""
    fences = Fences(text)
    for at in paragraph_starts(text, 0, len(text)):
        match = match_opening(text, at)
        if match is None or fences.hold(at):
            continue
        if any(source in _QUOTING for source in match.sources):
            return
        if all(source in NEVER for source in match.sources):
            yield at, match.sources[0]
