"""The provider did not return what it had: everything that the client can influence was equal.

Entries are evicted, requests are routed to other nodes, units are not kept. This is named only
after all else was ruled out: the prefix was compared and equal, parameters too, and the pause was
short.
"""

from tracer.cache.case import Case
from tracer.cache.checks import CHECKED, checked_equal, unverified
from tracer.cache.expected import endpoint_changed, model_changed
from tracer.cache.providers.base import Lost
from tracer.cache.wording import duration, tokens
from tracer.model.verdict import Certainty, Fault, FoundCause, Share

CODE = "SERVER_SIDE"
TITLE = "the provider's side"
ORDER = 22
FIX = "Nothing to change on the client; report it with both request ids if it comes again."


def detect(case: Case) -> FoundCause | None:
    """An equal prefix, equal parameters, a gap within the lifetime, and a read far below
    (cache-rules.md 2.3, 22)."""
    expected, baseline = case.expected, case.baseline
    if expected is None or baseline is None or expected.before_lost <= expected.noise:
        return None
    if model_changed(case.call, baseline) or endpoint_changed(case.call, baseline):
        return None
    if case.difference is None or unverified(case) or _may_have_expired(case):
        return None
    if any(c.lost is not Lost.NOTHING for c in case.params):
        return None
    recovery = _recovery(case)
    evidence = [f"{CHECKED}{item}" for item in checked_equal(case)]
    if case.gap_ms is not None:
        evidence.append(f"gap {duration(case.gap_ms)}, from start to start")
    if recovery:
        evidence.append(recovery)
    if not case.provider.guaranteed.value:
        evidence.append(f"normal here: {case.provider.guaranteed.source}")
    normal = "" if case.provider.guaranteed.value else " This cache gives no guarantee."
    return FoundCause(
        code=CODE,
        subtype="transient" if recovery else "",
        certainty=Certainty.ELIMINATION,
        summary=(
            f"The provider's side, by elimination: {tokens(expected.before_lost)} were identical "
            f"and reachable, and were not read.{normal}"
        ),
        fix=FIX,
        token_offset=expected.read,
        share=Share.BEFORE,
        fault=Fault.PROVIDER,
        evidence=tuple(evidence),
    )


def _may_have_expired(case: Case) -> bool:
    """True where a lifetime is known and the pause was longer. Without a known lifetime an hour is
    the longest pause that rules expiry out."""
    gap, lifetime = case.gap_ms, case.lifetime.value
    if gap is None:
        return False
    return gap > (lifetime.sure_ms if lifetime.sure_ms is not None else _LONG_MS)


_LONG_MS = 3_600_000


def _recovery(case: Case) -> str:
    """The next request with the same prefix, where it read again."""
    later, expected = case.history.later, case.expected
    if later is None or expected is None or not case.history.later_extends:
        return ""
    read = later.read_tokens
    if read is None or read < expected.expected - expected.noise:
        return ""
    written = case.call.write_tokens
    note = "" if written else ", although this one reported no write"
    return f"the next request with the same prefix read {tokens(read)} again{note}"
