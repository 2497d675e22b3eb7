"""A skill's or an attachment's text in the history stays as it was when it was sent.

The file behind it may have changed since; the history tells what the model knew at that time.
Reading it again rewrites the past and costs the cache of all that follows.
"""

from collections.abc import Iterator

from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedSession
from tracer.checks.layout_14._steps import undecided
from tracer.checks.layout_14._told import told_by
from tracer.model.findings import Level

LEVEL = Level.ERROR
TITLE = "Skill and attachment texts in the history never change"
SOURCE = "formats/context-trace.md 4"

REPORT = Reporter(__name__, LEVEL)


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for each message, where it is first seen."""
    yield from undecided(session, REPORT, runs=True)
    yield from told_by(REPORT, session)
