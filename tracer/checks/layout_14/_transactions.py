"""What the events say of the file transactions at a step."""

from dataclasses import dataclass
from typing import Any

from tracer.checks.case import CheckedSession
from tracer.checks.layout_14._events import TRANSACTIONS, EventsBefore
from tracer.checks.layout_14._steps import Step

OPENED, STEPPED, CLOSED = TRANSACTIONS


@dataclass(slots=True)
class Told:
    """A transaction as its events tell it so far: the last value of each field."""

    id: str
    fields: dict[str, Any]
    last_event: str
    open: bool


class Transactions:
    """All transactions by id, step by step. To be asked at every step, in order."""

    def __init__(self, session: CheckedSession) -> None:
        self._events = EventsBefore(session, TRANSACTIONS)
        self.told: dict[str, Told] = {}

    def at(self, step: Step) -> dict[str, Told]:
        """What has been told when the step was built."""
        for event in self._events.at(step):
            name = event.fields.get("transactionId")
            if not isinstance(name, str):
                continue
            told = self.told.setdefault(name, Told(name, {}, event.name, True))
            told.fields.update(event.fields)
            told.last_event, told.open = event.name, event.name != CLOSED
        return self.told
