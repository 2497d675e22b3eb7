"""A session as a timeline: one column a request."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from tracer.assemble.chains import PARTS, Sizes
from tracer.assemble.trees import PromptTree
from tracer.model.events import Status
from tracer.model.prompt import Part
from tracer.model.segment_views import RequestSegments
from tracer.model.source import SourceRef
from tracer.model.views import (
    PartSize,
    RequestOutline,
    RequestSummary,
    SessionSummary,
    Timeline,
    TimelineColumn,
    TimelineEvent,
    TurnSpan,
)
from tracer.service.lazy import Lazy
from tracer.service.requests import SessionData, error_of, is_side_call
from tracer.service.verdicts import ResultOf
from tracer.store.events import EventRow, session_events, trace_events
from tracer.store.reading import MarkedRow, MoreCounts, marked_requests

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
GROUP_PARTS = {
    "tools": Part.TOOLS,
    "prefix": Part.SYSTEM,
    "history": Part.HISTORY,
    "tail": Part.REMINDER,
}
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
    row_id: int,
    data: SessionData,
    tree: PromptTree,
    requests: Sequence[RequestSummary],
    outline: Sequence[RequestOutline],
    sessions: Sequence[SessionSummary],
) -> Timeline:
    """The whole timeline of a session; `requests` and `outline` are all of its requests, `sessions`
    itself and its children."""
    switches = _model_switches(data)
    marked = marked_requests(connection, row_id, [data.rows[index].id for index in switches])
    events = [
        *_file_events(data, marked),
        *_switch_events(data, switches, marked),
        *_failures(data, marked),
        *_log_events(session_events(connection, row_id, _MARKED_EVENTS), data),
        *_log_events(trace_events(connection, row_id), data),
    ]
    events.sort(key=lambda e: (e.after_seq, e.at_ms or 0))
    tips = {row.node_id for row in data.rows if row.node_id is not None}
    return Timeline(
        session=sessions[0],
        columns=_columns(data, tree, requests),
        turns=_turns(data),
        events=tuple(events),
        children=tuple(sessions[1:]),
        uncounted_blocks=0 if tree.counted else max(map(tree.uncounted, tips), default=0),
        outline=outline,
    )


def _columns(
    data: SessionData, tree: PromptTree, requests: Sequence[RequestSummary]
) -> Sequence[TimelineColumn]:
    tips: dict[str, int] = {}
    befores: list[int | None] = []
    for row in data.rows:
        befores.append(tips.get(row.lane))
        if row.node_id is not None:
            tips[row.lane] = row.node_id

    def column(index: int) -> TimelineColumn:
        node, before = data.rows[index].node_id, befores[index]
        if node is None:
            return TimelineColumn(requests[index], (), 0)
        sizes = tree.sizes(node)
        shared = tree.sizes(None if before is None else tree.shared(node, before))
        request = requests[index]
        return TimelineColumn(
            request,
            group_sizes(request.segments, shared.total_tokens) or part_sizes(sizes, shared),
            sizes.total_tokens,
        )

    return Lazy(len(data.rows), column)


def outlines(
    data: SessionData,
    tree: PromptTree,
    counts: Mapping[int, MoreCounts],
    verdicts: Mapping[int, ResultOf],
) -> Iterator[RequestOutline]:
    """All requests in short; `counts` and `verdicts` are theirs, by row id."""
    for seq, row in enumerate(data.rows, 1):
        verdict, more = verdicts.get(row.id), counts[row.id]
        yield RequestOutline(
            seq=seq,
            key=row.key,
            lane=row.lane,
            side_call=is_side_call(row),
            turn_id=row.turn_id,
            turn_number=data.grouped[row.key].turn_number,
            attempt=row.attempt,
            status=row.status,
            started_at_ms=row.started_at_ms,
            input_tokens=row.input_tokens,
            cache_read_tokens=row.cache_read_tokens,
            cache_write_tokens=row.cache_write_tokens,
            prompt_tokens=0 if row.node_id is None else tree.total_tokens(row.node_id),
            markers=more.markers,
            result=verdict.result if verdict else None,
            baseline_key=verdict.baseline_key if verdict else "",
            step=data.grouped[row.key].step,
            query_source=row.query_source,
            fresh_tokens=more.fresh_tokens,
            output_tokens=more.output_tokens,
        )


def group_sizes(segments: RequestSegments | None, shared_tokens: int) -> tuple[PartSize, ...]:
    """The sizes of a laid-out prompt's groups in the order of the prompt: prefix, history and tail
    are drawn as the parts that they are nearest to. Nothing where there is no known layout."""
    if segments is None or not segments.known:
        return ()
    found = []
    before = 0
    for size in segments.groups:
        end = before + size.tokens
        new = max(0, end - max(before, shared_tokens))
        part = GROUP_PARTS.get(size.group, Part.GAP)
        found.append(PartSize(part, size.messages, size.chars, size.tokens, new, size.counted))
        before = end
    return tuple(found)


def part_sizes(sums: Sizes, shared: Sizes) -> tuple[PartSize, ...]:
    """The sizes of a prompt's parts in stacking order; `shared` is the prefix it has in common with
    the prompt before it."""
    counted = sums.uncounted == 0
    per_part = zip(PARTS, sums.blocks, sums.chars, sums.tokens, shared.tokens, strict=True)
    return tuple(
        PartSize(part, blocks, chars, tokens, tokens - before, counted)
        for part, blocks, chars, tokens, before in per_part
        if blocks
    )


def _turns(data: SessionData) -> tuple[TurnSpan, ...]:
    numbered = (
        (seq, row, data.grouped[row.key].turn_number) for seq, row in enumerate(data.rows, 1)
    )
    told = ((seq, row.turn_id, number) for seq, row, number in numbered if number is not None)
    spans = []
    for turn_id, requests in groupby(told, key=itemgetter(1)):
        own = list(requests)
        spans.append(TurnSpan(turn_id, own[0][2], own[0][0], own[-1][0]))
    return tuple(spans)


def _file_events(data: SessionData, marked: Mapping[int, MarkedRow]) -> list[TimelineEvent]:
    return [
        TimelineEvent(
            "reset",
            seq - 1,
            row.started_at_ms,
            "The log file was overwritten",
            "It had reached its size limit; requests right before this one may be missing.",
            _source(data, marked[row.id]),
        )
        for seq, row in enumerate(data.rows, 1)
        if row.id in marked and marked[row.id].reset_json
    ]


def _model_switches(data: SessionData) -> dict[int, str]:
    """The model before each switch, by the index of the first request of the new one."""
    switches = {}
    model = ""
    for index, row in enumerate(data.rows):
        if not row.model_id or is_side_call(row):
            continue
        if model and row.model_id != model:
            switches[index] = model
        model = row.model_id
    return switches


def _switch_events(
    data: SessionData, switches: Mapping[int, str], marked: Mapping[int, MarkedRow]
) -> list[TimelineEvent]:
    rows = ((index, before, data.rows[index]) for index, before in switches.items())
    return [
        TimelineEvent(
            "model",
            index,
            row.started_at_ms,
            "Model switched",
            f"{before} → {row.model_id}",
            _source(data, marked[row.id]),
        )
        for index, before, row in rows
    ]


def _failures(data: SessionData, marked: Mapping[int, MarkedRow]) -> list[TimelineEvent]:
    events = []
    for seq, row in enumerate(data.rows, 1):
        if row.status in (Status.FAILED, Status.CANCELLED):
            found = marked[row.id]
            events.append(
                TimelineEvent(
                    "error",
                    seq,
                    found.completed_at_ms,
                    f"Request {seq} {row.status}",
                    error_of(found),
                    _source(data, found),
                )
            )
    return events


def _source(data: SessionData, row: MarkedRow) -> SourceRef:
    return SourceRef(data.paths.get(row.source_id, ""), row.line, row.offset_bytes)


def _log_events(rows: Sequence[EventRow], data: SessionData) -> list[TimelineEvent]:
    events = []
    started = [row.started_at_ms or 0 for row in data.rows]
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
                SourceRef(data.paths.get(row.source_id, ""), row.line, row.offset_bytes),
            )
        )
    return events
