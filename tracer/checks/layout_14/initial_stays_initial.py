"""What is given as of a run's start stays as it was at the start; what comes later stays in 11.

Segments 2, 3, 9 and 10 do not change inside a run, and a skill that is activated on the way stays
in the timeline where it was activated. Bringing the beginning up to date costs the cache of all
that follows, at every request.
"""

from collections.abc import Iterator

from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedMessage, CheckedSession
from tracer.checks.layout_14._covered import Covered
from tracer.checks.layout_14._steps import (
    CATALOGUE,
    COLLABORATION,
    Step,
    excerpt,
    named,
    undecided,
    walk,
)
from tracer.checks.layout_14._told import told_by
from tracer.model.findings import Level

LEVEL = Level.ERROR
TITLE = "Segments 2, 3, 9 and 10 do not change inside a run"
SOURCE = "formats/context-trace.md 4"

REPORT = Reporter(__name__, LEVEL)
CATALOGUES = (CATALOGUE, COLLABORATION)


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding where an initial part of a run is first seen to have changed."""
    yield from undecided(session, REPORT, runs=True)
    yield from told_by(REPORT, session)
    yield from _catalogues(session)


def _catalogues(session: CheckedSession) -> Iterator[Found]:
    covered = Covered(session)
    first: dict[int, list[CheckedMessage]] = {}
    seen: set[tuple[int, tuple[bytes, ...]]] = set()
    run = ""
    for step in walk(session):
        ids = covered.at(step)
        if step.run != run:
            run, seen = step.run, set()
            first = {n: step.of(n) for n in CATALOGUES}
        for number in CATALOGUES:
            if not step.run or (step.same(number) and not step.opens_run):
                continue
            was = [m for m in first[number] if m.note.id not in ids]
            now = step.of(number)
            hashes = (number, tuple(m.wire_hash for m in now))
            if hashes[1] != tuple(m.wire_hash for m in was) and hashes not in seen:
                seen.add(hashes)
                yield _finding(step, number, was, now)


def _finding(
    step: Step, number: int, was: list[CheckedMessage], now: list[CheckedMessage]
) -> Found:
    place = next(
        (i for i, (a, b) in enumerate(zip(was, now, strict=False)) if a.wire_hash != b.wire_hash),
        min(len(was), len(now)),
    )
    indexes = step.indexes(number)
    return REPORT.found(
        step.request,
        f"Segment {number} is no longer what it was at the start of the run: "
        f"{named(now[place] if place < len(now) else was[place])} differs.",
        indexes[place] if place < len(indexes) else step.place_of(number),
        before=excerpt(was[place]) if place < len(was) else "not there",
        now=excerpt(now[place]) if place < len(now) else "not there",
    )
