"""What the structured log tells a rule: the session's events, the sections of the prefix, and the
agent's own account of its context at a request."""

import sqlite3
from bisect import bisect_right
from collections.abc import Mapping, Sequence

from tracer.assemble.joins import SNAPSHOT_SLACK_MS, SNAPSHOT_WINDOW_MS
from tracer.checks import EventLog
from tracer.model.events import ContextBuilt, ContextUsage, LogEvent, LoggedSection, UsageCategory
from tracer.service.logged import LoggedSections
from tracer.store.checks import EventFacts, UsageFacts, has_log, session_log, session_snapshots
from tracer.store.events import report_counts
from tracer.store.reading import RequestRow


def log_events(connection: sqlite3.Connection, row_id: int, session_id: str) -> EventLog:
    """The session's events with a name, in their order, without those about one attempt, section
    texts and context reports."""
    rows = session_log(connection, row_id)
    return EventLog(
        [row.event for row in rows],
        lambda place: _event(rows[place], session_id),
        bool(rows) or has_log(connection, row_id),
    )


def _event(row: EventFacts, session_id: str) -> LogEvent:
    return LogEvent(
        at_ms=row.at_ms,
        level=row.level,
        event=row.event,
        module=row.module,
        message=row.message,
        session_id=session_id,
        trace_id=row.trace_id,
        span_id=row.span_id,
        turn_id=row.turn_id,
        tool_call_id=row.tool_call_id,
        duration_ms=row.duration_ms,
        status=row.status,
        request_id=row.request_id,
        attempt=row.attempt,
        context_json=row.context_json,
        place=(row.source_id, row.line),
    )


class BuiltContexts:
    """The sections that a request can know, one object a version."""

    def __init__(self, logged: LoggedSections) -> None:
        self._logged = logged
        self._made: dict[int, ContextBuilt | None] = {}

    def at(self, started_at_ms: int | None) -> ContextBuilt | None:
        """The newest `context.built` before a request; None where there is none."""
        version = self._logged.version(started_at_ms)
        if version not in self._made:
            rows = self._logged.newest(version)
            sections = tuple(
                LoggedSection(r.name, r.source, r.chars, r.tokens, self._logged.text(r.block_id))
                for r in rows
            )
            self._made[version] = ContextBuilt(sections, None, None) if rows else None
        return self._made[version]


class Snapshots:
    """The agent's reports of its context, by the turn in which they were written."""

    def __init__(self, connection: sqlite3.Connection, row_id: int) -> None:
        rows: dict[int, list[UsageFacts]] = {}
        for row in session_snapshots(connection, row_id):
            rows.setdefault(row.event_id, []).append(row)
        self._turns: dict[str, list[tuple[int, list[UsageFacts]]]] = {}
        self._named = {own[0].request_id: own for own in rows.values() if own[0].request_id}
        for own in rows.values():
            if own[0].request_id:
                continue
            at_ms = own[0].at_ms
            if at_ms is not None:
                self._turns.setdefault(own[0].turn_id, []).append((at_ms, own))
        for found in self._turns.values():
            found.sort(key=lambda pair: pair[0])

    def before(self, row: RequestRow, starts_ms: Sequence[int]) -> ContextUsage | None:
        """The report that was written for a request: the one that names it; else the last one of
        its turn before it, unless another first attempt of its lane, whose `starts_ms` are given in
        order, came between."""
        if row.request_id in self._named:
            return _usage(self._named[row.request_id])
        if row.attempt != 1 or row.started_at_ms is None:
            return None
        found = self._turns.get(row.turn_id, [])
        at = bisect_right(found, row.started_at_ms + SNAPSHOT_SLACK_MS, key=lambda pair: pair[0])
        if not at:
            return None
        at_ms, rows = found[at - 1]
        later = bisect_right(starts_ms, at_ms - SNAPSHOT_SLACK_MS - 1)
        taken = later < len(starts_ms) and starts_ms[later] < row.started_at_ms
        if taken or row.started_at_ms - at_ms > SNAPSHOT_WINDOW_MS:
            return None
        return _usage(rows)


def _usage(rows: Sequence[UsageFacts]) -> ContextUsage:
    total = next((r for r in rows if r.scope == "total"), None)
    return ContextUsage(
        model=total.source if total else "",
        total_chars=total.chars if total else None,
        total_tokens=total.tokens if total else None,
        tokens_redacted=bool(total and total.tokens_redacted),
        categories=tuple(_category(r) for r in rows if r.scope == "category"),
        roles=tuple(_category(r) for r in rows if r.scope == "role"),
        counts=tuple(report_counts(total.counts_json).items()) if total else (),
    )


def _category(row: UsageFacts) -> UsageCategory:
    return UsageCategory(
        row.name, row.source, row.chars, row.tokens, bool(row.tokens_redacted), count=row.messages
    )


def first_starts(rows: Sequence[RequestRow]) -> Mapping[str, list[int]]:
    """When the first attempts of each lane started, in order."""
    found: dict[str, list[int]] = {}
    for row in rows:
        if row.attempt == 1 and row.started_at_ms is not None:
            found.setdefault(row.lane, []).append(row.started_at_ms)
    for starts in found.values():
        starts.sort()
    return found
