"""The JSON of what a provider billed, and of what became of its cache in short."""

from tracer.jsonview.core import JsonObject, embedded, known
from tracer.model.usage import Usage
from tracer.model.verdict import VerdictBrief


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


def brief_json(brief: VerdictBrief | None) -> JsonObject | None:
    """A verdict in short: the primary cause stands in `causes`, as in a whole one."""
    if brief is None:
        return None
    cause = {
        "code": brief.code,
        "subtype": known(brief.subtype),
        "certainty": brief.certainty,
    }
    return {
        "result": str(brief.result),
        "one_line": known(brief.one_line),
        "baseline": known(brief.baseline_key),
        "expected_read": brief.expected_read_tokens,
        "actual_read": brief.actual_read_tokens,
        "missed_tokens": brief.missed_tokens,
        "avoidable_tokens": brief.avoidable_tokens,
        "rebilled_tokens": brief.rebilled_tokens,
        "causes": [cause] if brief.code else [],
    }
