"""Segment 8 keeps every consecutive input of a run, not only the last.

A person who writes twice before the model has answered said both. An input that is dropped,
rewritten or moved once it was sent is lost to the model.
"""

from collections.abc import Iterator

from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedSession
from tracer.checks.layout_14._steps import undecided
from tracer.checks.layout_14._told import told_by
from tracer.model.findings import Level

LEVEL = Level.ERROR
TITLE = "Segment 8 keeps every consecutive input of the run"
SOURCE = "formats/context-trace.md 4"

REPORT = Reporter(__name__, LEVEL)


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for each message, where it is first seen."""
    yield from undecided(session, REPORT, runs=True)
    yield from told_by(REPORT, session)
