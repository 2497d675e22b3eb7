"""One request in full: its blocks in order, what it answered, what the log says beside it."""

import sqlite3
from collections.abc import Sequence

from tracer.assemble.joins import LineFacts, RequestFacts, join_line, snapshot_before
from tracer.model.events import Status
from tracer.model.prompt import Kind, Marker, Part, Tier
from tracer.model.source import SourceRef
from tracer.model.views import (
    BlockView,
    ContextCategory,
    ContextUsageView,
    JoinedLogLine,
    MapRun,
    McsView,
    PartSize,
    ReminderView,
    RequestDetail,
    RequestSummary,
    SessionSummary,
)
from tracer.service.evidence import evidence_of
from tracer.service.placing import tier_index, verified_in
from tracer.service.requests import (
    PromptFacts,
    SessionData,
    reminder_source,
    summarise,
)
from tracer.store.events import (
    EventRow,
    attempt_events,
    context_usage_rows,
    events_between,
    session_events,
)
from tracer.store.prompts import BlockRow, block_texts, chain_ids, prompt_blocks, response_blocks
from tracer.store.reading import RequestRow, request_places, request_texts
from tracer.store.sources import source_ref
from tracer.store.tokens import block_text
from tracer.tokens import estimate_bounds

LOG_LINES = 400
_NOT_ANSWERED = frozenset({"failed", "cancelled"})
_SNAPSHOT = "context_usage_snapshot"


def build_detail(
    connection: sqlite3.Connection,
    data: SessionData,
    row_id: int,
    session: SessionSummary,
    key: str,
    *,
    block_from: int,
    block_limit: int | None,
    text: bool,
) -> RequestDetail:
    """The detail of the request `key` of a session whose rows are loaded."""
    seq = next(i for i, row in enumerate(data.rows, 1) if row.key == key)
    row = data.rows[seq - 1]
    blocks = prompt_blocks(connection, row.node_id) if row.node_id is not None else []
    summary = summarise(data, session.session_id, seq, facts_of(blocks))
    baseline, common = _baseline(connection, data, seq, blocks)
    end = None if block_limit is None else block_from + block_limit
    calibration = _calibration(summary, blocks)
    page = blocks[block_from:end]
    texts = block_texts(connection, [b.block_id for b in page]) if text else {}
    views = _views(page, summary, row, data.paths, calibration, common or 0, texts)
    response = response_blocks(connection, row.id)
    response_text = block_texts(connection, [b.block_id for b in response])
    params_json, headers_json = request_texts(connection, row.id)
    counted = [b.bpe_tokens for b in blocks if b.bpe_tokens is not None]
    uncounted = sum(b.bpe_tokens is None and b.kind != Kind.GAP for b in blocks)
    usage_view = _context_usage(connection, data, row_id, row)
    return RequestDetail(
        request=summary,
        session=session,
        blocks=views,
        block_from=block_from,
        block_total=len(blocks),
        part_sizes=_part_sizes(blocks, common or 0),
        tokens_bpe=sum(counted) if blocks and not uncounted else None,
        tokens_estimate=sum(b.estimate_tokens for b in blocks),
        uncounted_blocks=uncounted,
        calibration=calibration,
        response=_views(response, summary, row, data.paths, None, 0, response_text),
        response_provisional=_is_last_word(connection, data, seq, response),
        log=_log_lines(connection, data, row_id, row),
        context_usage=usage_view,
        evidence=evidence_of(summary, row, blocks, uncounted, usage_view),
        params_json=params_json,
        headers_json=headers_json,
        sources=tuple(
            SourceRef(data.paths.get(source, ""), line, offset)
            for source, line, offset in request_places(connection, row.id)
        ),
        attempts=_attempts(data, summary.call_key),
        previous_key=data.rows[seq - 2].key if seq > 1 else "",
        next_key=data.rows[seq].key if seq < len(data.rows) else "",
        baseline_key=baseline,
        common_blocks=common,
        map_runs=_map_runs(blocks, row, common or 0),
    )


