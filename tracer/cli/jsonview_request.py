"""The JSON of a request (R of docs/json.md), of its prompt's blocks, and of all known about it."""

from collections.abc import Iterable

from tracer.cli.jsonview import SCHEMA, JsonObject, embedded, iso_time, known, source_ref
from tracer.model.prompt import Marker
from tracer.model.usage import Usage
from tracer.model.views import (
    BlockView,
    ContextUsageView,
    JoinedLogLine,
    PartSize,
    ReminderView,
    RequestDetail,
    RequestSummary,
    SectionView,
)


def requests_json(session_id: str, requests: Iterable[RequestSummary]) -> JsonObject:
    """What `tracer requests --json` prints."""
    return {
        "schema": SCHEMA,
        "session_id": session_id,
        "requests": [request_json(request) for request in requests],
    }


def request_json(request: RequestSummary) -> JsonObject:
    """R: one request without its blocks. The verdict is null: this version gives none yet."""
    return {
        "key": request.key,
        "seq": request.seq,
        "session_id": request.session_id,
        "request_id": known(request.request_id),
        "attempt": request.attempt,
        "attempts": request.attempts,
        "call_key": request.call_key,
        "trace_id": known(request.trace_id),
        "turn_id": known(request.turn_id),
        "turn_number": request.turn_number,
        "step": request.step,
        "query_source": known(request.query_source),
        "lane": request.lane,
        "side_call": request.side_call,
        "provider": known(request.provider_id),
        "model": known(request.model_id),
        "started_at": iso_time(request.started_at_ms),
        "completed_at": iso_time(request.completed_at_ms),
        "duration_ms": request.duration_ms,
        "status": str(request.status),
        "error": known(request.error),
        "finish_reason": known(request.finish_reason),
        "observed": request.observed,
        "verified_from": request.verified_from,
        "carry": known(request.carry),
        "window": str(request.window_kind),
        "message_count": request.message_count,
        "roles": dict(request.roles),
        "usage": usage_json(request.usage),
        "sections": [_section(section) for section in request.sections],
        "reminders": [_reminder(reminder) for reminder in request.reminders],
        "mcs": [
            {"message_index": mcs.message_index, "sources": list(mcs.sources)}
            for mcs in request.mcs
        ],
        "markers": [_marker(marker) for marker in request.markers],
        "tools": list(request.tools),
        "verdict": None,
        "source_ref": source_ref(request.source),
    }


def usage_json(usage: Usage | None) -> JsonObject | None:
    """What the provider billed; null where the log has no usage at all."""
    if usage is None:
        return None
    return {
        "input": usage.input_tokens,
        "fresh": usage.fresh_tokens,
        "cache_read": usage.cache_read_tokens,
        "cache_write": usage.cache_write_tokens,
        "output": usage.output_tokens,
        "reasoning": usage.reasoning_tokens,
        "convention": str(usage.convention),
        "convention_reason": known(usage.reason),
        "raw": embedded(usage.raw_json),
    }


def _section(section: SectionView) -> JsonObject:
    return {
        "source": section.source,
        "name": known(section.name),
        "target": known(section.target),
        "cache_hint": known(section.cache_hint),
        "chars": section.chars,
        "tokens": {"logged": section.tokens_logged, "estimate": section.tokens_estimate},
        "message_index": section.message_index,
    }


def _reminder(reminder: ReminderView) -> JsonObject:
    value: JsonObject = {
        "source": reminder.source,
        "via": reminder.via,
        "message_index": reminder.message_index,
    }
    if reminder.ambiguous_with:
        value["ambiguous_with"] = list(reminder.ambiguous_with)
    return value


def _marker(marker: Marker) -> JsonObject:
    return {
        "tier": str(marker.tier),
        "index": marker.index,
        "block_index": marker.block_index,
        "ttl": known(marker.ttl),
        "scope": known(marker.scope),
    }


