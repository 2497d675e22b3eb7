"""Which messages a summary stands for at a step."""

from collections.abc import Iterable

from tracer.checks.case import CheckedMessage, CheckedSession
from tracer.checks.layout_14._events import COMPACTED, EventsBefore
from tracer.checks.layout_14._steps import Scan, Step

KIND = "summary"


class Covered:
    """The ids that are covered, step by step: those of the summaries in the prompt, and those of
    all compactions that were completed before it. To be asked at every step, in order."""

    def __init__(self, session: CheckedSession) -> None:
        self._events = EventsBefore(session, COMPACTED)
        self._scan = Scan(lambda m: m.note.kind == KIND)
        self._told: frozenset[str] = frozenset()
        self._summaries: list[CheckedMessage] = []
        self.ids: frozenset[str] = frozenset()

    def at(self, step: Step) -> frozenset[str]:
        """The ids that are covered at a step; the same object as long as nothing changes."""
        fresh = self._events.at(step)
        summaries = [message for _, message in self._scan.at(step)]
        if fresh or summaries != self._summaries:
            self._told = self._told.union(*(_ids(e.fields.get("covers")) for e in fresh))
            self._summaries = summaries
            self.ids = self._told.union(*(m.note.covers for m in summaries))
        return self.ids


def _ids(value: object) -> Iterable[str]:
    return [v for v in value if isinstance(v, str)] if isinstance(value, list) else []
