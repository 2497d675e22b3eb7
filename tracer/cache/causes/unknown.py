"""The cause could not be established.

What was checked, what the log does not show, and what would establish it are listed. A guess would
be worth less than that.
"""

from tracer.cache.case import Case
from tracer.cache.checks import would_establish
from tracer.cache.wording import duration, tokens
from tracer.model.verdict import Certainty, Fault, FoundCause

CODE = "UNKNOWN"
TITLE = "not established"
ORDER = 26
FIX = "Log what is missing, and look again when it happens the next time."


def detect(case: Case) -> FoundCause | None:
    """More than rounding was lost (cache-rules.md 2.3, 26); ranked behind every other cause."""
    expected = case.expected
    if expected is None or not case.misses:
        return None
    wanted = would_establish(case)
    gap = case.gap_ms
    evidence = () if gap is None else (f"gap {duration(gap)}, from start to start",)
    return FoundCause(
        code=CODE,
        certainty=Certainty.UNKNOWN,
        summary=f"Not established: {tokens(expected.lost)} were cached before and were not read.",
        fix=f"What would establish it: {'; '.join(wanted)}." if wanted else FIX,
        token_offset=expected.read,
        fault=Fault.NOBODY,
        evidence=evidence,
    )
