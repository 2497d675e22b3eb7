"""The cache entry had expired: too long a pause since a request last wrote or read it.

A lifetime runs from the START of that request, so a long answer eats into it; every read renews it
for free. Four minutes of streaming leave one minute of a five-minute entry.
"""

from tracer.cache.case import Case
from tracer.cache.wording import duration
from tracer.model.verdict import Certainty, Fault, FoundCause, Share

CODE = "TTL_EXPIRED"
TITLE = "expired"
ORDER = 13
FIX = (
    "Ask for a longer lifetime where pauses are usual, send a keep-alive where that is cheaper, "
    "or compact before leaving."
)


def detect(case: Case) -> FoundCause | None:
    """The gap from start to start exceeds the lifetime that was written, and nothing renewed the
    entry in between (cache-rules.md 2.3, 13)."""
    gap, lifetime = case.gap_ms, case.lifetime
    sure, gone = lifetime.value.sure_ms, lifetime.value.gone_ms
    if gap is None or sure is None or gap <= sure or case.expected is None:
        return None
    over = gone is not None and gap > gone
    limit = gone if over and gone is not None else sure
    last = case.sharers[-1].facts if case.sharers else case.baseline
    evidence = [
        f"gap {duration(gap)}, from start to start",
        f"lifetime {duration(limit)} ({lifetime.source})",
        f"last used by request {last.key}" if last else "",
    ]
    doubt = "" if over else " The provider does not promise more, but may keep it longer."
    had = "had expired" if over else "had probably expired"
    return FoundCause(
        code=CODE,
        certainty=Certainty.HIGH if over else Certainty.MEDIUM,
        summary=(
            f"The cache entry {had}: {duration(gap)} passed since a request last used it, "
            f"and it lives {duration(limit)}.{doubt}"
        ),
        fix=FIX,
        share=Share.BEFORE,
        fault=Fault.USER,
        evidence=tuple(e for e in evidence if e),
    )
