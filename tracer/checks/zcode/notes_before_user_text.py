"""With mid-conversation system text off, notes that move up stand right behind the last stop:
before the user's text, and before notes that carry earlier history.

So the user's words are the last thing that the model reads, and a note does not end up between two
of them. A stop is a system message, the assistant, a result, or a message from another session.
"""

from collections.abc import Iterator

from tracer.anatomy.layout import Variant
from tracer.anatomy.mcs import McsState
from tracer.anatomy.messages import Sort
from tracer.anatomy.prompt import PlacedReminder
from tracer.anatomy.reminder_sources import REMINDER_SOURCES
from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedRequest, CheckedSession
from tracer.checks.zcode._requests import (
    MCS_STATE,
    ORIGIN,
    WHOLE_LIST,
    conversation,
    is_stop,
    is_tag_like,
)
from tracer.model.findings import Level

LEVEL = Level.ERROR
TITLE = "Notes come before the user's text"
SOURCE = "formats/zcode.md 9.2, A10"

REPORT = Reporter(__name__, LEVEL)
_CONTINUITY = "history_continuity"
_PREFIX = frozenset({"skills_listing", "context_prefix"})
_COORDINATED = frozenset({Variant.SUBAGENT, Variant.WORKFLOW_ACTOR})


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for each note behind what it belongs before."""
    for request in conversation(session):
        if not request.whole:
            yield REPORT.needs(WHOLE_LIST, request)
        if request.mcs is McsState.ON:
            continue
        if request.variant in _COORDINATED:
            yield REPORT.needs(ORIGIN, request)
            continue
        for note, behind in _late(request):
            if request.mcs is McsState.UNDECIDABLE:
                yield REPORT.needs(MCS_STATE, request)
            else:
                yield REPORT.found(
                    request,
                    f"The note {note.source} in message {note.message_index} stands behind message "
                    f"{behind}, which it belongs before.",
                    note.message_index,
                    source=note.source,
                    stands_behind=behind,
                )


def _late(request: CheckedRequest) -> Iterator[tuple[PlacedReminder, int]]:
    """Floating notes behind a user's text or a note of history, since the last stop."""
    start = request.common
    own = _by_message(request, 0 if not start else max(0, start - 64))
    while start > 0 and not is_stop(request.messages[start - 1], own.get(start - 1, [])):
        start -= 1
    behind: int | None = None
    for index in range(start, len(request.messages)):
        message, reminders = request.messages[index], own.get(index, [])
        if is_stop(message, reminders):
            behind = None
        elif message.sort is Sort.WRAPPED:
            if reminders and _floats(reminders[0]) and behind is not None:
                if request.proves(index):
                    yield reminders[0], behind
            elif reminders and _is_history(reminders[0]):
                behind = index if behind is None else behind
        elif message.sort is Sort.USER and not is_tag_like(message) and behind is None:
            behind = index


def _by_message(request: CheckedRequest, start: int) -> dict[int, list[PlacedReminder]]:
    found: dict[int, list[PlacedReminder]] = {}
    for reminder in reversed(request.reminders):
        if reminder.message_index < start:
            break
        found.setdefault(reminder.message_index, []).insert(0, reminder)
    return found


def _floats(reminder: PlacedReminder) -> bool:
    names = (reminder.source, *reminder.ambiguous_with)
    known = [REMINDER_SOURCES.get(name) for name in names if name not in _PREFIX]
    return bool(known) and all(rule is not None and rule.bubbles for rule in known)


def _is_history(reminder: PlacedReminder) -> bool:
    rule = REMINDER_SOURCES.get(reminder.source)
    return not reminder.ambiguous_with and rule is not None and rule.channel == _CONTINUITY
