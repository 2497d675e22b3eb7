"""A diff of the World State stays where it happened.

The model reads the history in order: a diff that moves, is rewritten or dropped in its run, or is
put between older messages, tells that the world changed at another time than it did, and costs the
cache of all that follows.
"""

from collections.abc import Iterator

from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedSession
from tracer.checks.layout_14._steps import undecided
from tracer.checks.layout_14._told import told_by
from tracer.model.findings import Level

LEVEL = Level.ERROR
TITLE = "A World State diff keeps its place among its neighbours"
SOURCE = "formats/context-trace.md 4"

REPORT = Reporter(__name__, LEVEL)


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for each message, where it is first seen."""
    yield from undecided(session, REPORT, runs=True)
    yield from told_by(REPORT, session)
