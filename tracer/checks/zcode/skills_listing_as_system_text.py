"""While mid-conversation system text is on, the skills listing is part of it, not a tagged message
before the user's text.

A tag of its own is left only where nothing stands before the listing that system text may follow,
or where what follows forbids it. Otherwise the model gets the listing in another place than the
agent means, and every request before and after it has another prefix.
"""

from collections.abc import Iterator

from tracer.anatomy.mcs import McsState
from tracer.anatomy.messages import Sort
from tracer.anatomy.reminders import Via
from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedRequest, CheckedSession
from tracer.checks.zcode._requests import ORIGIN, called, conversation, reminder_texts, undecided
from tracer.model.findings import Level

LEVEL = Level.ERROR
TITLE = "With system text on, the skills listing is system text"
SOURCE = "formats/zcode.md 9.2, A5"

REPORT = Reporter(__name__, LEVEL)


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for each listing in a tag that could have been system text."""
    on: dict[str, bool] = {}
    requests = conversation(session)
    yield from undecided(REPORT, requests)
    for request in requests:
        was_on = on.get(request.lane, False)
        on[request.lane] = request.mcs is McsState.ON
        if request.mcs is not McsState.ON:
            continue
        # What shows that it is on may come later than the listing.
        for note in reminder_texts(request, None if was_on else 0):
            reminder = note.reminder
            if reminder.source != "skills_listing" or reminder.via is not Via.REMINDER:
                continue
            if not reminder.merged:
                yield from _left(request, note.at)


def _left(request: CheckedRequest, index: int) -> Iterator[Found]:
    """A listing that was put back stands behind the context prefix, which does not wait, and a
    tool's result lets it go on waiting. Before a user's message it is put back if that came from
    a coordinator, which nothing in it tells."""
    following = _next(request, index)
    if following is None:
        return
    if request.messages[following].sort is Sort.USER:
        yield REPORT.needs(ORIGIN, request)
        return
    yield REPORT.found(
        request,
        f"Message {index} is the skills listing in a tag, although system text is on and it could "
        f"wait: {called(request.messages[following])} follows in message {following}.",
        index,
        system_text_is="on",
        followed_by=following,
    )


def _next(request: CheckedRequest, index: int) -> int | None:
    """The message behind the listing which it would have waited for: the context prefix, or the
    first one that is no note; None where that is one before which notes are put back."""
    for at in range(index + 1, len(request.messages)):
        sort = request.messages[at].sort
        own = {r.source for r in request.reminders if r.message_index == at}
        if "context_prefix" in own or sort in (Sort.USER, Sort.TOOL):
            return at
        if sort is not Sort.WRAPPED or "incoming_message" in own:
            return None
    return None