def _attempts(data: SessionData, call_key: str) -> tuple[tuple[str, int, Status], ...]:
    """All attempts of a logical call."""
    return tuple(
        (row.key, row.attempt, Status(row.status))
        for row in data.rows
        if data.grouped[row.key].call_key == call_key
    )


def facts_of(blocks: Sequence[BlockRow]) -> PromptFacts:
    """What a prompt contains, from its blocks."""
    from_tools = tuple(b.name for b in blocks if b.tier == Tier.TOOLS and b.kind != Kind.GAP)
    roles: dict[str, int] = {}
    reminders, mcs = [], []
    for block in blocks:
        if block.message_index is None:
            continue
        if block.block_index == 0 and block.role:
            roles[block.role] = roles.get(block.role, 0) + 1
        if block.part == Part.MCS:
            mcs.append(McsView(block.message_index, ()))
        elif block.part in (Part.CONTEXT, Part.REMINDER):
            source = reminder_source(block.preview)
            reminders.append(ReminderView(source, "reminder", block.message_index))
    return PromptFacts(roles, from_tools, tuple(reminders), tuple(mcs))


def _baseline(
    connection: sqlite3.Connection, data: SessionData, seq: int, blocks: Sequence[BlockRow]
) -> tuple[str, int | None]:
    """The request before this one in its lane, and how many leading blocks they share."""
    row = data.rows[seq - 1]
    for other in reversed(data.rows[: seq - 1]):
        if other.lane == row.lane and other.node_id is not None:
            theirs = set(chain_ids(connection, other.node_id))
            common = 0
            while common < len(blocks) and blocks[common].node_id in theirs:
                common += 1
            return other.key, common
    return "", None


def _calibration(summary: RequestSummary, blocks: Sequence[BlockRow]) -> float | None:
    """Billed input over the BPE sum: only where the whole prompt is known and counted."""
    usage = summary.usage
    if usage is None or not usage.input_tokens or summary.verified_from is None:
        return None
    if any(b.bpe_tokens is None for b in blocks):  # a gap has no count either
        return None
    total = sum(b.bpe_tokens or 0 for b in blocks)
    return usage.input_tokens / total if total else None


def _views(
    blocks: Sequence[BlockRow],
    summary: RequestSummary,
    row: RequestRow,
    paths: dict[int, str],
    calibration: float | None,
    common: int,
    texts: dict[int, tuple[str | None, bytes | None]],
) -> tuple[BlockView, ...]:
    markers: dict[tuple[Tier, int, int], Marker] = {}
    for m in summary.markers:
        at = m.message_index if m.message_index is not None else m.index
        markers[m.tier, at, m.block_index] = m
    system_messages = sum(1 for m in summary.markers if m.tier is Tier.SYSTEM)
    views = []
    for block in blocks:
        tier = Tier(block.tier)
        if tier is Tier.SYSTEM and block.message_index is not None:
            system_messages = max(system_messages, block.message_index + 1)
        in_message = block.message_index is not None
        at = block.message_index if block.message_index is not None else block.block_index
        inner = block.block_index if in_message else 0
        tokens = block.bpe_tokens
        views.append(
            BlockView(
                index=block.depth,
                tier=tier,
                tier_index=tier_index(block, tier, system_messages),
                message_index=block.message_index,
                block_index=inner,
                role=block.role,
                kind=Kind(block.kind),
                part=Part(block.part),
                name=block.name,
                call_id=block.call_id,
                chars=block.chars,
                bytes=block.bytes,
                tokens_bpe=tokens,
                tokens_bpe_exact=bool(block.exact),
                tokens_estimate=block.estimate_tokens,
                tokens_calibrated=None
                if tokens is None or calibration is None
                else round(tokens * calibration),
                wire_hash=block.wire_hash.hex(),
                marker=markers.get((tier, at, inner)),
                verified=verified_in(block, tier, row),
                new=block.depth >= common,
                preview=block.preview,
                first_seen=source_ref(paths, block.source_id, block.line, block.offset_bytes),
                extra_json=block.extra_json,
                span_messages=block.span_messages,
                text=block_text(*texts[block.block_id]) if block.block_id in texts else None,
            )
        )
    return tuple(views)


