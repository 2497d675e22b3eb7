"""What a provider or an agent says about its own cache misses, beside our verdict.

Vendors name a category and an estimate, the first cause only, and sometimes nothing at all; "not
found", "unavailable" and pending answers say nothing and must not be read as "no change"
(cache-rules.md 1.9 and 5, 19).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from tracer.cache.wording import tokens
from tracer.model.json_values import whole_of
from tracer.model.verdict import Result, Verdict


class Agreement(StrEnum):
    """How a diagnostic and a verdict relate."""

    AGREE = "agree"
    CONFLICT = "conflict"
    SILENT = "silent"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A diagnostic of a log. `category` is the vendor's word; `codes` are the causes of ours that
    it stands for (none: it says nothing about the cause). `missed_tokens` is its estimate."""

    source: str
    category: str
    codes: tuple[str, ...]
    missed_tokens: int | None = None
    hit: bool = False


@dataclass(frozen=True, slots=True)
class Weighed:
    """A diagnostic beside a verdict, with a sentence for people."""

    agreement: Agreement
    sentence: str


_ANTHROPIC = {
    "model_changed": ("MODEL_CHANGED",),
    "system_changed": ("SYSTEM_CHANGED",),
    "tools_changed": ("TOOLS_CHANGED",),
    "messages_changed": ("HISTORY_REWRITTEN", "TAIL_WINDOW", "BREAKPOINT_UNREACHABLE"),
}
_OPENAI = {
    "model_changed": ("MODEL_CHANGED",),
    "prompt_cache_key_changed": ("PARAM_CHANGED", "AFFINITY"),
    "service_tier_changed": ("PARAM_CHANGED",),
    "tools_changed": ("TOOLS_CHANGED",),
    "text_format_changed": ("PARAM_CHANGED",),
    "reasoning_effort_changed": ("PARAM_CHANGED",),
    "verbosity_changed": ("PARAM_CHANGED",),
    "context_compacted": ("HISTORY_REWRITTEN",),
    "input_changed": ("SYSTEM_CHANGED", "HISTORY_REWRITTEN", "TAIL_WINDOW"),
}
_CLAUDE_CODE = {
    "system_prompt_changed": ("SYSTEM_CHANGED",),
    "tools_changed": ("TOOLS_CHANGED",),
    "model_changed": ("MODEL_CHANGED",),
    "messages_rewritten": ("HISTORY_REWRITTEN", "TAIL_WINDOW"),
    "ttl_expired_5m": ("TTL_EXPIRED", "TTL_DOWNGRADED"),
    "ttl_expired_1h": ("TTL_EXPIRED",),
    "likely_server_side": ("SERVER_SIDE", "SERVER_STRIPPED", "AFFINITY"),
}


def parse_diagnostics(found: Mapping[str, object]) -> tuple[Diagnostic, ...]:
    """The diagnostics in a response's JSON, or in a status object; none where there are none."""
    parsed = (_anthropic(found), _openai(found), _claude_code(found))
    return tuple(d for d in parsed if d is not None)


def _anthropic(found: Mapping[str, object]) -> Diagnostic | None:
    """`diagnostics.cache_miss_reason`: {type, cache_missed_input_tokens}, or null while pending."""
    holder = found.get("diagnostics", found)
    if not isinstance(holder, Mapping) or "cache_miss_reason" not in holder:
        return None
    reason = holder["cache_miss_reason"]
    if not isinstance(reason, Mapping):
        return Diagnostic("Anthropic", "pending", ())
    kind = str(reason.get("type", ""))
    return Diagnostic(
        "Anthropic",
        kind,
        _ANTHROPIC.get(kind, ()),
        whole_of(reason.get("cache_missed_input_tokens")),
    )


def _openai(found: Mapping[str, object]) -> Diagnostic | None:
    """`cache_hit`, or `cache_miss`: {reason, cache_missed_tokens}, or that it cannot be said."""
    holder = found.get("prompt_cache_diagnostics", found.get("prompt_cache", found))
    if not isinstance(holder, Mapping):
        return None
    kind = holder.get("type")
    miss = holder if kind == "cache_miss" else holder.get("cache_miss")
    if isinstance(miss, Mapping):
        reason = str(miss.get("reason", ""))
        return Diagnostic(
            "OpenAI", reason, _OPENAI.get(reason, ()), whole_of(miss.get("cache_missed_tokens"))
        )
    for word in ("cache_hit", "comparison_response_not_found", "unavailable"):
        if kind == word or word in holder:
            return Diagnostic("OpenAI", word, (), hit=word == "cache_hit")
    return None


def _claude_code(found: Mapping[str, object]) -> Diagnostic | None:
    """The status line's `prompt_cache.last_miss_cause`: {causes: [...]}."""
    holder = found.get("prompt_cache", found)
    cause = holder.get("last_miss_cause") if isinstance(holder, Mapping) else None
    if not isinstance(cause, Mapping):
        return None
    listed = cause.get("causes")
    names = [str(name) for name in listed] if isinstance(listed, list) else []
    codes = tuple(code for name in names for code in _CLAUDE_CODE.get(name, ()))
    return Diagnostic("Claude Code", ", ".join(names) or "unknown", codes)


def compare(diagnostic: Diagnostic, verdict: Verdict) -> Weighed:
    """Whether a diagnostic agrees with a verdict. It knows one cause, so any of ours will do."""
    said = f"{diagnostic.source} says {diagnostic.category.replace('_', ' ') or 'nothing'}"
    if diagnostic.missed_tokens is not None:
        said += f" (about {tokens(diagnostic.missed_tokens)})"
    lost = verdict.result in (Result.PARTIAL, Result.MISS, Result.EXPECTED_REBUILD)
    if diagnostic.hit:
        agreement = Agreement.CONFLICT if verdict.is_miss else Agreement.AGREE
        return Weighed(agreement, f"{said}; we see {_ours(verdict)}.")
    if not diagnostic.codes:
        return Weighed(Agreement.SILENT, f"{said}, which says nothing about what changed.")
    primary = {c.code for c in verdict.causes}
    besides = {c.code for c in verdict.also}
    if primary & set(diagnostic.codes):
        return Weighed(Agreement.AGREE, f"{said}, and so do we.")
    if besides & set(diagnostic.codes):
        return Weighed(Agreement.AGREE, f"{said}; we saw that too, and put {_ours(verdict)} first.")
    if not lost:
        return Weighed(
            Agreement.SILENT,
            f"{said}; the read was not lower for it, so the change came late or cost nothing.",
        )
    return Weighed(Agreement.CONFLICT, f"{said}; we see {_ours(verdict)}.")


def _ours(verdict: Verdict) -> str:
    if verdict.causes:
        return verdict.causes[0].code
    return f"no cause ({verdict.result.value})"
