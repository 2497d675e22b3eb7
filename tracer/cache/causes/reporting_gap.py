"""The cache may have worked, and nobody reported it.

Servers leave the count out unless a flag asks for it, gateways drop it, adapters do not know it. A
missing number is not a zero; a zero for all requests since an update is suspicious.
"""

from statistics import median

from tracer.cache.case import Case
from tracer.model.verdict import CallFacts, Certainty, Fault, FoundCause, Share

CODE = "REPORTING_GAP"
TITLE = "the provider did not report it"
ORDER = 24
FIX = "Switch the report on (a server flag), or update the client or gateway that drops it."
_FEW = 3
_STABLE = 1.5


def detect(case: Case) -> FoundCause | None:
    """The read is absent, or 0 for all requests since a client's version changed while answers
    stayed as fast (cache-rules.md 2.3, 24)."""
    call = case.call
    if call.usage is not None and call.usage.cache_read_tokens is None:
        return FoundCause(
            code=CODE,
            subtype="absent",
            certainty=Certainty.CERTAIN,
            summary="The provider reported no cache read: unknown, which is not the same as 0.",
            fix=FIX,
            share=Share.NOTE,
            fault=Fault.NOBODY,
            evidence=("cache read: not reported", case.provider.convention.source),
        )
    return _zeroes(case)


def _zeroes(case: Case) -> FoundCause | None:
    call = case.call
    if call.read_tokens != 0 or not call.client_version:
        return None
    calls = [*(e.facts for e in case.earlier), call]
    now = [c for c in calls if c.client_version == call.client_version and _billed(c)]
    old = [c for c in calls if c.client_version != call.client_version and _billed(c)]
    if len(now) < _FEW or len(old) < _FEW or any(c.read_tokens for c in now):
        return None
    if not any(c.read_tokens for c in old):
        return None
    before, after = _first_token_ms(old), _first_token_ms(now)
    if before is None or after is None or after > before * _STABLE:
        return None
    return FoundCause(
        code=CODE,
        subtype="all_zero",
        certainty=Certainty.MEDIUM,
        summary=(
            f"Since version {call.client_version} every read is 0, and answers start as fast as "
            "before: the report is missing, not the cache."
        ),
        fix=FIX,
        share=Share.BEFORE,
        fault=Fault.NOBODY,
        evidence=(
            f"{len(now)} requests with version {call.client_version}, all with read 0",
            f"first token after {before:,.0f} ms before and {after:,.0f} ms since (median)",
        ),
    )


def _billed(call: CallFacts) -> bool:
    return call.read_tokens is not None


def _first_token_ms(calls: list[CallFacts]) -> float | None:
    waits = [
        c.first_token_at_ms - c.started_at_ms
        for c in calls
        if c.first_token_at_ms is not None and c.started_at_ms is not None
    ]
    return median(waits) if len(waits) >= _FEW else None
