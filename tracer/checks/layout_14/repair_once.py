"""A repair reminder stands in one request only.

It asks the model to put right what has just gone wrong. In a second request it asks for something
that was done already. A request that failed or was stopped has not served it, so the next may
carry it.
"""

from collections.abc import Iterator

from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedMessage, CheckedSession
from tracer.checks.layout_14._steps import (
    REPAIR,
    SUMMARY,
    Step,
    answered,
    excerpt,
    named,
    undecided,
    walk,
)
from tracer.model.events import Status
from tracer.model.findings import Level

LEVEL = Level.ERROR
TITLE = "A repair reminder serves one request"
SOURCE = "formats/context-trace.md 4"

REPORT = Reporter(__name__, LEVEL)
UNSERVED = (Status.FAILED, Status.CANCELLED)


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding where a reminder is first seen again."""
    yield from undecided(session, REPORT)
    unserved = _unserved(session)
    served: dict[str, Step] = {}
    told: set[tuple[str, bytes]] = set()
    for step in walk(session):
        for index in step.indexes(REPAIR):
            message = step.messages[index]
            before = served.get(message.note.id) or _same_text(step, message, unserved)
            name = (message.note.id, message.wire_hash)
            if before is not None and name not in told:
                told.add(name)
                yield _finding(step, index, before)
            if message.note.id and step.request.request_id not in unserved:
                served.setdefault(message.note.id, step)


def _unserved(session: CheckedSession) -> set[str]:
    """The requests of which no attempt came to its end."""
    ended = {r.request_id for r in session.requests if r.status not in UNSERVED}
    return {r.request_id for r in session.requests if r.request_id} - ended


def _same_text(step: Step, message: CheckedMessage, unserved: set[str]) -> Step | None:
    """The step just before, where it has the same reminder under another id although nothing has
    failed since; what a new summary covers is not known."""
    before = step.before
    if before is None or before.request.request_id in unserved or not step.same(SUMMARY):
        return None
    if all(m.wire_hash != message.wire_hash for m in before.of(REPAIR)):
        return None
    fresh = step.messages[step.shared :]
    failed = any(answered(m) and '"isError":true' in m.blocks[0].message_json for m in fresh)
    return None if failed else before


def _finding(step: Step, index: int, before: Step) -> Found:
    message = step.messages[index]
    return REPORT.found(
        step.request,
        f"The {named(message)} was sent with request {before.request.seq} and is sent again.",
        index,
        first_sent_with_request=before.request.seq,
        text=excerpt(message),
    )
