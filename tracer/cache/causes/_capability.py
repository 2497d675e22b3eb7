"""Capabilities that were switched on or off: their tools and guides come and go on purpose."""

from collections.abc import Sequence

from tracer.cache.case import Case
from tracer.cache.wording import quoted
from tracer.model.comparison import Op
from tracer.model.verdict import Change, LoggedEvent

SWITCHED_FIX = (
    "Nothing to do: the switch was meant. It costs what stands behind the capability's tools and "
    "guide once, so early in a session it is cheapest."
)
_KINDS = {Op.REMOVED: "capability_off", Op.ADDED: "capability_on"}


def switches_of(case: Case, changes: Sequence[Change]) -> tuple[LoggedEvent, ...]:
    """The logged switches that account for all of some changes, by time; empty where one of them is
    not accounted for."""
    last = {e.subject: e for e in case.events_since_baseline(*_KINDS.values())}
    found = []
    for change in changes:
        event = last.get(change.capability) if change.capability else None
        if event is None or event.kind != _KINDS.get(change.op):
            return ()
        found.append(event)
    return tuple(dict.fromkeys(found))


def told(switches: Sequence[LoggedEvent]) -> str:
    """The switches as sentences; empty for none."""
    return " ".join(f"{quoted(event.text.rstrip('.'))}." for event in switches)
