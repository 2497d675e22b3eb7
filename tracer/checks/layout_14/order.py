"""Segments come in the order 1 to 14, and none of them twice.

The order is what the provider's cache and the model rely on: what seldom changes stands in front,
what serves one request only at the end. A segment out of its place changes everything behind it.
"""

from collections.abc import Iterator

from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedSession
from tracer.checks.layout_14._steps import Step, undecided, walk
from tracer.model.findings import Level

LEVEL = Level.ERROR
TITLE = "Segments in the order 1 to 14, none twice"
SOURCE = "formats/context-trace.md 4"

REPORT = Reporter(__name__, LEVEL)
LAST = 14


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding where the order of a prompt's segments becomes another wrong one."""
    yield from undecided(session, REPORT)
    for step in walk(session):
        numbers = [s.n for s in step.spans]
        if step.before and numbers == [s.n for s in step.before.spans]:
            continue
        yield from _misplaced(step, numbers)


def _misplaced(step: Step, numbers: list[int]) -> Iterator[Found]:
    highest = 0
    for span in step.spans:
        if 1 <= span.n <= LAST and span.n > highest:
            highest = span.n
            continue
        if span.n == highest or numbers.count(span.n) > 1:
            what = f"Segment {span.n} stands there twice."
        elif 1 <= span.n <= LAST:
            what = f"Segment {span.n} comes after segment {highest}."
        else:
            what = f"There is no segment {span.n}: the layout ends with {LAST}."
        inside = span.first_message < len(step.messages)
        yield REPORT.found(
            step.request,
            what,
            span.first_message if inside else None,
            segments=", ".join(map(str, numbers)),
        )
