"""Bars of what each cause cost, on one scale."""

from collections.abc import Sequence
from dataclasses import dataclass

from tracer.model.verdict_views import CauseTotal
from web.layout.scale import percent

SMALLEST_SHARE = 0.5
"""A bar is at least so many percent wide: it must be seen, however small."""


@dataclass(frozen=True, slots=True)
class CauseBar:
    """One cause: in percent of the largest, what was missed and behind it what was avoidable."""

    total: CauseTotal
    missed: float
    avoidable: float


def cause_bars(totals: Sequence[CauseTotal]) -> tuple[CauseBar, ...]:
    """The bars, the costliest first."""
    order = sorted(totals, key=lambda t: (-t.rebilled_tokens, t.code, t.subtype))
    scale = max((max(t.rebilled_tokens, _both(t)) for t in order), default=0) or 1
    return tuple(
        CauseBar(t, _width(t.missed_tokens, scale), _width(t.avoidable_tokens, scale))
        for t in order
    )


def _both(total: CauseTotal) -> int:
    return total.missed_tokens + total.avoidable_tokens


def _width(tokens: int, scale: int) -> float:
    return max(SMALLEST_SHARE, percent(tokens, scale)) if tokens else 0.0
