"""The compactions of an open trace, each put together from its lines: the one that tells of the
start, and the one that tells how it ended (docs/formats/context-trace.md 1)."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from tracer.model.json_values import text_of, whole_of
from tracer.model.story import CompactionView
from tracer.store.events import EventRow

STARTED, COMPLETED, FAILED = "compaction.started", "compaction.completed", "compaction.failed"
EVENT = "event"


def trace_compactions(events: Iterable[EventRow]) -> tuple[CompactionView, ...]:
    """The compactions in the order of their starts. An end goes to the last start that has none; a
    reason that the end gives stands before that of the start, as it says why it failed."""
    found: list[CompactionView] = []
    for event in events:
        if event.event not in (STARTED, COMPLETED, FAILED):
            continue
        told = _view(event)
        if event.event != STARTED and found and not found[-1].status:
            found[-1] = _ended(found[-1], told)
        else:
            found.append(told)
    return tuple(found)


def _view(event: EventRow) -> CompactionView:
    said = _fields(event)
    covers = said.get("covers")
    return CompactionView(
        at_ms=event.at_ms,
        reason=text_of(said.get("reason")),
        status="" if event.event == STARTED else event.event.partition(".")[2],
        tokens_before=whole_of(said.get("beforeTokens")),
        tokens_after=whole_of(said.get("afterTokens")),
        known_from=EVENT,
        covers=len(covers) if isinstance(covers, list) else None,
    )


def _ended(start: CompactionView, end: CompactionView) -> CompactionView:
    return replace(
        start,
        reason=end.reason or start.reason,
        status=end.status,
        tokens_before=_first(start.tokens_before, end.tokens_before),
        tokens_after=_first(end.tokens_after, start.tokens_after),
        covers=_first(end.covers, start.covers),
    )


def _first(one: int | None, other: int | None) -> int | None:
    return other if one is None else one


def _fields(event: EventRow) -> Mapping[str, Any]:
    found = msgspec.json.decode(event.context_json) if event.context_json else {}
    return found if isinstance(found, dict) else {}
