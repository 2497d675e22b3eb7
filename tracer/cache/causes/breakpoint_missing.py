"""The conversation carries no marker, so only tools and system are cached.

The read stays at the size of tools and system, and the rest is paid in full at every step.
"""

from tracer.cache.case import Case
from tracer.cache.markers import has_marker, has_message_marker
from tracer.cache.providers.base import Match
from tracer.model.prompt import Tier
from tracer.model.verdict import Certainty, FoundCause

CODE = "BREAKPOINT_MISSING"
TITLE = "no cache marker"
ORDER = 15
FIX = "Mark the last block of the newest message in every request."


def detect(case: Case) -> FoundCause | None:
    """No marker in the messages of this request or of the one before it
    (cache-rules.md 2.3, 15)."""
    call, baseline = case.call, case.baseline
    if baseline is None or case.provider.match.of(call.model).value is not Match.MARKERS:
        return None
    if not has_marker(call):
        return None
    here, there = has_message_marker(call), has_message_marker(baseline)
    if here is not False and there is not False:
        return None
    which = "this request" if here is False else "the request before it"
    if here is False and there is False:
        which = "this request and the one before it"
    floor = _written_tokens(case)
    return FoundCause(
        code=CODE,
        certainty=Certainty.HIGH,
        summary=f"No message of {which} carries a marker, so the conversation is not cached.",
        fix=FIX,
        tier=Tier.MESSAGES,
        token_offset=floor,
        evidence=(
            f"markers before: {_places(baseline.markers)}",
            f"markers now: {_places(call.markers)}",
            *((f"the deepest entry ends at about token {floor:,}",) if floor is not None else ()),
        ),
    )


def _written_tokens(case: Case) -> int | None:
    """Where the entries end that markers did write: tools and system, or an older marker."""
    if case.difference is None or not case.difference.boundaries:
        return case.call.read_tokens
    ends = [b.end_tokens for b in case.difference.boundaries if b.tier is not Tier.MESSAGES]
    return max([*ends, case.expected.expected if case.expected else 0])


def _places(markers: object) -> str:
    if not isinstance(markers, tuple):
        return "not logged"
    return ", ".join(f"{m.tier.value} {m.index}" for m in markers) or "none"
