"""With mid-conversation system text off, the skills listing is the first message behind the system
messages and the context prefix the next one; nothing stands between or before them.

Both are the same in every request of a session. Anything before them that comes and goes moves
them, and the provider's cache ends there.
"""

from collections.abc import Iterator

from tracer.anatomy.mcs import McsState
from tracer.anatomy.prompt import PlacedReminder
from tracer.anatomy.reminders import Via
from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedRequest, CheckedSession
from tracer.checks.zcode._requests import MCS_STATE, WHOLE_LIST, before, called, conversation
from tracer.model.findings import Level

LEVEL = Level.ERROR
TITLE = "The skills listing and the context prefix come first"
SOURCE = "formats/zcode.md 9.2, A6"

REPORT = Reporter(__name__, LEVEL)


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for each of the two that stands elsewhere."""
    for request in conversation(session):
        if not request.whole:
            yield REPORT.needs(WHOLE_LIST, request)
        elif request.mcs is not McsState.ON and _is_new(session, request):
            wrong = _misplaced(request)
            if wrong is not None and request.mcs is McsState.UNDECIDABLE:
                yield REPORT.needs(MCS_STATE, request)
            elif wrong is not None:
                yield _found(request, *wrong)


def _is_new(session: CheckedSession, request: CheckedRequest) -> bool:
    earlier = before(session, request)
    same = earlier is not None and earlier.whole and earlier.mcs is request.mcs
    return not same or request.common <= request.leading + 2


def _misplaced(request: CheckedRequest) -> tuple[PlacedReminder, int] | None:
    """The first of the two that stands elsewhere, and where it belongs."""
    expected = request.leading
    for source in ("skills_listing", "context_prefix"):
        note = next(
            (r for r in request.reminders if r.source == source and r.via is Via.REMINDER), None
        )
        if note is not None:
            if note.message_index != expected:
                return note, expected
            expected += 1
    return None


def _found(request: CheckedRequest, note: PlacedReminder, expected: int) -> Found:
    name = "skills listing" if note.source == "skills_listing" else "context prefix"
    return REPORT.found(
        request,
        f"The {name} is message {note.message_index}, not message {expected}, where "
        f"{called(request.messages[expected])} stands.",
        note.message_index,
        expected=expected,
        system_messages=request.leading,
    )
