"""The read is lower than the shared prefix only by the provider's rounding.

Caches keep whole blocks, or stop at markers. What does not fill a block is read again; it is no
loss that anybody can avoid.
"""

from tracer.cache.case import Case
from tracer.cache.wording import tokens
from tracer.model.verdict import Certainty, Fault, FoundCause, Share

CODE = "NOT_A_MISS_ROUNDING"
TITLE = "rounding to the provider's blocks"
ORDER = 2
FIX = "Nothing to do."


def detect(case: Case) -> FoundCause | None:
    """0 <= common - read <= noise, after something was read (cache-rules.md 2.3, 2)."""
    expected = case.expected
    if expected is None or case.misses or expected.read <= 0:
        return None
    short = expected.common - expected.read
    if not 0 < short <= max(expected.noise, expected.granularity):
        return None
    block = expected.granularity
    if block > 1 and expected.read % block == 0:
        summary = (
            f"{expected.common:,} shared tokens give a read of {expected.read:,}: "
            f"whole blocks of {block}."
        )
        certainty = Certainty.CERTAIN
    else:
        summary = f"The read ends {tokens(short)} before the end of the shared prefix: no loss."
        certainty = Certainty.HIGH
    return FoundCause(
        code=CODE,
        certainty=certainty,
        summary=summary,
        fix=FIX,
        share=Share.NOTE,
        fault=Fault.NOBODY,
        evidence=(expected.method, f"less than {tokens(expected.noise)} is rounding"),
    )
