"""What a run has shown joins the history of the next one as it was.

Segments 8 to 11 reappear in segment 7 with the same roles, bytes and order, and stay there until a
compaction covers them. A message that is dropped, shortened or put elsewhere changes what the
model remembers, and costs the cache of all that follows.
"""

from collections.abc import Iterator

from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedSession
from tracer.checks.layout_14._steps import undecided
from tracer.checks.layout_14._told import told_by
from tracer.model.findings import Level

LEVEL = Level.ERROR
TITLE = "Segments 8 to 11 of a run reappear unchanged in segment 7 of the next"
SOURCE = "formats/context-trace.md 4"

REPORT = Reporter(__name__, LEVEL)


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for each message, where it is first seen."""
    yield from undecided(session, REPORT, runs=True)
    yield from told_by(REPORT, session)
