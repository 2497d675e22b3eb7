"""The overview strip: every request of a session in a few paths, however many there are."""

from collections.abc import Sequence
from dataclasses import dataclass

from tracer.model.events import Status
from tracer.model.views import RequestOutline
from web.layout.scale import bucket_size, coord, percent
from web.layout.window import Window

WIDTH = 1000
HEIGHT = 36
MOST_BARS = 500
MOST_JUMPS = 40


@dataclass(frozen=True, slots=True)
class Jump:
    """One of equal clickable stretches of the strip, and the window that a click shows."""

    window: Window


@dataclass(frozen=True, slots=True)
class Overview:
    """Path data in a box of 1000 by 36, and the current window in percent."""

    read: str
    write: str
    fresh: str
    unreported: str
    failed: str
    missed: str
    window_x: float
    window_width: float
    selected_x: float | None
    jumps: tuple[Jump, ...]
    merged: int


def _sizes(request: RequestOutline) -> tuple[int, int, int, int]:
    """Read, written, fresh and unsplit tokens of a request."""
    if request.input_tokens is None:
        return (0, 0, 0, request.prompt_tokens)
    read = request.cache_read_tokens
    if read is None:
        return (0, 0, 0, request.input_tokens)
    write = request.cache_write_tokens or 0
    return (read, write, max(0, request.input_tokens - read - write), 0)


def _skyline(tops: Sequence[float], bottoms: Sequence[float], step: float) -> str:
    """Bars between two step lines as one path: a subpath for each run that has an area."""
    parts: list[str] = []
    for i, (top, bottom) in enumerate(zip(tops, bottoms, strict=True)):
        if bottom - top < 0.05:
            continue
        wide = coord(step)
        parts.append(f"M{coord(i * step)} {coord(top)}h{wide}V{coord(bottom)}h-{wide}z")
    return "".join(parts)


def overview(
    requests: Sequence[RequestOutline], window: Window, selected: int | None = None
) -> Overview:
    """The strip. Where several requests share a bar, the largest of them is drawn.

    `selected` is a column counted from 1.
    """
    total = len(requests)
    each = bucket_size(total, MOST_BARS)
    sizes = [_sizes(request) for request in requests]
    bars = [max(sizes[i : i + each], key=sum) for i in range(0, total, each)]
    top = max((sum(bar) for bar in bars), default=0) or 1
    step = WIDTH * each / total if total else 0.0
    edges: list[list[float]] = [[float(HEIGHT)] * len(bars)]
    for kind in range(4):
        below = edges[-1]
        edges.append(
            [y - (HEIGHT - 2) * bar[kind] / top for y, bar in zip(below, bars, strict=True)]
        )
    paths = [_skyline(edges[k + 1], edges[k], step) for k in range(4)]
    failed = sorted({i // each for i, r in enumerate(requests) if r.status == Status.FAILED})
    missing = {i // each for i, r in enumerate(requests) if r.is_miss}
    lows = [float(HEIGHT) if i in missing else top_y for i, top_y in enumerate(edges[4])]
    lost = _skyline(edges[4], lows, step)
    wide = coord(max(step, 2))
    ticks = "".join(f"M{coord(i * step)} 0h{wide}v6h-{wide}z" for i in failed)
    return Overview(
        read=paths[0],
        write=paths[1],
        fresh=paths[2],
        unreported=paths[3],
        failed=ticks,
        missed=lost,
        window_x=percent(window.first - 1, total),
        window_width=percent(window.count, total),
        selected_x=None if selected is None else percent(selected - 0.5, total),
        jumps=_jumps(window),
        merged=each,
    )


def _jumps(window: Window) -> tuple[Jump, ...]:
    """Equal stretches over the whole strip, each with the window around its middle."""
    total = window.total
    if not total or window.is_all:
        return ()
    count = min(MOST_JUMPS, total)
    return tuple(Jump(window.around(round((i + 0.5) * total / count) or 1)) for i in range(count))
