"""Inside one turn each main request begins with the whole prompt of the one before it, cache
markers aside; only system text at the very end may have grown.

This is what the provider's cache lives on. A compaction, a microcompaction that empties old
results, and a rewind are the only reasons to send other earlier messages.
"""

from collections.abc import Iterator

from tracer.anatomy.messages import Sort
from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedRequest, CheckedSession
from tracer.checks.zcode._requests import (
    LOG,
    WHOLE_LIST,
    EventTimes,
    around,
    before,
    called,
    conversation,
    reminder_texts,
    text_of,
    undecided,
)
from tracer.compare.texts import first_difference
from tracer.model.findings import Level
from tracer.words import plural

LEVEL = Level.ERROR
TITLE = "A turn only grows"
SOURCE = "formats/zcode.md 9.2, A12"

REPORT = Reporter(__name__, LEVEL)
_REWRITES = frozenset(
    {
        "compact.completed", "compact.auto.completed", "compact.reactive.completed",
        "compact.micro.applied", "compact_completed", "microcompact_boundary", "rewind_triggered",
        "session.resumed",
    }
)  # fmt: skip


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for each request that changes what its turn sent before."""
    rewrites = EventTimes(session, _REWRITES)
    requests = conversation(session)
    yield from undecided(REPORT, requests)
    for request in requests:
        earlier = before(session, request)
        if earlier is None or not request.turn_id or earlier.turn_id != request.turn_id:
            continue
        at = request.common
        if at >= len(earlier.messages) or _only_the_end(earlier, request):
            continue
        if _is_rewritten(session, earlier, request, rewrites):
            continue
        if not _shown(earlier, request):
            yield REPORT.needs(WHOLE_LIST, request)
        elif not session.events:
            yield REPORT.needs(LOG, request)
        else:
            yield _found(earlier, request)


def _only_the_end(earlier: CheckedRequest, request: CheckedRequest) -> bool:
    """Whether only notes at the end differ: system text that grew, or notes that moved up because
    others came."""
    rest = earlier.messages[request.common :]
    if all(message.sort is Sort.MCS for message in rest):
        return True
    if any(m.sort not in (Sort.WRAPPED, Sort.USER, Sort.MCS) for m in rest):
        return False
    now = list(request.messages[request.common :])
    return all(any(m is other for other in now) for m in rest if m.sort is not Sort.MCS)


def _is_rewritten(
    session: CheckedSession, earlier: CheckedRequest, request: CheckedRequest, rewrites: EventTimes
) -> bool:
    between = session.requests[earlier.seq : request.seq - 1]
    return (
        any(other.query_source == "compact" for other in between)
        or rewrites.between(earlier, request)
        or any(note.reminder.source == "rewind_notice" for note in reminder_texts(request))
    )


def _shown(earlier: CheckedRequest, request: CheckedRequest) -> bool:
    at = request.common
    there = at >= len(request.messages) or request.proves(at)
    return there and earlier.proves(at)


def _found(earlier: CheckedRequest, request: CheckedRequest) -> Found:
    at = request.common
    was = earlier.messages[at]
    if at >= len(request.messages):
        return REPORT.found(
            request,
            f"The prompt ends before message {at}, {called(was)}, which request {earlier.seq} of "
            "the turn had.",
            None,
            messages=len(request.messages),
            messages_before=len(earlier.messages),
        )
    now = request.messages[at]
    a, b = text_of(was), text_of(now)
    same = first_difference(a, b)
    return REPORT.found(
        request,
        f"Message {at}, {called(now)}, is not what request {earlier.seq} of the turn had there.",
        at,
        before=around(a, same),
        now=around(b, same),
        at_character=same,
        unchanged_after_it=_shared_end(earlier, request),
    )


def _shared_end(earlier: CheckedRequest, request: CheckedRequest) -> str:
    kept = {id(message) for message in request.messages[request.common :]}
    count = sum(id(message) in kept for message in earlier.messages[request.common :])
    return plural(count, "message")
