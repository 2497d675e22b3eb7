"""A summary covers no half exchange, and nothing of its run that no request has shown.

A call without its result, or a result without its call, cannot be sent. What the current run has
just done and the model has not seen yet would be lost to it for good.
"""

from collections.abc import Iterator

from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedSession
from tracer.checks.layout_14._shown import Shown
from tracer.checks.layout_14._steps import excerpt, named, undecided
from tracer.checks.layout_14._summaries import NewSummary, new_summaries
from tracer.model.findings import Level

LEVEL = Level.ERROR
TITLE = "A summary covers whole exchanges, and of a run only what the model was shown"
SOURCE = "formats/context-trace.md 4"

REPORT = Reporter(__name__, LEVEL)
EARLIER = "the requests before the summary: the trace begins with it"


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields findings at the request that first sends a summary."""
    yield from undecided(session, REPORT)
    for summary in new_summaries(session):
        if summary.first:
            yield REPORT.needs(EARLIER, summary.step.request)
            continue
        yield from _unshown(summary)
        yield from _halves(summary)


def _unshown(summary: NewSummary) -> Iterator[Found]:
    """What a run ends with is never shown while it lasts: it may be covered before the next one."""
    if summary.step.opens_run:
        return
    unshown = [c for c in summary.fresh if c not in summary.shown.by_id]
    if unshown:
        yield REPORT.found(
            summary.step.request,
            f"The {named(summary.message)} covers {unshown[0]}, which no request has shown the "
            "model.",
            summary.index,
            not_shown=", ".join(unshown),
            covered=len(summary.covers),
        )


def _halves(summary: NewSummary) -> Iterator[Found]:
    """Its own request may be what shows the other half."""
    shown = _with_own(summary)
    covers = set(summary.covers)
    for name in summary.fresh:
        left = [p for p in shown.partners(name) if p not in covers]
        if left:
            covered, other = shown.by_id[name].message, shown.by_id[left[0]].message
            yield REPORT.found(
                summary.step.request,
                f"The {named(summary.message)} covers the {named(covered)} and not the "
                f"{named(other)} of the same exchange.",
                summary.index,
                covered=excerpt(covered) or ", ".join(b.name for b in covered.blocks),
                left=excerpt(other),
            )
            return


def _with_own(summary: NewSummary) -> Shown:
    shown = summary.shown
    shown.add(summary.step)
    return shown