def _part_sizes(blocks: Sequence[BlockRow], common: int) -> tuple[PartSize, ...]:
    sizes = []
    for part in Part:
        own = [b for b in blocks if b.part == part]
        if not own:
            continue
        tokens = [b.bpe_tokens if b.bpe_tokens is not None else b.estimate_tokens for b in own]
        new = sum(t for b, t in zip(own, tokens, strict=True) if b.depth >= common)
        counted = all(b.bpe_tokens is not None or b.kind == Kind.GAP for b in own)
        sizes.append(PartSize(part, len(own), sum(b.chars for b in own), sum(tokens), new, counted))
    return tuple(sizes)


def _map_runs(blocks: Sequence[BlockRow], row: RequestRow, common: int) -> tuple[MapRun, ...]:
    """The whole prompt in order, neighbours that look alike taken together."""
    runs: list[MapRun] = []
    for block in blocks:
        part = Part(block.part)
        new, verified = block.depth >= common, verified_in(block, Tier(block.tier), row)
        tokens = block.bpe_tokens if block.bpe_tokens is not None else block.estimate_tokens
        last = runs[-1] if runs else None
        if last and (last.part, last.new, last.verified) == (part, new, verified):
            tokens += last.tokens
            runs[-1] = MapRun(part, last.first_index, last.blocks + 1, tokens, new, verified)
        else:
            runs.append(MapRun(part, block.depth, 1, tokens, new, verified))
    return tuple(runs)


def _is_last_word(
    connection: sqlite3.Connection, data: SessionData, seq: int, response: Sequence[BlockRow]
) -> bool:
    """True where no later request of the lane carries the answer as history yet: then the log's
    `response` is all that shows it (formats/zcode.md 14, case 28)."""
    row = data.rows[seq - 1]
    if not response or row.status in _NOT_ANSWERED:
        return False
    return not any(
        later.lane == row.lane and later.node_id is not None for later in data.rows[seq:]
    )


def _log_lines(
    connection: sqlite3.Connection, data: SessionData, row_id: int, row: RequestRow
) -> tuple[JoinedLogLine, ...]:
    events = {e.id: e for e in attempt_events(connection, row.request_id)}
    if row.started_at_ms is not None:
        end = row.completed_at_ms or row.started_at_ms
        near = events_between(connection, row_id, row.started_at_ms - 50, end, LOG_LINES)
        events.update({e.id: e for e in near})
    facts = _request_facts(row)
    lines = []
    in_order = sorted(
        events.values(), key=lambda e: (e.at_ms or 0, data.paths.get(e.source_id, ""), e.line)
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
                SourceRef(data.paths.get(event.source_id, ""), event.line, event.offset_bytes),
            )
        )
    return tuple(lines)


def _line_facts(event: EventRow) -> LineFacts:
    return LineFacts(event.at_ms, event.event, event.turn_id, event.request_id, event.attempt)


def _request_facts(row: RequestRow) -> RequestFacts:
    return RequestFacts(
        row.request_id, row.attempt, row.turn_id, row.started_at_ms, row.completed_at_ms
    )


def _context_usage(
    connection: sqlite3.Connection, data: SessionData, row_id: int, row: RequestRow
) -> ContextUsageView | None:
    """The agent's own report for a request: its conversation's first attempts only, since the
    snapshot is written once before a model call."""
    if row.attempt != 1 or row.started_at_ms is None:
        return None
    snapshots = session_events(connection, row_id, (_SNAPSHOT,))
    starts = [
        other.started_at_ms
        for other in data.rows
        if other.lane == row.lane and other.attempt == 1 and other.key != row.key
        if other.started_at_ms is not None
    ]
    found = snapshot_before([_line_facts(e) for e in snapshots], _request_facts(row), starts)
    if found is None:
        return None
    event = snapshots[found]
    rows = context_usage_rows(connection, event.id)
    total = next((r for r in rows if r.scope == "total"), None)
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
    return ContextUsageView(
        model=total.source if total else "",
        total_chars=total.chars if total else None,
        total_tokens=total.tokens if total else None,
        categories=tuple(categories),
        strength="heuristic",
        source=SourceRef(data.paths.get(event.source_id, ""), event.line, event.offset_bytes),
    )
