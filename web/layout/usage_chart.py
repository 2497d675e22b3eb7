"""What a session was billed, request by request, where no prompt tells more: tokens in and out,
the time to the first token, retries, how full the context was."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from web.layout.scale import bucket_size, rect

LEAST_SLOTS, MOST_COLUMNS = 24, 240


@dataclass(frozen=True, slots=True)
class UsagePoint:
    """One request. None is unknown. Of a request whose cache share was not reported, all of its
    input is `unsplit_tokens`."""

    read_tokens: int
    write_tokens: int
    fresh_tokens: int
    unsplit_tokens: int
    output_tokens: int | None
    first_token_ms: int | None
    context_used: int | None
    context_window: int | None
    retries: int
    title: str
    href: str


@dataclass(frozen=True, slots=True)
class UsageColumn:
    """A clickable column; `requests` of them share it. `retries` are marked above it."""

    title: str
    href: str
    requests: int
    retries: int


@dataclass(frozen=True, slots=True)
class UsageBand:
    """One band of the chart: its areas by class, as path data in a box of `slots` by 100, the value
    that its full height stands for, and of how many columns it is known.
    `of_window`: that value is the size of the context window."""

    name: str
    top: int
    areas: tuple[tuple[str, str], ...]
    known: int
    of_window: bool = False


@dataclass(frozen=True, slots=True)
class UsageChart:
    """The drawing, `slots` wide so that a few columns stay narrow. `each` is how many requests a
    column stands for: their sum of tokens, the longest wait, the fullest context."""

    bands: tuple[UsageBand, ...]
    columns: tuple[UsageColumn, ...]
    slots: int
    each: int


def usage_chart(points: Sequence[UsagePoint]) -> UsageChart | None:
    """The chart of a session's requests; None where there is nothing to draw."""
    if not any(p.read_tokens + p.write_tokens + p.fresh_tokens + p.unsplit_tokens for p in points):
        return None
    each = bucket_size(len(points), MOST_COLUMNS)
    runs = [points[i : i + each] for i in range(0, len(points), each)]
    parts = ("read", "write", "unsplit", "fresh")
    stacks = [[sum(getattr(p, f"{part}_tokens") for p in run) for part in parts] for run in runs]
    bands = [
        _band("input", stacks, parts, len(points)),
        _of("output", "out", [_sum(p.output_tokens for p in run) for run in runs]),
        _of("first_token", "wait", [_most(p.first_token_ms for p in run) for run in runs]),
        _context(runs),
    ]
    return UsageChart(
        tuple(band for band in bands if band is not None),
        tuple(map(_column, runs)),
        max(len(runs), LEAST_SLOTS),
        each,
    )


def _column(run: Sequence[UsagePoint]) -> UsageColumn:
    first = run[0]
    title = first.title if len(run) == 1 else f"{first.title}; and {len(run) - 1} more"
    retries = sum(p.retries for p in run)
    return UsageColumn(title, first.href, len(run), retries)


def _band(
    name: str, stacks: Sequence[Sequence[int]], parts: Sequence[str], known: int, top: int = 0
) -> UsageBand | None:
    top = top or max(map(sum, stacks), default=0)
    if not top:
        return None
    paths: list[list[str]] = [[] for _ in parts]
    for x, stack in enumerate(stacks):
        y = 100.0
        for path, value in zip(paths, stack, strict=True):
            high = 100 * value / top
            y -= high
            path.append(rect(x + 0.06, y, 0.88, high))
    areas = ((part, "".join(path)) for part, path in zip(parts, paths, strict=True))
    return UsageBand(name, top, tuple((part, path) for part, path in areas if path), known)


def _of(name: str, css: str, values: Sequence[int | None]) -> UsageBand | None:
    known = sum(value is not None for value in values)
    return _band(name, [(value or 0,) for value in values], (css,), known)


def _context(runs: Sequence[Sequence[UsagePoint]]) -> UsageBand | None:
    """How full the context was, against the largest window that was told."""
    window = max((p.context_window or 0 for run in runs for p in run), default=0)
    values = [_most(p.context_used for p in run) for run in runs]
    known = sum(value is not None for value in values)
    top = max(window, max((v or 0 for v in values), default=0))
    band = _band("context", [(value or 0,) for value in values], ("full",), known, top)
    return replace(band, of_window=bool(window)) if band else None


def _sum(values: Iterable[int | None]) -> int | None:
    found = [v for v in values if v is not None]
    return sum(found) if found else None


def _most(values: Iterable[int | None]) -> int | None:
    return max((v for v in values if v is not None), default=None)
