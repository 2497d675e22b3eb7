"""The estimated input and the output reserve fit the context window.

The reserve is room for the answer. Where the prompt eats into it, the answer is cut off, or the
request is refused.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedSession
from tracer.checks.layout_14._events import SNAPSHOT, fields_of
from tracer.checks.layout_14._steps import undecided, walk
from tracer.model.findings import Level
from tracer.model.json_values import whole_of

LEVEL = Level.WARNING
TITLE = "Estimated input and output reserve fit the context window"
SOURCE = "formats/context-trace.md 4"

REPORT = Reporter(__name__, LEVEL)
NEEDS = "a context_usage_snapshot of the request with totalTokens, outputReserve and contextWindow"


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for each request whose reserve does not fit."""
    yield from undecided(session, REPORT)
    logged = {e.request_id: fields_of(e) for e in session.events.named((SNAPSHOT,))}
    for step in walk(session):
        request = step.request
        fields = logged.get(request.request_id, {})
        if request.usage is not None:
            fields = {**fields, **dict(request.usage.counts)}
        total = request.usage.total_tokens if request.usage else None
        total = total if total is not None else _total(fields)
        window = whole_of(fields.get("contextWindow"))
        reserve = whole_of(fields.get("outputReserve"))
        if total is None or window is None or reserve is None:
            yield REPORT.needs(NEEDS, request)
        elif total + reserve > window:
            yield REPORT.found(
                request,
                f"The prompt is estimated at {total:,} tokens; with {reserve:,} for the answer "
                f"that is {total + reserve - window:,} more than the window holds.",
                None,
                estimated_input=total,
                output_reserve=reserve,
                context_window=window,
                counted_by="the agent",
            )


def _total(fields: Mapping[str, Any]) -> int | None:
    """The total that the snapshot tells, else the sum of its categories where each is known."""
    total = whole_of(fields.get("totalTokens"))
    categories = fields.get("categories")
    if total is not None or not isinstance(categories, list) or not categories:
        return total
    parts = [whole_of(c.get("tokens")) if isinstance(c, dict) else None for c in categories]
    known = [p for p in parts if p is not None]
    return sum(known) if len(known) == len(parts) else None
