"""Something between client and provider changes the prompt or its markers.

A gateway may move system messages, drop headers, or replace the cache key. The client's own bytes
are equal, and only requests that go through it miss.
"""

from tracer.cache.case import Case
from tracer.cache.wording import percent
from tracer.model.verdict import CallFacts, Certainty, FoundCause, Share

CODE = "GATEWAY_REWRITE"
TITLE = "a gateway rewrote it"
ORDER = 25
FIX = "Compare with a direct call; fix the gateway's transformation, or go around it."
_FEW = 3
_GOOD = 0.5
_BAD = 0.1


def detect(case: Case) -> FoundCause | None:
    """Equal prompts that miss through one endpoint and hit through another
    (cache-rules.md 2.3, 25)."""
    call = case.call
    if case.baseline is None or not call.endpoint or not case.append_only:
        return None
    history = case.history
    calls = (*(e.facts for e in case.earlier), *history.others, *history.elsewhere)
    known = [c for c in {c.key: c for c in calls}.values() if _billed(c, call)]
    here = [c for c in (*known, call) if c.endpoint == call.endpoint]
    there = [c for c in known if c.endpoint and c.endpoint != call.endpoint]
    if len(here) < _FEW or len(there) < _FEW or _rate(here) > _BAD or _rate(there) < _GOOD:
        return None
    other = there[0].endpoint
    return FoundCause(
        code=CODE,
        certainty=Certainty.MEDIUM,
        summary=(
            f"Requests through {call.endpoint} read next to nothing, through {other} they read "
            "most: what lies between seems to change them."
        ),
        fix=FIX,
        share=Share.BEFORE,
        evidence=(
            f"{call.endpoint}: {percent(_rate(here), 1)} of the input read ({len(here)} requests)",
            f"others: {percent(_rate(there), 1)} ({len(there)} requests)",
        ),
    )


def _billed(other: CallFacts, call: CallFacts) -> bool:
    return other.read_tokens is not None and bool(other.prompt_tokens) and other.model == call.model


def _rate(calls: list[CallFacts]) -> float:
    total = sum(c.prompt_tokens or 0 for c in calls)
    return sum(c.read_tokens or 0 for c in calls) / total if total else 0.0
