"""The verdict for one request: the decision tree of cache-rules.md 2.0 to 2.5.

Pure: the same facts give the same verdict, in whatever order the tuples of the history come.
"""

from dataclasses import replace

from tracer.cache.case import Case
from tracer.cache.causes import cause_named, detect_all
from tracer.cache.causes.first_in_scope import cached_by, is_first
from tracer.cache.causes.no_usage import has_no_usage
from tracer.cache.checks import checked_equal, not_verifiable
from tracer.cache.expected import MIN_NOISE_TOKENS, expect, is_log_window
from tracer.cache.ordering import ordered_difference, ordered_history
from tracer.cache.params import find_param
from tracer.cache.prices import PriceTable, miss_cost
from tracer.cache.providers.base import Provider
from tracer.cache.rank import Ranked, rank
from tracer.cache.scale import EXACT, anchored
from tracer.cache.where import read_stop
from tracer.cache.wording import percent, tokens
from tracer.model.usage import Convention
from tracer.model.verdict import (
    CallFacts,
    Cost,
    Difference,
    FoundCause,
    History,
    Purpose,
    Result,
    Share,
    Verdict,
)

_EXPECTED_PURPOSES = frozenset({Purpose.COMPACTION})


def explain(
    call: CallFacts,
    baseline: CallFacts | None,
    difference: Difference | None,
    history: History,
    provider: Provider,
    prices: PriceTable | None = None,
    baseline_reason: str = "",
) -> Verdict:
    """The verdict for a request against a baseline.

    `difference` is what comparing the two prompts found, None where no prompt is logged. `prices`
    None means that no costs are wanted.
    """
    early = _not_judged(call, provider)
    if early is not None:
        return early
    history = ordered_history(history)
    scale = EXACT
    if difference is not None:
        difference = ordered_difference(difference)
        if not _read_whole(call, baseline, difference):
            difference, scale = anchored(difference, call, history.earlier)
    usable = difference
    if baseline and difference and is_log_window(call, baseline, difference):
        usable = None
    expected = expect(call, baseline, usable, history, provider, scale) if baseline else None
    case = Case(call, baseline, difference, history, provider, expected)
    found = detect_all(case)
    compacted = _compacted(case, found)
    if expected is None or (is_first(case) and not compacted):
        return _first(case, found, baseline_reason)
    ranked = _ranked(found, case, compacted)
    result = _result(case, ranked)
    doubt = max(expected.noise, scale.error_at(usable.common_tokens) if usable else 0)
    boundaries = difference.boundaries if difference else ()
    stop = read_stop(expected.read, boundaries, _within(usable, expected.common), doubt)
    lost = expected.lost if case.misses else 0
    expected_rebuild = result is Result.EXPECTED_REBUILD
    return Verdict(
        result=result,
        one_line=_one_line(case, ranked, result),
        baseline_key=baseline.key if baseline else "",
        baseline_reason=baseline_reason,
        expected_read_tokens=expected.expected,
        actual_read_tokens=expected.read,
        missed_tokens=expected.before_lost if lost and not expected_rebuild else 0,
        avoidable_tokens=_avoidable(case, ranked) if lost and not expected_rebuild else 0,
        rebilled_tokens=lost,
        noise_tokens=expected.noise,
        cost=_cost(call, lost, provider, prices),
        causes=ranked.causes,
        also=ranked.also,
        checked_equal=checked_equal(case),
        not_verifiable=not_verifiable(case),
        convention=convention_text(call),
        method=expected.method,
        read_stop=stop,
        signals=_signals(found),
    )


def _within(difference: Difference | None, common: int) -> Difference | None:
    """The difference, with no more in common than the earlier prompt was billed for: counts scaled
    to this request's bill may say more."""
    if difference is None or difference.append_only or difference.common_tokens <= common:
        return difference
    return replace(difference, common_tokens=common)


def _read_whole(call: CallFacts, baseline: CallFacts | None, difference: Difference) -> bool:
    """True where the prompt was appended to and the read took in all of the one before: no place
    inside it has to be known."""
    before = baseline.prompt_tokens if baseline else None
    if before is None or not difference.append_only:
        return False
    return (call.read_tokens or 0) >= before - MIN_NOISE_TOKENS


def _not_judged(call: CallFacts, provider: Provider) -> Verdict | None:
    """Stage 0: calls without usage, and usage without a read (cache-rules.md 2.1)."""
    if has_no_usage(call):
        result, code = Result.NO_USAGE, "NO_USAGE"
    elif call.read_tokens is None:
        result, code = Result.NOT_REPORTED, "REPORTING_GAP"
    else:
        return None
    cause = cause_named(code)
    found = cause.detect(Case(call, None, None, History(), provider, None)) if cause else None
    return Verdict(
        result=result,
        one_line=found.summary if found else "",
        causes=(found,) if found else (),
        not_verifiable=("the cache read: not reported",) if code == "REPORTING_GAP" else (),
        convention=convention_text(call),
        signals=(found.signal,) if found else (),
    )


def _first(case: Case, found: tuple[FoundCause, ...], reason: str) -> Verdict:
    """Nothing to compare with, or nothing that could have been read."""
    causes = tuple(f for f in found if f.code == "FIRST_IN_SCOPE")
    summary = causes[0].summary if causes else "The size of the earlier prompt is not known."
    read = case.call.read_tokens or 0
    more = f" {tokens(read)} were read anyway, most likely cached by {cached_by(case)}."
    return Verdict(
        result=Result.FIRST,
        one_line=summary + (more if read else ""),
        baseline_key=case.baseline.key if case.baseline else "",
        baseline_reason=reason,
        actual_read_tokens=case.call.read_tokens,
        causes=causes,
        not_verifiable=() if causes else ("the size of the earlier prompt",),
        convention=convention_text(case.call),
    )


