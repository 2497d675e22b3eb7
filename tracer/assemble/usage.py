"""Billed usage in four disjoint counts: fresh, cache read, cache write, output.

Providers and log writers disagree on whether the reported input contains the cache counts
(cache-rules.md 1.8); taking the wrong side halves or doubles every rate. The numbers themselves are
asked first, the format's word second. A count that was not reported stays unknown.
"""

from dataclasses import replace
from typing import Any

from tracer.model.usage import Convention, ReportedUsage, Usage

_COUNTS = (
    "input_tokens", "output_tokens", "total_tokens", "cache_read_tokens", "cache_write_tokens",
    "reasoning_tokens",
)  # fmt: skip


def normalise(reported: ReportedUsage) -> Usage:
    """The four counts, the convention, and in words how it was found."""
    reported = _counted(reported)
    convention, reason = detect_convention(reported)
    if reported.declared not in (Convention.UNKNOWN, convention):
        word = "includes" if reported.declared is Convention.INCLUSIVE else "excludes"
        reason += f"; the log's own word, that input {word} the cache counts, was overruled"
    if reported.left_out:
        names = ", ".join(reported.left_out)
        reason += f"; left out as no count: {names}"
    read, write = reported.cache_read_tokens, reported.cache_write_tokens
    given = reported.input_tokens
    total: int | None = given
    fresh: int | None = None
    if given is not None and read is not None:
        cached = read + (write or 0)
        if convention is Convention.EXCLUSIVE:
            fresh, total = given, given + cached
        elif convention is Convention.INCLUSIVE:
            fresh = max(given - cached, 0)
    elif given is not None and convention is Convention.EXCLUSIVE:
        fresh, total = given, None
    return Usage(
        input_tokens=total,
        fresh_tokens=fresh,
        cache_read_tokens=read,
        cache_write_tokens=write,
        output_tokens=reported.output_tokens,
        reasoning_tokens=reported.reasoning_tokens,
        convention=convention,
        reason=reason,
        raw_json=reported.raw_json,
    )


def _counted(reported: ReportedUsage) -> ReportedUsage:
    """The same without negative numbers: they count nothing, and would falsify every sum."""
    wrong = [name for name in _COUNTS if (getattr(reported, name) or 0) < 0]
    if not wrong:
        return reported
    unknown: dict[str, Any] = dict.fromkeys(wrong)
    return replace(reported, left_out=(*reported.left_out, *wrong), **unknown)


def detect_convention(reported: ReportedUsage) -> tuple[Convention, str]:
    """Inclusive or exclusive, and why (the self-check of cache-rules.md 1.8)."""
    given, output = reported.input_tokens, reported.output_tokens
    read, write = reported.cache_read_tokens or 0, reported.cache_write_tokens or 0
    if given is not None and read > given:
        return (
            Convention.EXCLUSIVE,
            f"cache read {read:,} is more than input {given:,}, so input excludes it",
        )
    total = reported.total_tokens
    if given is not None and output is not None and total is not None and read + write > 0:
        if total == given + output:
            return (
                Convention.INCLUSIVE,
                "total = input + output, so input includes the cache counts",
            )
        if total == given + read + write + output:
            return (
                Convention.EXCLUSIVE,
                "total = input + cache read + cache write + output, so input excludes the cache",
            )
    if given is not None and read + write > given:
        return (
            Convention.EXCLUSIVE,
            f"cache read and write {read + write:,} are more than input {given:,}, "
            "so input excludes them",
        )
    if reported.declared is not Convention.UNKNOWN:
        word = "includes" if reported.declared is Convention.INCLUSIVE else "excludes"
        return reported.declared, f"the log format defines that input {word} the cache counts"
    return Convention.UNKNOWN, "neither the log format nor the numbers say what input contains"
