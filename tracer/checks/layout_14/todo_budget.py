"""The todo reminder is at most 500 tokens long, by the agents' own estimate.

It is sent with every request and is never cached, so it says what is next; the whole plan lives
elsewhere.
"""

from collections.abc import Iterator

from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedSession
from tracer.checks.layout_14._steps import PLAN, excerpt, text_of, undecided, walk
from tracer.model.findings import Level
from tracer.tokens import ESTIMATE_NAME, estimate_tokens

LEVEL = Level.WARNING
TITLE = "The todo reminder is at most 500 tokens"
SOURCE = "formats/context-trace.md 4"

REPORT = Reporter(__name__, LEVEL)
MOST_TOKENS = 500


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding where a reminder that is too long is first sent."""
    yield from undecided(session, REPORT)
    for step in walk(session):
        indexes = step.indexes(PLAN)
        if not indexes or step.same(PLAN):
            continue
        texts = [text_of(step.messages[i]) for i in indexes]
        tokens = sum(map(estimate_tokens, texts))
        if tokens > MOST_TOKENS:
            yield REPORT.found(
                step.request,
                f"The todo reminder is {tokens:,} tokens long; {MOST_TOKENS} is the most.",
                indexes[0],
                tokens=tokens,
                most=MOST_TOKENS,
                counted_by=ESTIMATE_NAME,
                text=excerpt(step.messages[indexes[0]]),
            )
