"""The JSON of verdicts (`explain`, `misses` and the `verdict` of R in docs/json.md)."""

from collections.abc import Iterable

from tracer.jsonview.compare import line_json
from tracer.jsonview.core import SCHEMA, JsonObject, iso_time, known
from tracer.jsonview.usage import brief_json, usage_json
from tracer.model.verdict import Cost, FoundCause, ReadStop, Verdict
from tracer.model.verdict_views import CauseTotal, FirstChange, Misses, MissView, VerdictView


def explain_json(view: VerdictView) -> JsonObject:
    """What `tracer explain --json` prints."""
    return {
        "schema": SCHEMA,
        "key": view.key,
        "seq": view.seq,
        "session_id": view.session_id,
        "lane": view.lane,
        "model": known(view.model),
        "provider": view.provider,
        "rules_version": view.rules_version,
        "chosen_baseline": view.chosen,
        "verdict": verdict_json(view.verdict),
        "change": _change(view.change),
        "diagnostics": [
            {
                "source": said.source,
                "category": known(said.category),
                "missed_tokens": said.missed_tokens,
                "agreement": said.agreement,
                "sentence": said.sentence,
            }
            for said in view.diagnostics
        ],
        "usage": usage_json(view.usage),
    }


def verdict_json(verdict: Verdict) -> JsonObject:
    """A whole verdict."""
    return {
        "result": str(verdict.result),
        "one_line": known(verdict.one_line),
        "baseline": known(verdict.baseline_key),
        "baseline_reason": known(verdict.baseline_reason),
        "expected_read": verdict.expected_read_tokens,
        "actual_read": verdict.actual_read_tokens,
        "missed_tokens": verdict.missed_tokens,
        "avoidable_tokens": verdict.avoidable_tokens,
        "rebilled_tokens": verdict.rebilled_tokens,
        "noise_tokens": verdict.noise_tokens,
        "cost": _cost(verdict.cost),
        "causes": [_cause(cause) for cause in verdict.causes],
        "also": [_cause(cause) for cause in verdict.also],
        "checked_equal": list(verdict.checked_equal),
        "not_verifiable": list(verdict.not_verifiable),
        "convention": known(verdict.convention),
        "method": known(verdict.method),
        "read_stop": _read_stop(verdict.read_stop),
    }


def misses_json(misses: Misses, session_id: str, fail_over: int | None) -> JsonObject:
    """What `tracer misses --json` prints."""
    return {
        "schema": SCHEMA,
        "session_id": known(session_id),
        "total": misses.total,
        "missed_tokens": misses.missed_tokens,
        "avoidable_tokens": misses.avoidable_tokens,
        "rebilled_tokens": misses.rebilled_tokens,
        "fail_over": fail_over,
        "failed": fail_over is not None and misses.rebilled_tokens > fail_over,
        "unjudged_sessions": misses.unjudged_sessions,
        "causes": _totals(misses.causes),
        "misses": [_miss(miss) for miss in misses.misses],
    }


def _totals(causes: Iterable[CauseTotal]) -> list[JsonObject]:
    return [
        {
            "code": known(total.code),
            "subtype": known(total.subtype),
            "requests": total.requests,
            "missed_tokens": total.missed_tokens,
            "avoidable_tokens": total.avoidable_tokens,
            "rebilled_tokens": total.rebilled_tokens,
        }
        for total in causes
    ]


def _miss(miss: MissView) -> JsonObject:
    return {
        "key": miss.key,
        "seq": miss.seq,
        "session_id": miss.session_id,
        "session_title": known(miss.session_title),
        "lane": miss.lane,
        "model": known(miss.model),
        "started_at": iso_time(miss.started_at_ms),
        "verdict": brief_json(miss.brief),
        "fault": known(miss.fault),
        "tier": known(miss.tier),
        "block_index": miss.block_index,
        "message_index": miss.message_index,
        "section": known(miss.section),
        "reminder": known(miss.reminder),
    }


def _cause(cause: FoundCause) -> JsonObject:
    return {
        "code": cause.code,
        "subtype": known(cause.subtype),
        "certainty": str(cause.certainty),
        "fault": str(cause.fault),
        "expected": cause.expected,
        "tier": None if cause.tier is None else str(cause.tier),
        "block_index": cause.block_index,
        "message_index": cause.message_index,
        "section": known(cause.section),
        "reminder": known(cause.reminder),
        "char_offset": cause.char_offset,
        "token_offset": cause.token_offset,
        "tokens": cause.tokens,
        "summary": cause.summary,
        "before": known(cause.before),
        "after": known(cause.after),
        "evidence": list(cause.evidence),
        "fix": cause.fix,
    }


def _cost(cost: Cost | None) -> JsonObject | None:
    if cost is None:
        return None
    return {
        "amount": cost.amount,
        "currency": cost.currency,
        "formula": cost.formula,
        "source": cost.source,
    }


def _read_stop(stop: ReadStop | None) -> JsonObject | None:
    if stop is None:
        return None
    return {
        "read_tokens": stop.read_tokens,
        "index": stop.index,
        "tier": None if stop.tier is None else str(stop.tier),
        "message_index": stop.message_index,
        "boundary": stop.boundary,
        "boundary_tokens": stop.boundary_tokens,
        "distance_tokens": stop.distance_tokens,
        "agrees": stop.agrees,
        "sentence": stop.sentence,
        "block_tokens": stop.block_tokens,
        "into_tokens": stop.into_tokens,
        "section": known(stop.section),
        "reminder": known(stop.reminder),
    }


def _change(change: FirstChange | None) -> JsonObject | None:
    if change is None:
        return None
    return {
        "op": change.op,
        "place": change.place,
        "a_index": change.a_index,
        "b_index": change.b_index,
        "lines": [line_json(line) for line in change.lines],
        "more_hunks": change.more_hunks,
        "seen_key": known(change.seen_key),
        "seen_seq": change.seen_seq,
    }
