"""The messages that prompts have shown so far, by id."""

from dataclasses import dataclass

from tracer.checks.case import CheckedMessage
from tracer.checks.layout_14._steps import Step, answered, calls_of


@dataclass(frozen=True, slots=True)
class First:
    """A message as it was first shown, and the number of the request that showed it."""

    message: CheckedMessage
    seq: int


class Shown:
    """To be asked at every step, in order: first for what earlier steps have shown, then `add`."""

    def __init__(self) -> None:
        self.by_id: dict[str, First] = {}
        self._of_call: dict[str, list[str]] = {}

    def add(self, step: Step) -> None:
        """Take in what a step shows."""
        for index in range(step.shared, len(step.messages)):
            message = step.messages[index]
            name = message.note.id
            if not name or name in self.by_id:
                continue
            self.by_id[name] = First(message, step.request.seq)
            for call in (*calls_of(message), answered(message)):
                if call:
                    self._of_call.setdefault(call, []).append(name)

    def partners(self, name: str) -> list[str]:
        """The ids of the other messages of the exchange that a message is part of; a call id that
        several exchanges use tells nothing."""
        first = self.by_id.get(name)
        if first is None:
            return []
        calls = [*calls_of(first.message), answered(first.message)]
        found = [self._of_call[c] for c in calls if c and len(self._of_call[c]) == 2]
        return [partner for pair in found for partner in pair if partner != name]
