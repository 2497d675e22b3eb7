"""Another conversation took the place of this one on a server of your own.

A server keeps what fits into its slots and memory. A title call, a subagent or a second session in
between can push the conversation out.
"""

from tracer.cache.case import Case
from tracer.cache.wording import names, times
from tracer.model.verdict import CallFacts, Certainty, FoundCause, Share

CODE = "SIDECAR_EVICTION"
TITLE = "pushed out by other calls"
ORDER = 19
FIX = "Give the server more slots or cache memory, or send side calls to another server."


def detect(case: Case) -> FoundCause | None:
    """Self-hosted, and calls of other lanes ran in between (cache-rules.md 2.3, 19)."""
    if not case.provider.self_hosted or case.baseline is None or case.expected is None:
        return None
    between = [o for o in case.history.others if _between(case, o)]
    if not between:
        return None
    lanes = sorted({o.lane or o.query_source or o.key for o in between})
    calm = _calm_hits(case)
    return FoundCause(
        code=CODE,
        certainty=Certainty.HIGH if calm >= 2 else Certainty.MEDIUM,
        summary=(
            f"{len(between)} other {'call' if len(between) == 1 else 'calls'} used the server in "
            f"between ({names(lanes)}) and may have taken the slot."
        ),
        fix=FIX,
        share=Share.BEFORE,
        evidence=(
            f"in between: {names([o.key for o in between])}",
            *((f"without such calls the prefix was read {times(calm)}",) if calm else ()),
        ),
    )


def _between(case: Case, other: CallFacts) -> bool:
    baseline = case.baseline
    if baseline is None or other.lane == case.call.lane or other.started_at_ms is None:
        return False
    same_server = (
        not other.endpoint or not case.call.endpoint or other.endpoint == case.call.endpoint
    )
    return same_server and baseline.order < other.order < case.call.order


def _calm_hits(case: Case) -> int:
    """Earlier requests without such calls in between that missed nothing."""
    return sum(1 for p in case.history.past if not p.missed and f"{CODE}/" not in p.signals)
