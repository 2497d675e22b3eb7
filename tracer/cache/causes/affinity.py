"""The request may have reached another machine: nothing tied it to the one that holds the cache.

Large providers keep caches on single nodes. A session header or a cache key takes a request back to
its node; without one, equal prompts hit and miss in turn.
"""

from tracer.cache.case import Case
from tracer.cache.params import find_param
from tracer.cache.providers.base import HOUR_MS, Match
from tracer.cache.wording import times
from tracer.model.verdict import CallFacts, Certainty, FoundCause, Share

CODE = "AFFINITY"
TITLE = "answered by another server"
ORDER = 20
FIX = "Send a stable session header or cache key with every request of a conversation."
_HEADERS = ("x-session-id", "x-session-affinity", "x-affinity")
_SAWTOOTH = 2


def detect(case: Case) -> FoundCause | None:
    """The session header or key is absent or another one, or equal prompts hit and miss in turn
    (cache-rules.md 2.3, 20)."""
    if case.baseline is None or case.expected is None or case.provider.self_hosted:
        return None
    found = _changed(case) or _missing(case) or _sawtooth(case)
    if found is None:
        return None
    subtype, summary, evidence = found
    return FoundCause(
        code=CODE,
        subtype=subtype,
        certainty=Certainty.MEDIUM,
        summary=summary,
        fix=FIX,
        share=Share.BEFORE,
        evidence=tuple(evidence),
    )


def _changed(case: Case) -> tuple[str, str, tuple[str, ...]] | None:
    before, now = case.baseline, case.call
    if before is None:
        return None
    for name in dict.fromkeys((*case.provider.affinity_headers.value, *_HEADERS)):
        old, new = before.headers.get(name, ""), now.headers.get(name, "")
        if old and new and old != new:
            return (
                "key_changed",
                f"The header {name} changed, so another node may have answered.",
                (f"{name}: {old} → {new}",),
            )
    return None


def _missing(case: Case) -> tuple[str, str, tuple[str, ...]] | None:
    wanted = case.provider.affinity_headers
    call = case.call
    if not wanted.value or not call.headers or any(h in call.headers for h in wanted.value):
        return None
    return (
        "key_missing",
        f"No {wanted.value[0]} was sent, so any node may have answered.",
        (f"{wanted.value[0]} absent", f"rule: {wanted.source}"),
    )


def _sawtooth(case: Case) -> tuple[str, str, tuple[str, ...]] | None:
    """Reads that fell and came back without the prompt being cached anew in between."""
    by_markers = case.provider.match.of(case.call.model).value is Match.MARKERS
    if by_markers or not case.append_only:
        return None
    same = [e.facts for e in case.earlier if e.whole and e.facts.model == case.call.model]
    falls = sum(
        1
        for a, b, c in zip(same, same[1:], same[2:], strict=False)
        if _read(b) < _read(a) - case.noise and _read(c) >= _read(a) and _soon(case, a, b)
    )
    if falls < _SAWTOOTH:
        return None
    if find_param(case.call, r"prompt_?cache_?key") is not None:
        return None
    return (
        "sawtooth",
        "Equal prompts hit and miss in turn, as if several nodes answered.",
        (f"the read fell and came back {times(falls)} before",),
    )


def _read(call: CallFacts) -> int:
    return call.read_tokens or 0


def _soon(case: Case, before: CallFacts, call: CallFacts) -> bool:
    """True where the pause between two calls explains nothing."""
    if before.started_at_ms is None or call.started_at_ms is None:
        return False
    sure = case.lifetime.value.sure_ms
    return call.started_at_ms - before.started_at_ms <= (HOUR_MS if sure is None else sure)
