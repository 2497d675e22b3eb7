"""The prefix is too short: providers do not cache prompts below a size that depends on the model.

There is no error; the marker is silently ignored. The same prompt can be cached on one model and
not on its sibling.
"""

from tracer.cache.case import Case
from tracer.cache.markers import has_marker, spots
from tracer.cache.wording import tokens
from tracer.model.verdict import Certainty, Fault, FoundCause

CODE = "BELOW_MINIMUM"
TITLE = "too short to be cached"
ORDER = 7
FIX = "Accept it, or put the marker behind a longer stable prefix."


def detect(case: Case) -> FoundCause | None:
    """Nothing read or written, and the marked prefix is below the model's minimum
    (cache-rules.md 2.3, 7)."""
    call = case.call
    least = case.provider.minimum.of(call.model)
    if call.read_tokens or call.write_tokens or least.value <= 0 or case.baseline is None:
        return None
    if case.provider.needs_opt_in.value and not has_marker(call):
        return None
    size = _marked_tokens(case)
    if size is None or size >= least.value:
        return None
    return FoundCause(
        code=CODE,
        certainty=Certainty.HIGH,
        summary=(
            f"The prefix of about {tokens(size)} is shorter than the {least.value:,} that "
            f"{call.model or 'this model'} needs, so it was not cached."
        ),
        fix=FIX,
        token_offset=0,
        fault=Fault.NOBODY,
        evidence=(f"minimum {least.value:,} ({least.source})", "read 0, write 0"),
    )


def _marked_tokens(case: Case) -> int | None:
    """The tokens up to the last marker of the earlier request, else its whole prompt: what could
    have been written."""
    baseline, difference = case.baseline, case.difference
    if baseline is not None and difference is not None:
        common = tuple(b for b in difference.boundaries if b.index < difference.common_blocks)
        marked = spots(baseline, common, difference.baseline_blocks - 1)
        if marked:
            return marked[-1].tokens
    return baseline.prompt_tokens if baseline else None
