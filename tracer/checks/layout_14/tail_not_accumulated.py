"""What belongs to the tail never joins the history.

The todo reminder, the repair reminder and the snapshot of a file transaction are rebuilt for every
request and stand behind everything else. One that is kept in segments 1 to 11 tells the model an
old state as if it still held, again and again.
"""

from collections.abc import Iterator

from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedSession
from tracer.checks.layout_14._steps import (
    TAIL,
    TAIL_KINDS,
    Scan,
    Step,
    excerpt,
    named,
    undecided,
    walk,
)
from tracer.model.findings import Level

LEVEL = Level.ERROR
TITLE = "Kinds of segments 12 to 14 never appear in segments 1 to 11"
SOURCE = "formats/context-trace.md 4"

REPORT = Reporter(__name__, LEVEL)


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for each message of the tail that stands in an earlier segment, where it is
    first seen."""
    yield from undecided(session, REPORT)
    ids: dict[str, Step] = {}
    told: set[str] = set()
    scan = Scan(lambda m: m.note.kind in TAIL_KINDS or m.note.id in ids)
    for step in walk(session):
        for number in TAIL:
            for message in step.of(number):
                if message.note.id:
                    ids.setdefault(message.note.id, step)
        for index, message in scan.at(step):
            segment = step.segment_of(index)
            name = message.note.id or str(message.wire_hash)
            if segment in TAIL or segment == 0 or name in told:
                continue
            told.add(name)
            yield _finding(step, index, segment, ids.get(message.note.id))


def _finding(step: Step, index: int, segment: int, before: Step | None) -> Found:
    message = step.messages[index]
    evidence: dict[str, object] = {"segment": segment}
    if before:
        evidence["in the tail of request"] = before.request.seq
    evidence["text"] = excerpt(message)
    return REPORT.found(
        step.request,
        f"The {named(message)} stands in segment {segment}: what is in the tail serves one "
        "request and is not kept.",
        index,
        **evidence,
    )
