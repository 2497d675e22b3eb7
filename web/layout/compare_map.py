"""Two prompts as two bars on one scale of tokens: what is equal, came, changed, moved, went."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tracer.model.compare_views import ChangeView
from tracer.model.comparison import Op
from web.filters import num
from web.layout.scale import percent

SMALLEST_SHARE = 0.2
"""A change is at least so many percent wide: it must be seen, however small."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A stretch of one prompt in percent of the longer one; `index` is its first change."""

    css: str
    x: float
    width: float
    tokens: int
    index: int

    @property
    def label(self) -> str:
        """The stretch in words."""
        return f"{self.css.replace('-', ', ')}: {num(self.tokens)} tokens"


@dataclass(frozen=True, slots=True)
class CompareMap:
    """The bars of A and B, and where in B the first difference is (None: nowhere)."""

    a: tuple[Bar, ...]
    b: tuple[Bar, ...]
    parted: float | None


def compare_map(
    changes: Sequence[ChangeView], a_tokens: int, b_tokens: int, parted: int | None
) -> CompareMap:
    """The bars of two prompts; `parted` is the token of B at which they part."""
    scale = max(a_tokens, b_tokens, 1)
    in_a = sorted(
        (made for made in changes if made.change.a_index is not None),
        key=lambda made: made.change.a_index or 0,
    )
    in_b = (made for made in changes if made.change.b_index is not None)
    return CompareMap(
        a=_bars(((made, made.a_tokens or 0) for made in in_a), scale),
        b=_bars(((made, made.b_tokens or 0) for made in in_b), scale),
        parted=None if parted is None else percent(parted, scale),
    )


def _bars(sized: Iterable[tuple[ChangeView, int]], scale: int) -> tuple[Bar, ...]:
    bars: list[Bar] = []
    at = 0
    for made, tokens in sized:
        css = _css(made)
        last = bars[-1] if bars else None
        if last is not None and last.css == css:
            both = last.tokens + tokens
            bars[-1] = replace(last, width=percent(both, scale), tokens=both)
        else:
            bars.append(Bar(css, percent(at, scale), percent(tokens, scale), tokens, made.index))
        at += tokens
    return tuple(_seen(bar) for bar in bars)


def _css(made: ChangeView) -> str:
    op = made.change.op
    if op is Op.EQUAL:
        return "equal" if made.change.verified else "equal-not proven"
    return op.value


def _seen(bar: Bar) -> Bar:
    if bar.css.startswith("equal") or bar.width >= SMALLEST_SHARE:
        return bar
    return replace(bar, x=min(bar.x, 100 - SMALLEST_SHARE), width=SMALLEST_SHARE)