def detail_json(detail: RequestDetail, *, with_text: bool) -> JsonObject:
    """What `tracer show --json` prints: R, its blocks, and what else is known of the request."""
    request = detail.request
    return {
        "schema": SCHEMA,
        **request_json(request),
        "blocks": [block_json(block, request, with_text=with_text) for block in detail.blocks],
        "blocks_from": detail.block_from,
        "block_total": detail.block_total,
        "parts": [_part(part) for part in detail.part_sizes],
        "prompt_tokens": {"bpe": detail.tokens_bpe, "estimate": detail.tokens_estimate},
        "uncounted_blocks": detail.uncounted_blocks,
        "calibration": detail.calibration,
        "response": [block_json(block, None, with_text=with_text) for block in detail.response],
        "response_provisional": detail.response_provisional,
        "log": [_log_line(line) for line in detail.log],
        "context_usage": _context_usage(detail.context_usage),
        "evidence": [
            {"code": evidence.code, "title": evidence.title, "detail": evidence.detail}
            for evidence in detail.evidence
        ],
        "params": embedded(detail.params_json),
        "headers": embedded(detail.headers_json),
        "source_refs": [source_ref(ref) for ref in detail.sources],
        "attempt_keys": [
            {"key": key, "attempt": attempt, "status": str(status)}
            for key, attempt, status in detail.attempts
        ],
        "previous_key": known(detail.previous_key),
        "next_key": known(detail.next_key),
        "baseline_key": known(detail.baseline_key),
        "common_blocks": detail.common_blocks,
    }


def block_json(block: BlockView, request: RequestSummary | None, *, with_text: bool) -> JsonObject:
    """One block. Sections and reminders are those of its message in `request`."""
    sections = _of_message(block, request.sections) if request else []
    reminders = _of_message(block, request.reminders) if request else []
    value: JsonObject = {
        "index": block.index,
        "tier": str(block.tier),
        "tier_index": block.tier_index,
        "message_index": block.message_index,
        "block_index": block.block_index,
        "role": known(block.role),
        "kind": str(block.kind),
        "part": str(block.part),
        "name": known(block.name),
        "call_id": known(block.call_id),
        "section": sections[0] if len(sections) == 1 else None,
        "sections": sections,
        "reminders": reminders,
        "chars": block.chars,
        "bytes": block.bytes,
        "tokens": {
            "bpe": block.tokens_bpe,
            "bpe_exact": None if block.tokens_bpe is None else block.tokens_bpe_exact,
            "estimate": block.tokens_estimate,
            "calibrated": block.tokens_calibrated,
        },
        "wire_hash": block.wire_hash,
        "marker": None if block.marker is None else _marker(block.marker),
        "source_ref": source_ref(block.first_seen),
        "verified": block.verified,
        "new": block.new,
        "span_messages": block.span_messages,
        "preview": block.preview,
        "extra": embedded(block.extra_json),
    }
    if with_text:
        value["text"] = block.text
    return value


def _of_message(
    block: BlockView, located: Iterable[SectionView] | Iterable[ReminderView]
) -> list[str]:
    """The sources of what stands in the block's message; empty for tools."""
    index = block.message_index
    return [] if index is None else [item.source for item in located if item.message_index == index]


def _part(part: PartSize) -> JsonObject:
    return {
        "part": str(part.part),
        "blocks": part.blocks,
        "chars": part.chars,
        "tokens": part.tokens,
        "new_tokens": part.new_tokens,
        "method": "bpe" if part.counted else "estimate",
    }


def _log_line(line: JoinedLogLine) -> JsonObject:
    return {
        "at": iso_time(line.at_ms),
        "level": known(line.level),
        "event": known(line.event),
        "message": line.message,
        "duration_ms": line.duration_ms,
        "status": known(line.status),
        "strength": line.strength,
        "join": line.join,
        "context": embedded(line.context_json),
        "error": embedded(line.error_json),
        "source_ref": source_ref(line.source),
    }


def _context_usage(usage: ContextUsageView | None) -> JsonObject | None:
    if usage is None:
        return None
    return {
        "model": known(usage.model),
        "total_chars": usage.total_chars,
        "total_tokens": usage.total_tokens,
        "categories": [
            {
                "name": category.name,
                "source": category.source,
                "chars": category.chars,
                "tokens": category.tokens,
                "tokens_redacted": category.tokens_redacted,
                "tokens_low": category.tokens_low,
                "tokens_high": category.tokens_high,
            }
            for category in usage.categories
        ],
        "strength": usage.strength,
        "source_ref": source_ref(usage.source),
    }
