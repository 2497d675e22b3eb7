"""The stable system prompt keeps its bytes through a session.

Segment 1 is the very beginning of the messages: a date, a counter or another order in it costs the
cache of the whole prompt. Only the user's own instructions may change, because the user changed
them.
"""

from collections.abc import Iterator

from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedMessage, CheckedSession
from tracer.checks.layout_14._steps import SYSTEM, Step, excerpt, named, undecided, walk
from tracer.model.findings import Level

LEVEL = Level.WARNING
TITLE = "Segment 1 keeps its bytes unless the user's own instructions change"
SOURCE = "formats/context-trace.md 4"

REPORT = Reporter(__name__, LEVEL)
OWN = "user_instructions"


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding where segment 1 reads otherwise than it ever did before."""
    yield from undecided(session, REPORT)
    first: list[CheckedMessage] | None = None
    seen: set[tuple[bytes, ...]] = set()
    for step in walk(session):
        if step.same(SYSTEM):
            continue
        fixed = [i for i in step.indexes(SYSTEM) if step.messages[i].note.kind != OWN]
        hashes = tuple(step.messages[i].wire_hash for i in fixed)
        if first is not None and hashes not in seen:
            yield _finding(step, fixed, first)
        seen.add(hashes)
        if first is None:
            first = [step.messages[i] for i in fixed]


def _finding(step: Step, fixed: list[int], first: list[CheckedMessage]) -> Found:
    now = [step.messages[i] for i in fixed]
    place = next(
        (i for i, (a, b) in enumerate(zip(first, now, strict=False)) if a.wire_hash != b.wire_hash),
        min(len(first), len(now)),
    )
    index = fixed[place] if place < len(fixed) else step.place_of(SYSTEM)
    was = first[place] if place < len(first) else None
    what = named(now[place] if place < len(now) else first[place])
    return REPORT.found(
        step.request,
        f"The stable system prompt has changed: {what} is no longer what it was.",
        index,
        before=excerpt(was) if was else "not there",
        now=excerpt(now[place]) if place < len(now) else "not there",
        messages_before=len(first),
        messages_now=len(now),
    )
