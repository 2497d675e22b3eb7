"""The clock of the cache: how old the prefix was when a request asked for it.

A full lane is a lifetime. Past it the bar is hatched and has a sign, so that it can be told without
its colour.
"""

from tracer.model.surroundings import CacheClock, Surroundings
from tracer.model.views import Timeline
from web.filters import duration, num
from web.layout.axis import UNIT
from web.layout.lanes.base import Lane, LaneBars, LaneMark, Piece, RowName, Scene
from web.layout.scale import rect

HEIGHT = 17
_HINT = (
    "time since the prefix was last written or read, as a share of how long the cache keeps it;"
    " hatched: longer than that"
)


def lived_share(clock: CacheClock) -> float | None:
    """The age of the prefix as a share of its lifetime; None where no lifetime is known."""
    life = clock.gone_ms or clock.sure_ms
    return clock.idle_ms / life if life else None


def clock_words(clock: CacheClock) -> str:
    """The clock in words: 47 min after request 52; a prefix lives 30 min (Z.ai / GLM)."""
    since = f"{duration(clock.idle_ms)} after request {num(clock.baseline_seq)}"
    if clock.sure_ms is None and clock.gone_ms is None:
        return f"{since}; how long the cache keeps a prefix is not known"
    if clock.sure_ms is not None and clock.gone_ms is not None and clock.sure_ms < clock.gone_ms:
        lives = f"{duration(clock.sure_ms)} for sure, {duration(clock.gone_ms)} at most"
    else:
        lives = duration(clock.gone_ms or clock.sure_ms)
    late = " (over)" if (lived_share(clock) or 0) > 1 else ""
    return f"{since}{late}; the cache keeps a prefix {lives} ({clock.source})"


def _draw(scene: Scene) -> Piece:
    drawn: dict[str, list[tuple[float, float, float]]] = {"age": [], "over": []}
    marks = []
    for slot in scene.axis.slots:
        known = [c for column in slot.columns
                 if (c := scene.around.clocks.get(column.request.key)) is not None]  # fmt: skip
        if not known:
            continue
        oldest = max(known, key=lambda clock: lived_share(clock) or 0.0)
        share = lived_share(oldest)
        x = scene.axis.percent(slot.middle)
        if share is None:
            marks.append(LaneMark("v-not_reported", x))
            continue
        high = max(0.8, min(share, 1.0) * HEIGHT)
        wide = max(slot.right - slot.left - 0.12, 0.5) * UNIT
        drawn["over" if share > 1 else "age"].append((slot.left * UNIT, wide, high))
        if share > 1:
            marks.append(LaneMark("late", x))

    def bars(top: int) -> tuple[LaneBars, ...]:
        base = top + HEIGHT + 2
        return tuple(
            LaneBars(css, "".join(rect(x, base - high, wide, high) for x, wide, high in found),
                     css == "over")
            for css, found in drawn.items() if found
        )  # fmt: skip

    return Piece((RowName("Cache clock", hint=_HINT),), marks=tuple(marks), bars=bars, ruled=False)


def _has(timeline: Timeline, around: Surroundings) -> bool:
    return any(request.baseline_key for request in timeline.outline)


LANE = Lane("clock", 15, "Cache clock", _HINT, _draw, _has)
