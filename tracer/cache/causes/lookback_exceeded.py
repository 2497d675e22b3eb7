"""Too much was added since the last marker: the provider walks back only so far to find an entry.

The prompt is equal, the entry is there, and nobody looks at it. Long runs of tool calls and results
in one step are the usual reason.
"""

from tracer.cache.case import Case
from tracer.cache.markers import positions_between, reachable, spots
from tracer.model.verdict import Certainty, FoundCause

CODE = "LOOKBACK_EXCEEDED"
TITLE = "too many new blocks since the last marker"
ORDER = 16
FIX = "Set a second marker, about every 15 positions, or keep the previous marker where it was."


def detect(case: Case) -> FoundCause | None:
    """More positions than the lookback between the last written marker and this request's next
    one (cache-rules.md 2.3, 16)."""
    call, baseline, difference = case.call, case.baseline, case.difference
    limit = case.provider.lookback.value
    if baseline is None or difference is None or limit is None:
        return None
    now = spots(call, difference.boundaries, difference.current_blocks - 1)
    common = tuple(b for b in difference.boundaries if b.index < difference.common_blocks)
    written = spots(baseline, common, difference.baseline_blocks - 1)
    if not now or not written:
        return None
    entry = written[-1]
    if reachable(entry, now, difference.boundaries, case.provider):
        return None
    behind = [s for s in now if s.block >= entry.block]
    if not behind:
        return None
    runs = case.provider.tool_runs_are_one.value
    walked = min(
        positions_between(difference.boundaries, entry.block, s.block, runs) for s in behind
    )
    return FoundCause(
        code=CODE,
        certainty=Certainty.HIGH,
        summary=(
            f"The last entry lies {walked} positions before the marker, and the provider walks "
            f"back {limit}."
        ),
        fix=FIX,
        tier=entry.tier,
        token_offset=0 if len(written) == 1 else written[-2].tokens,
        evidence=(
            f"entry at {entry.label or f'block {entry.block}'}, about token {entry.tokens:,}",
            f"next marker at {behind[0].label or f'block {behind[0].block}'}",
            "a run of tool calls, or of tool results, counts once" if runs else "each block counts",
            f"rule: {case.provider.lookback.source}",
        ),
    )
