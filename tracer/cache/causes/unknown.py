"""The cause could not be established.

What was checked, and what the log does not show, is listed; so is what to log next time. A guess
would be worth less than that.
"""

from tracer.cache.case import Case
from tracer.cache.checks import not_verifiable, would_establish
from tracer.cache.wording import duration, tokens
from tracer.model.verdict import CauseFinding, Certainty, Fault

CODE = "UNKNOWN"
ORDER = 26
FIX = "Log what is missing, and look again when it happens the next time."


def detect(case: Case) -> CauseFinding | None:
    """More than rounding was lost (cache-rules.md 2.3, 26); ranked behind every other cause."""
    expected = case.expected
    if expected is None or not case.misses:
        return None
    wanted = would_establish(case)
    evidence = list(not_verifiable(case))
    gap = case.gap_ms
    if gap is not None:
        evidence.append(f"gap {duration(gap)}, from start to start")
    evidence += [f"would establish it: {item}" for item in wanted]
    return CauseFinding(
        code=CODE,
        certainty=Certainty.UNKNOWN,
        summary=f"Not established: {tokens(expected.lost)} were cached before and were not read.",
        fix=f"Next time: {'; '.join(wanted)}." if wanted else FIX,
        token_offset=expected.read,
        fault=Fault.NOBODY,
        evidence=tuple(evidence),
    )
