"""The agent's account of its context counts the notes of the runtime in no category.

Nothing is broken: it is how the account is made. But its total is lower than what is sent, and a
session with many notes nears its limit sooner than the account says.
"""

from collections.abc import Iterator

from tracer.anatomy.prompt import PlacedReminder
from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedSession
from tracer.checks.zcode._requests import SNAPSHOT, conversation, runtime_reminders
from tracer.model.findings import Level

LEVEL = Level.INFO
TITLE = "Notes that no category of the context usage counts"
SOURCE = "formats/zcode.md 2.7"

REPORT = Reporter(__name__, LEVEL)


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields one finding a session: at the first request with an account and such notes."""
    first = last = None
    for request in conversation(session):
        if request.usage is None:
            yield REPORT.needs(SNAPSHOT, request)
        elif request.reminders:
            found = [r for r in runtime_reminders(request) if not _is_counted(r)]
            if found:
                first, last = first or (request, found), found
    if first is not None and last is not None:
        request, found = first
        yield REPORT.found(
            request,
            f"{len(found):,} notes with about {_tokens(found):,} tokens are in no category.",
            found[0].message_index,
            sources=", ".join(dict.fromkeys(r.source for r in found)),
            tokens_by_the_agents_estimate=_tokens(found),
            account=request.usage.total_tokens
            if request.usage and request.usage.total_tokens is not None
            else "redacted",
            at_the_last_request=f"{len(last):,} notes, {_tokens(last):,} tokens",
        )


def _is_counted(reminder: PlacedReminder) -> bool:
    """A notification is a message of its own, and counted as one."""
    return reminder.presentation == "task_notification"


def _tokens(found: list[PlacedReminder]) -> int:
    return sum(reminder.tokens_estimate for reminder in found)
