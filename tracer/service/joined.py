"""What the structured log says beside a request: its lines, and the agent's own context report."""

import sqlite3
from collections.abc import Mapping
from typing import NamedTuple

from tracer.assemble.joins import (
    SNAPSHOT_SLACK_MS,
    SNAPSHOT_WINDOW_MS,
    LineFacts,
    RequestFacts,
    join_line,
    named_snapshot,
    snapshot_before,
)
from tracer.model.source import SourceRef
from tracer.model.views import ContextCategory, ContextUsageView, JoinedLogLine
from tracer.service.requests import is_side_call
from tracer.service.standing import Order
from tracer.store.events import (
    EventRow,
    UsageRow,
    attempt_events,
    context_usage_rows,
    events_between,
    events_near,
    report_counts,
)
from tracer.store.reading import RequestRow
from tracer.tokens import estimate_bounds

LOG_LINES = 400
_SNAPSHOT = "context_usage_snapshot"


class ContextReport(NamedTuple):
    """The agent's report nearest before a request, and its rows."""

    view: ContextUsageView
    rows: list[UsageRow]


def log_lines(
    connection: sqlite3.Connection, paths: Mapping[int, str], row_id: int, row: RequestRow
) -> tuple[JoinedLogLine, ...]:
    """The lines about a request; `paths` are those of all sources, by row id."""
    events = {e.id: e for e in attempt_events(connection, row_id, row.request_id)}
    if row.started_at_ms is not None:
        end = row.completed_at_ms or row.started_at_ms
        near = events_between(connection, row_id, row.started_at_ms - 50, end, LOG_LINES)
        events.update({e.id: e for e in near})
    facts = _request_facts(row)
    lines = []
    in_order = sorted(
        events.values(), key=lambda e: (e.at_ms or 0, paths.get(e.source_id, ""), e.line)
    )
    for event in in_order:
        join = join_line(_line_facts(event), facts)
        if join is None:
            continue
        lines.append(
            JoinedLogLine(
                event.at_ms,
                event.level,
                event.event,
                event.message,
                event.duration_ms,
                event.status,
                join.strength,
                join.key,
                event.context_json,
                event.error_json,
                SourceRef(paths.get(event.source_id, ""), event.line, event.offset_bytes),
            )
        )
    return tuple(lines)


def _line_facts(event: EventRow) -> LineFacts:
    return LineFacts(event.at_ms, event.event, event.turn_id, event.request_id, event.attempt)


def _request_facts(row: RequestRow) -> RequestFacts:
    return RequestFacts(
        row.request_id, row.attempt, row.turn_id, row.started_at_ms, row.completed_at_ms
    )


def context_report(
    connection: sqlite3.Connection,
    paths: Mapping[int, str],
    order: Order,
    row_id: int,
    row: RequestRow,
) -> ContextReport | None:
    """The agent's own report for a request: one that names it; else its conversation's first
    attempts only, since the snapshot is written once before a model call."""
    # No other is taken than one that names the request, or one right before it.
    start = row.started_at_ms or 0
    span = start - SNAPSHOT_WINDOW_MS, start + SNAPSHOT_SLACK_MS
    snapshots = events_near(connection, row_id, _SNAPSHOT, row.request_id, *span)
    lines = [_line_facts(e) for e in snapshots]
    named = named_snapshot(lines, row.request_id)
    guessing = row.attempt == 1 and row.started_at_ms is not None and not is_side_call(row)
    if named is None and not guessing:
        return None
    found = snapshot_before(lines, _request_facts(row), order.first_starts(row)) if lines else None
    if found is None:
        return None
    event = snapshots[found]
    rows = context_usage_rows(connection, event.id)
    total = next((r for r in rows if r.scope == "total"), None)
    counts = report_counts(total.contributors_json) if total else {}
    categories = []
    for item in rows:
        if item.scope != "category":
            continue
        bounds = estimate_bounds(item.chars) if item.chars is not None and item.chars >= 0 else None
        categories.append(
            ContextCategory(
                item.name,
                item.source,
                item.chars,
                item.tokens,
                bool(item.tokens_redacted),
                bounds.low if bounds and item.tokens is None else None,
                bounds.high if bounds and item.tokens is None else None,
            )
        )
    view = ContextUsageView(
        model=total.source if total else "",
        total_chars=total.chars if total else None,
        total_tokens=total.tokens if total else None,
        categories=tuple(categories),
        strength="heuristic" if named is None else "exact",
        source=SourceRef(paths.get(event.source_id, ""), event.line, event.offset_bytes),
        context_window=counts.get("contextWindow"),
        output_reserve=counts.get("outputReserve"),
    )
    return ContextReport(view, rows)
