"""Departures from the history as findings."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedSession
from tracer.checks.layout_14._departures import Change, Departure, departures, rule_of
from tracer.checks.layout_14._steps import excerpt, named


def told_by(report: Reporter, session: CheckedSession) -> Iterator[Found]:
    """The findings of the rule that `report` speaks for."""
    rule = report.rule.rpartition("/")[2]
    mine = (d for d in departures(session) if rule_of(d) == rule)
    for _, found in groupby(mine, key=lambda d: (d.step.request.key, d.change, _alone(d))):
        yield _finding(report, list(found))


def _alone(departure: Departure) -> int:
    """Lost messages are told together, every other departure by itself."""
    return 0 if departure.change is Change.LOST else id(departure.message)


def _finding(report: Reporter, found: Sequence[Departure]) -> Found:
    first = found[0]
    evidence: dict[str, object] = {"was in segment": first.home}
    if first.change is Change.LOST:
        evidence["lost"] = ", ".join(named(d.message) for d in found[:8])
        evidence["messages"] = len(found)
    elif first.segment:
        evidence["now in segment"] = first.segment
    if first.change is not Change.INSERTED:
        evidence["before" if first.change is Change.REWRITTEN else "text"] = excerpt(first.message)
    if first.now is not None and first.change in (Change.REWRITTEN, Change.INSERTED):
        evidence["now"] = excerpt(first.now)
        if first.now.role != first.message.role:
            evidence["roles"] = f"{first.message.role}, now {first.now.role}"
    return report.found(first.step.request, _sentence(first, len(found)), first.index, **evidence)


def _sentence(first: Departure, count: int) -> str:
    what = f"The {named(first.message)}"
    match first.change:
        case Change.LOST:
            more = f" and {count - 1} more messages are" if count > 1 else " is"
            return f"{what}{more} no longer in the prompt, and no summary covers what is missing."
        case Change.REWRITTEN:
            return f"{what} no longer reads as it did when it was first sent."
        case Change.MOVED:
            place = f"segment {first.segment}"
            if first.segment != first.home and first.own_run:
                return f"{what} has moved from segment {first.home} to {place}."
            return f"{what} no longer stands among the messages that it came with."
        case Change.INSERTED:
            return f"The new {named(first.message)} stands before messages that are older than it."
