"""The request went to another place: another base URL, region, workspace or upstream host.

Each of them has a cache of its own; the same prompt is new there.
"""

from tracer.cache.case import Case
from tracer.cache.expected import endpoint_changed
from tracer.model.verdict import Certainty, Fault, FoundCause

CODE = "ENDPOINT_CHANGED"
TITLE = "other endpoint"
ORDER = 4
FIX = "Pin the provider, region and order of hosts for a session, and keep the cache key."

_HEADERS = ("anthropic-workspace-id", "x-openrouter-provider", "openai-organization", "x-upstream")


def detect(case: Case) -> FoundCause | None:
    """Base URL, provider, workspace or upstream host differ (cache-rules.md 2.3, 4)."""
    call, baseline = case.call, case.baseline
    if baseline is None:
        return None
    found = []
    if endpoint_changed(call, baseline):
        for name in ("endpoint", "provider_id"):
            old, new = getattr(baseline, name), getattr(call, name)
            if old and new and old != new:
                found.append((name.replace("_id", ""), old, new))
    for header in _HEADERS:
        old, new = baseline.headers.get(header, ""), call.headers.get(header, "")
        if old and new and old != new:
            found.append((header, old, new))
    if not found:
        return None
    name, old, new = found[0]
    return FoundCause(
        code=CODE,
        subtype=name,
        certainty=Certainty.CERTAIN,
        summary=f"The request went to another {name}: {old} became {new}.",
        fix=FIX,
        token_offset=0,
        before=old,
        after=new,
        fault=Fault.CLIENT,
        evidence=tuple(f"{n}: {a} → {b}" for n, a, b in found),
    )
