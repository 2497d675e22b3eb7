"""Every tool call has its result, in order, with nothing of another exchange between them.

An exchange is an assistant message with its calls and the results of all of them. It is whole in
every request and across compaction: half of one misleads the model, and most providers refuse it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedMessage, CheckedSession
from tracer.checks.layout_14._covered import Covered
from tracer.checks.layout_14._steps import (
    HISTORY,
    Step,
    answered,
    behind,
    calls_of,
    excerpt,
    named,
    undecided,
    walk,
)
from tracer.compare.texts import first_difference
from tracer.model.findings import Level

LEVEL = Level.ERROR
TITLE = "Every tool call with its result, in order, exchange by exchange"
SOURCE = "formats/context-trace.md 4"

REPORT = Reporter(__name__, LEVEL)


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for each call or result that is not where it belongs, once."""
    yield from undecided(session, REPORT)
    reader = _Reader(session)
    for step in walk(session):
        yield from reader.at(step)


@dataclass(slots=True)
class _Open:
    """An exchange whose results are not all there yet."""

    index: int
    message: CheckedMessage
    calls: list[str] = field(default_factory=list)


class _Reader:
    def __init__(self, session: CheckedSession) -> None:
        self._covered = Covered(session)
        self._told: set[str] = set()
        self._ids_of_call: dict[str, set[str]] = {}
        self._before: list[CheckedMessage] = []

    def at(self, step: Step) -> Iterator[Found]:
        ids = self._covered.at(step)
        ranges, messages = step.ranges(*HISTORY), step.of(*HISTORY)
        start = _begin(messages, first_difference(self._before, messages))
        self._before = messages
        opened: _Open | None = None
        for index in behind(ranges, start):
            message = step.messages[index]
            calls, result = calls_of(message), answered(message)
            for call in (*calls, result):
                if call and message.note.id:
                    self._ids_of_call.setdefault(call, set()).add(message.note.id)
            if calls:
                yield from self._missing(step, opened, ids)
                opened = _Open(index, message, calls)
            elif result:
                yield from self._result(step, opened, message, index, ids)
        yield from self._missing(step, opened, ids)

    def _result(
        self,
        step: Step,
        opened: _Open | None,
        message: CheckedMessage,
        index: int,
        ids: frozenset[str],
    ) -> Iterator[Found]:
        call = answered(message)
        if opened and call in opened.calls:
            place = opened.calls.index(call)
            expected = opened.calls[0]
            opened.calls.pop(place)
            if place and self._new(call, expected):
                yield REPORT.found(
                    step.request,
                    f"The result of call {call} comes before that of call {expected}, which was "
                    "made first.",
                    index,
                    result=excerpt(message),
                )
        elif not self._is_covered(call, ids) and self._new(call):
            yield REPORT.found(
                step.request,
                f"The {named(message)} answers call {call}, and no exchange that is open here "
                "made that call.",
                index,
                result=excerpt(message),
            )

    def _missing(self, step: Step, opened: _Open | None, ids: frozenset[str]) -> Iterator[Found]:
        if opened is None:
            return
        lost = [c for c in opened.calls if not self._is_covered(c, ids)]
        if lost and self._new(*lost):
            calls = ", ".join(f"{b.name} {b.call_id}" for b in opened.message.blocks if b.call_id)
            yield REPORT.found(
                step.request,
                f"Call {lost[0]} of the {named(opened.message)} has no result before the exchange "
                "ends.",
                opened.index,
                without_result=", ".join(lost),
                calls=calls,
            )

    def _is_covered(self, call: str, ids: frozenset[str]) -> bool:
        """Whether a summary covers the other half: that is the matter of its own rule."""
        return not ids.isdisjoint(self._ids_of_call.get(call, ()))

    def _new(self, *calls: str) -> bool:
        """Whether nothing was told of these calls yet."""
        fresh = self._told.isdisjoint(calls)
        self._told.update(calls)
        return fresh


def _begin(messages: Sequence[CheckedMessage], known: int) -> int:
    """Where to read from, when the first `known` messages were read already: at the exchange that
    may still be open there."""
    for place in range(known - 1, -1, -1):
        if calls_of(messages[place]):
            return place
    return 0
