"""The JSON of a request (R of docs/json.md), of its prompt's blocks, and of all known about it."""

from collections.abc import Iterable

from tracer.jsonview.anatomy import (
    anatomy_json,
    mcs_json,
    mcs_state_json,
    reminder_json,
    section_json,
    wire_json,
)
from tracer.jsonview.core import SCHEMA, JsonObject, embedded, iso_time, known, source_ref
from tracer.jsonview.segments import layout_json, world_json
from tracer.jsonview.usage import brief_json, usage_json
from tracer.model.prompt import Marker
from tracer.model.views import (
    BlockView,
    ContextUsageView,
    JoinedLogLine,
    PartSize,
    RequestDetail,
    RequestSummary,
)


def requests_json(session_id: str, requests: Iterable[RequestSummary]) -> JsonObject:
    """What `tracer requests --json` prints."""
    return {
        "schema": SCHEMA,
        "session_id": session_id,
        "requests": [request_json(request) for request in requests],
    }


def request_json(request: RequestSummary) -> JsonObject:
    """R: one request without its blocks."""
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
        "variant": known(request.variant),
        "mcs_state": mcs_state_json(request.mcs_state),
        "sections": [section_json(section) for section in request.sections],
        "reminders": [reminder_json(reminder) for reminder in request.reminders],
        "mcs": [mcs_json(message) for message in request.mcs],
        "markers": [marker_json(marker) for marker in request.markers],
        "tools": list(request.tools),
        "layout": layout_json(request.segments),
        "world_state": world_json(request.segments),
        "verdict": brief_json(request.verdict),
        "source_ref": source_ref(request.source),
    }


def marker_json(marker: Marker) -> JsonObject:
    """A cache breakpoint."""
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
        "blocks": [block_json(block, with_text=with_text) for block in detail.blocks],
        "blocks_from": detail.block_from,
        "block_total": detail.block_total,
        "parts": [_part(part) for part in detail.part_sizes],
        "prompt_tokens": {"bpe": detail.tokens_bpe, "estimate": detail.tokens_estimate},
        "uncounted_blocks": detail.uncounted_blocks,
        "calibration": detail.calibration,
        "response": [block_json(block, with_text=with_text) for block in detail.response],
        "response_provisional": detail.response_provisional,
        "log": [_log_line(line) for line in detail.log],
        "context_usage": _context_usage(detail.context_usage),
        "evidence": [
            {"code": evidence.code, "title": evidence.title, "detail": evidence.detail}
            for evidence in detail.evidence
        ],
        "masked_secrets": detail.masked_secrets,
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
        "anatomy": anatomy_json(detail.anatomy),
        "wire": wire_json(detail.anatomy.wire if detail.anatomy else None),
    }


def block_json(block: BlockView, *, with_text: bool) -> JsonObject:
    """One block."""
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
        "section": known(block.section),
        "sections": list(block.sections),
        "reminders": list(block.reminders),
        "chars": block.chars,
        "bytes": block.bytes,
        "tokens": {
            "bpe": block.tokens_bpe,
            "bpe_exact": None if block.tokens_bpe is None else block.tokens_bpe_exact,
            "estimate": block.tokens_estimate,
            "calibrated": block.tokens_calibrated,
        },
        "wire_hash": block.wire_hash,
        "marker": None if block.marker is None else marker_json(block.marker),
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
