"""The summaries of a session, each where it is first sent."""

from collections.abc import Iterator
from dataclasses import dataclass

from tracer.checks.case import CheckedMessage, CheckedSession
from tracer.checks.layout_14._events import COMPACTED, EventsBefore
from tracer.checks.layout_14._shown import Shown
from tracer.checks.layout_14._steps import SUMMARY, Step, walk
from tracer.model.json_values import whole_of


@dataclass(frozen=True, slots=True)
class NewSummary:
    """A summary at the step that first sends it. `fresh` are the ids that it covers and no earlier
    one did, `covers` all of them; `first` tells that the trace begins with it. `shown` holds what
    the steps before have shown: read it before the next summary is asked for."""

    step: Step
    index: int
    message: CheckedMessage
    covers: tuple[str, ...]
    fresh: tuple[str, ...]
    first: bool
    shown: Shown
    told_before: int | None
    told_after: int | None


def new_summaries(session: CheckedSession) -> Iterator[NewSummary]:
    """Each summary of segment 6 whose bytes or covers no earlier step had."""
    completed = EventsBefore(session, COMPACTED)
    shown = Shown()
    seen: set[tuple[bytes, tuple[str, ...]]] = set()
    known: set[str] = set()
    for step in walk(session):
        events = completed.at(step)
        told = events[-1].fields if events else {}
        for index in step.indexes(SUMMARY):
            message = step.messages[index]
            covers = message.note.covers or _ids(told.get("covers"))
            name = (message.wire_hash, covers)
            if name in seen or not covers:
                continue
            seen.add(name)
            fresh = tuple(c for c in covers if c not in known)
            yield NewSummary(
                step,
                index,
                message,
                covers,
                fresh,
                step.before is None,
                shown,
                whole_of(told.get("beforeTokens")),
                whole_of(told.get("afterTokens")),
            )
            known.update(covers)
        shown.add(step)


def _ids(value: object) -> tuple[str, ...]:
    return tuple(v for v in value if isinstance(v, str)) if isinstance(value, list) else ()
