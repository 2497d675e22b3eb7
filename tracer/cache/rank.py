"""Which cause explains a miss. Causes do not know each other; here they are ranked.

The prompt's earliest affected depth first, then certainty (cache-rules.md 2.3). Two causes can be
true at once: tokens before the first difference and tokens after it are then split between them. A
cause that often did no harm does not count against one that was established by elimination, and
where nothing fits, "not established" is the answer.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from tracer.cache.case import Case
from tracer.cache.causes import cause_named
from tracer.cache.expected import Expected
from tracer.cache.wording import times, tokens
from tracer.model.verdict import Certainty, FoundCause, Share

_CERTAINTIES = tuple(Certainty)
_LAST_RESORTS = frozenset({"SERVER_SIDE", "UNKNOWN"})
_BY_CHANCE = frozenset({"AFFINITY/key_missing", "AFFINITY/sawtooth"})
_OFTEN = 2
_WIDE = 2.5
"""How many times the usual error of a place is allowed where nothing else explains a miss."""
_SCOPE = frozenset({"MODEL_CHANGED", "ENDPOINT_CHANGED"})
COST_NOTHING, AGAINST = "it cost nothing here", "against it"
HARMLESS = (COST_NOTHING, AGAINST)
"""How the evidence begins that speaks against a cause."""

_REASON_FOR = {"TTL_DOWNGRADED": "TTL_EXPIRED"}
"""An entry that was written for too short a time expires: what it came from stands first."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """`causes` explain what was lost, the primary one first; `also` is true besides."""

    causes: tuple[FoundCause, ...] = ()
    also: tuple[FoundCause, ...] = ()

    @property
    def expected(self) -> bool:
        """True where all that was lost was meant to be."""
        return bool(self.causes) and all(cause.expected for cause in self.causes)


def rank(causes: Iterable[FoundCause], case: Case) -> Ranked:
    """The causes of a miss, in order, with their shares of the lost tokens."""
    expected = case.expected
    found = sorted((_with_history(f, case) for f in causes), key=_key)
    if expected is None:
        return Ranked()
    if not case.misses:
        return _harmless(found, expected)
    named = [f for f in found if f.share is not Share.NOTE and f.code not in _LAST_RESORTS]
    named = [f for f in named if not _weak(f, case)]
    effective = [f for f in named if _effective(f, expected)]
    # A change that is certain, a little before where the read stopped: the counts are off.
    named = effective or [f for f in named if _effective(f, expected, _WIDE)]
    content = [f for f in named if f.share in (Share.AFTER, Share.ALL)]
    timing = [f for f in named if f.share in (Share.BEFORE, Share.ALL)]
    timing.sort(key=lambda f: (_CERTAINTIES.index(f.certainty), _order(f)))
    first, second = timing[0] if timing else None, content[0] if content else None
    chosen = _choose(found, first, second, expected)
    return Ranked(chosen, _also(found, chosen, expected))


def _choose(
    found: list[FoundCause],
    first: FoundCause | None,
    second: FoundCause | None,
    expected: Expected,
) -> tuple[FoundCause, ...]:
    """At most one cause for the tokens before the difference (`first`) and one for those after it
    (`second`). A part that is no more than rounding needs no cause of its own."""
    before, after = expected.before_lost, expected.after_lost
    big_before, big_after = before > expected.noise, after > expected.noise
    if big_after and first is None and second is not None:
        # A change explains the miss; that the read stopped before it may be a matter of counts.
        error = round(_WIDE * expected.scale.error_at(expected.expected))
        big_before = before > max(expected.noise, error)
    if not big_before and not big_after:
        preferred = (first, second) if before > after else (second, first)
        one = preferred[0] or preferred[1] or _last_resort(found, before=before > after)
        return _alone(one, expected)
    if not big_after:
        return _alone(first or _last_resort(found, before=True), expected)
    if not big_before:
        return _alone(second or _last_resort(found, before=False), expected)
    if first is not None and first.share is Share.ALL:
        return _alone(first, expected)
    first = first or _last_resort(found, before=True)
    second = second or _last_resort(found, before=False)
    if first is None or second is None or first.code == second.code:
        return _alone(first or second, expected)
    pair = (replace(first, tokens=before), replace(second, tokens=after))
    if first.code in _LAST_RESORTS and after >= before:
        return pair[::-1]
    return pair


def _alone(one: FoundCause | None, expected: Expected) -> tuple[FoundCause, ...]:
    return (replace(one, tokens=expected.lost),) if one is not None else ()


def _last_resort(found: list[FoundCause], *, before: bool) -> FoundCause | None:
    wanted = ("SERVER_SIDE", "UNKNOWN") if before else ("UNKNOWN",)
    return next((f for code in wanted for f in found if f.code == code), None)


def _also(
    found: list[FoundCause], chosen: tuple[FoundCause, ...], expected: Expected
) -> tuple[FoundCause, ...]:
    codes = {f.code for f in chosen}
    rest = [f for f in found if f.code not in codes and f.code not in _LAST_RESORTS]
    return tuple(f if _effective(f, expected) else _read_past(f, expected) for f in rest)


def _harmless(found: list[FoundCause], expected: Expected) -> Ranked:
    """A hit: rounding is the cause; changes that cost nothing are told, conditions that would have
    explained a miss are not."""
    causes = tuple(f for f in found if f.code == "NOT_A_MISS_ROUNDING")
    also = tuple(
        f if f.share is Share.NOTE else _read_past(f, expected)
        for f in found
        if f not in causes
        and (f.share is Share.NOTE or (f.share is not Share.BEFORE and f.tier is not None))
    )
    return Ranked(causes, also)


def _read_past(one: FoundCause, expected: Expected) -> FoundCause:
    note = f"{COST_NOTHING}: {tokens(expected.read)} were read"
    return replace(one, evidence=(*one.evidence, note))


def _effective(one: FoundCause, expected: Expected, times_error: float = 1.0) -> bool:
    """False where the provider read past the place: the change is not one to its cache."""
    if one.token_offset is None or one.share not in (Share.AFTER, Share.ALL):
        return True
    if one.tier is None or one.code in _SCOPE:
        return True
    error = round(times_error * expected.scale.error_at(one.token_offset))
    doubt = max(expected.noise, error)
    return expected.read <= one.token_offset + doubt


def _weak(one: FoundCause, case: Case) -> bool:
    """True for a cause of medium certainty that has often done no harm. What strikes by chance is
    not refuted by the times that it did not."""
    if one.certainty is not Certainty.MEDIUM or one.signal in _BY_CHANCE:
        return False
    return case.counter_evidence(one.signal)[0] >= _OFTEN


def _with_history(one: FoundCause, case: Case) -> FoundCause:
    """The cause with what speaks against it (cache-rules.md 5, 17)."""
    harmless, all_times = case.counter_evidence(one.signal)
    if not harmless or one.share is Share.NOTE or one.code in _LAST_RESORTS:
        return one
    note = f"{AGAINST}: the same happened {times(harmless)} without a miss (of {all_times} in all)"
    return replace(one, evidence=(*one.evidence, note))


def _key(one: FoundCause) -> tuple[int, int, tuple[int, bool], str]:
    depth = one.token_offset if one.token_offset is not None else 0
    return (depth, _CERTAINTIES.index(one.certainty), _order(one), one.code)


def _order(one: FoundCause) -> tuple[int, bool]:
    """The order of the rules; the reason for another cause stands right before that."""
    cause = cause_named(_REASON_FOR.get(one.code, one.code))
    return cause.order if cause else 99, one.code not in _REASON_FOR
