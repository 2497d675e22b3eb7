"""A session as a timeline: one column a request."""

import sqlite3
from collections.abc import Sequence

from tracer.assemble.chains import EMPTY, PARTS, PathWalker, Sums
from tracer.model.events import Status
from tracer.model.source import SourceRef
from tracer.model.views import (
    PartSize,
    RequestSummary,
    SessionSummary,
    Timeline,
    TimelineColumn,
    TimelineEvent,
    TurnSpan,
)
from tracer.service.requests import SessionData
from tracer.store.events import EventRow, session_events, trace_events

_MARKED_EVENTS = (
    "compact.*",
    "model.retry.scheduled",
    "model.stream.stalled",
    "turn.failed",
    "session.resumed",
    "subagent.spawned",
    "subagent.completed",
    "microcompact*",
)
_KINDS = (
    ("compact.", "compaction"),
    ("compaction.", "compaction"),
    ("model.retry", "retry"),
    ("model.stream", "retry"),
    ("turn.failed", "error"),
    ("subagent.", "subagent"),
)


def build_timeline(
    connection: sqlite3.Connection,
    data: SessionData,
    row_id: int,
    session: SessionSummary,
    children: tuple[SessionSummary, ...],
    requests: Sequence[RequestSummary],
) -> Timeline:
    """The whole timeline of a session; `requests` are the summaries of all its rows."""
    columns = _columns(data, requests)
    events = [
        *_file_events(data),
        *_model_switches(requests),
        *_failures(requests),
        *_log_events(session_events(connection, row_id, _MARKED_EVENTS), requests, data.paths),
        *_log_events(trace_events(connection, row_id), requests, data.paths),
    ]
    events.sort(key=lambda e: (e.after_seq, e.at_ms or 0))
    tips = {row.node_id for row in data.rows if row.node_id is not None}
    uncounted = max((data.sums[tip].uncounted for tip in tips), default=0)
    return Timeline(session, columns, _turns(requests), tuple(events), children, uncounted)


def _columns(data: SessionData, requests: Sequence[RequestSummary]) -> tuple[TimelineColumn, ...]:
    walkers: dict[str, PathWalker] = {}
    lane_tip: dict[str, Sums] = {}
    columns = []
    for row, request in zip(data.rows, requests, strict=True):
        sums = data.sums.get(row.node_id) if row.node_id is not None else None
        if sums is None or row.node_id is None:
            columns.append(TimelineColumn(request, (), 0, 0, False))
            continue
        walker = walkers.get(row.lane)
        first = walker is None
        if walker is None:
            walker = walkers[row.lane] = PathWalker(data.sums)
        shared_node = walker.step(row.node_id)
        shared = data.sums[shared_node] if shared_node is not None else EMPTY
        before = lane_tip.get(row.lane)
        changed = not first and before is not None and shared.depth < before.depth
        lane_tip[row.lane] = sums
        columns.append(
            TimelineColumn(
                request, part_sizes(sums, shared), sums.total_tokens, shared.total_tokens, changed
            )
        )
    return tuple(columns)


def part_sizes(sums: Sums, shared: Sums) -> tuple[PartSize, ...]:
    """The sizes of a prompt's parts in stacking order; `shared` is the prefix it has in common with
    the prompt before it."""
    counted = sums.uncounted == 0
    per_part = zip(PARTS, sums.blocks, sums.chars, sums.tokens, shared.tokens, strict=True)
    return tuple(
        PartSize(part, blocks, chars, tokens, tokens - before, counted)
        for part, blocks, chars, tokens, before in per_part
        if blocks
    )


def _turns(requests: Sequence[RequestSummary]) -> tuple[TurnSpan, ...]:
    spans: list[TurnSpan] = []
    for request in requests:
        if request.turn_number is None:
            continue
        if spans and spans[-1].turn_id == request.turn_id:
            last = spans[-1]
            spans[-1] = TurnSpan(last.turn_id, last.number, last.first_seq, request.seq)
        else:
            spans.append(TurnSpan(request.turn_id, request.turn_number, request.seq, request.seq))
    return tuple(spans)


def _file_events(data: SessionData) -> list[TimelineEvent]:
    return [
        TimelineEvent(
            "reset",
            seq - 1,
            row.started_at_ms,
            "The log file was overwritten",
            "It had reached its size limit; requests right before this one may be missing.",
            SourceRef(data.paths.get(row.source_id, ""), row.line, row.offset_bytes),
        )
        for seq, row in enumerate(data.rows, 1)
        if row.reset_json
    ]


def _model_switches(requests: Sequence[RequestSummary]) -> list[TimelineEvent]:
    events = []
    model = ""
    for request in requests:
        if request.side_call or not request.model_id:
            continue
        if model and request.model_id != model:
            events.append(
                TimelineEvent(
                    "model",
                    request.seq - 1,
                    request.started_at_ms,
                    "Model switched",
                    f"{model} → {request.model_id}",
                    request.source,
                )
            )
        model = request.model_id
    return events


def _failures(requests: Sequence[RequestSummary]) -> list[TimelineEvent]:
    return [
        TimelineEvent(
            "error",
            request.seq,
            request.completed_at_ms,
            f"Request {request.seq} {request.status}",
            request.error,
            request.source,
        )
        for request in requests
        if request.status in (Status.FAILED, Status.CANCELLED)
    ]


def _log_events(
    rows: Sequence[EventRow], requests: Sequence[RequestSummary], paths: dict[int, str]
) -> list[TimelineEvent]:
    events = []
    started = [r.started_at_ms or 0 for r in requests]
    seq = 0
    for row in rows:
        while seq < len(started) and started[seq] <= (row.at_ms or 0):
            seq += 1
        kind = next((k for prefix, k in _KINDS if row.event.startswith(prefix)), "log")
        events.append(
            TimelineEvent(
                kind,
                seq,
                row.at_ms,
                row.message or row.event,
                row.event,
                SourceRef(paths.get(row.source_id, ""), row.line, row.offset_bytes),
            )
        )
    return events
