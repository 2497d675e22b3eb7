"""The events of a trace, given to the step that comes after them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import msgspec

from tracer.checks.case import CheckedSession
from tracer.checks.layout_14._steps import Step
from tracer.model.events import LogEvent

SWITCHED = ("capability.changed",)
COMPACTED = ("compaction.completed",)
COMPACTIONS = ("compaction.completed", "compaction.failed")
TRANSACTIONS = ("transaction.opened", "transaction.step", "transaction.closed")
SNAPSHOT = "context_usage_snapshot"

_decode = msgspec.json.Decoder(dict[str, Any]).decode


@dataclass(frozen=True, slots=True)
class Event:
    """An event with the keys of its line."""

    name: str
    at_ms: int
    fields: dict[str, Any]


class EventsBefore:
    """Those of a session's events that have one of some names, each given once: to the first step
    that was built when it had happened. To be asked at every step, in order."""

    def __init__(self, session: CheckedSession, names: Iterable[str]) -> None:
        self._events = session.events.named(frozenset(names))
        self._next = 0

    def __len__(self) -> int:
        return len(self._events)

    def at(self, step: Step) -> list[Event]:
        """What happened since the step before."""
        started = step.request.started_at_ms
        found: list[Event] = []
        while self._next < len(self._events):
            event = self._events[self._next]
            if event.at_ms is None or started is None or _after(event, step):
                if event.at_ms is None:
                    self._next += 1
                    continue
                break
            found.append(Event(event.event, event.at_ms, fields_of(event)))
            self._next += 1
        return found


def _after(event: LogEvent, step: Step) -> bool:
    """Whether an event happened after a request was built. Of one millisecond, the order of the
    lines tells it, where both stand in one file."""
    at_ms, started = event.at_ms or 0, step.request.started_at_ms or 0
    here, there = event.place, step.request.place
    if at_ms == started and here is not None and there is not None and here[0] == there[0]:
        return here[1] > there[1]
    return at_ms > started


def fields_of(event: LogEvent) -> dict[str, Any]:
    """The keys of an event's line as far as they were kept, its status among them."""
    try:
        fields = _decode(event.context_json.encode()) if event.context_json else {}
    except msgspec.DecodeError:
        fields = {}
    return {**fields, "status": event.status} if event.status else fields