def _ranked(found: tuple[FoundCause, ...], case: Case, compacted: tuple[FoundCause, ...]) -> Ranked:
    """The causes in order; a compaction that cost nothing is one, too."""
    ranked = rank(found, case)
    if compacted:
        # It goes on from the conversation that was compacted, however little they share.
        ranked = replace(ranked, also=tuple(f for f in ranked.also if f.code != "FIRST_IN_SCOPE"))
    if not compacted or case.misses:
        return ranked
    return Ranked(compacted, tuple(f for f in ranked.also if f.code != compacted[0].code))


def _compacted(case: Case, found: tuple[FoundCause, ...]) -> tuple[FoundCause, ...]:
    """The compaction after which a conversation begins anew, where there was one: what it threw
    away is no longer there to be missed."""
    difference = case.difference
    if difference is None or difference.append_only or case.call.purpose in _EXPECTED_PURPOSES:
        return ()
    return tuple(f for f in found if f.subtype == "COMPACTION" and f.expected)[:1]


def _result(case: Case, ranked: Ranked) -> Result:
    if not case.misses:
        return Result.EXPECTED_REBUILD if ranked.expected else Result.HIT
    prewarm = find_param(case.call, r"(^|\.)max_?(output_?)?tokens$") == "0"
    if ranked.expected or prewarm or case.call.purpose in _EXPECTED_PURPOSES:
        return Result.EXPECTED_REBUILD
    return Result.PARTIAL if case.call.read_tokens else Result.MISS


def _avoidable(case: Case, ranked: Ranked) -> int:
    """What the client's own changes cost: all after the difference, but what was meant to be, and
    what nobody can help (a prompt too short to be cached)."""
    expected = case.expected
    if expected is None:
        return 0
    after = next((f for f in ranked.causes if f.share in (Share.AFTER, Share.ALL)), None)
    if after is not None and (after.expected or after.code == "BELOW_MINIMUM"):
        return 0
    return expected.after_lost


def _cost(call: CallFacts, lost: int, provider: Provider, prices: PriceTable | None) -> Cost | None:
    if prices is None or not lost:
        return None
    price = prices.of(provider.name, call.model, call.provider_id)
    if price is None:
        return None
    return miss_cost(lost, price, wrote=bool(call.write_tokens), hour=bool(call.write_1h_tokens))


def _one_line(case: Case, ranked: Ranked, result: Result) -> str:
    expected = case.expected
    if expected is None:
        return ""
    if result is Result.HIT:
        return _hit_line(case)
    primary = ranked.causes[0] if ranked.causes else None
    why = primary.summary if primary else "Not established."
    if result is Result.EXPECTED_REBUILD:
        if not case.misses:
            size = tokens(case.call.prompt_tokens or 0)
            return f"{why} As expected, only {expected.read:,} of {size} were read from the cache."
        return f"{why} As expected, {tokens(expected.lost)} were read anew."
    second = ""
    if len(ranked.causes) > 1:
        other = ranked.causes[1]
        second = f" {tokens(other.tokens or 0)} of them for another reason: {other.summary}"
    if primary is not None and primary.code in ("UNKNOWN", "SERVER_SIDE"):
        return f"{why}{second}"
    return f"{why} {tokens(expected.lost)} that were cached before were billed again.{second}"


def _hit_line(case: Case) -> str:
    expected = case.expected
    if expected is None:
        return ""
    if expected.reusable <= expected.noise and not expected.read:
        least = max(case.provider.minimum.of(case.call.model).value, MIN_NOISE_TOKENS)
        shared = f"Nothing to gain: only {tokens(expected.reusable)} were shared"
        if expected.reusable < least:
            return f"{shared}, too few to judge a cache by (less than {least:,})."
        return f"{shared}."
    line = f"Hit: {expected.read:,} of the {tokens(expected.common)} shared with the request before"
    line += " were read"
    if expected.read >= expected.common:
        return f"{line}, all of them."
    if expected.granularity > 1 and expected.read % expected.granularity == 0:
        return f"{line}; the rest is rounding to blocks of {expected.granularity}."
    return f"{line}; the rest is too little to matter."


def _signals(found: tuple[FoundCause, ...]) -> tuple[str, ...]:
    """The conditions that were seen, without those that say that nothing was."""
    silent = {"UNKNOWN", "SERVER_SIDE", "NOT_A_MISS_ROUNDING"}
    return tuple(sorted({f.signal for f in found if f.code not in silent}))


def convention_text(call: CallFacts) -> str:
    """The convention of the usage, why, and what the naive rate would have been: adding the read to
    an input that already contains it counts it twice (cache-rules.md 0, finding 1)."""
    usage = call.usage
    if usage is None:
        return ""
    text = f"{usage.convention.value}: {usage.reason}" if usage.reason else usage.convention.value
    total, read = usage.input_tokens, usage.cache_read_tokens
    if usage.convention is Convention.INCLUSIVE and total and read:
        text += (
            f". {read:,} of {total:,} is {percent(read, total)}; adding the read to the input "
            f"again would show {percent(read, total + read)}, a double count"
        )
    return text
