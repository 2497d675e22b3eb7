"""Small helpers that every drawing shares: numbers, rectangles as path data, buckets."""

from math import ceil


def coord(value: float) -> str:
    """A coordinate with one decimal at most."""
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text


def percent(value: float, whole: float) -> float:
    """`value` as a percentage of `whole`, two decimals; 0 of nothing."""
    return round(100 * value / whole, 2) if whole else 0.0


def rect(x: float, y: float, width: float, height: float) -> str:
    """A rectangle as a piece of path data; nothing where it has no area."""
    if height <= 0 or width <= 0:
        return ""
    wide = coord(width)
    return f"M{coord(x)} {coord(y)}h{wide}v{coord(height)}h-{wide}z"


def bucket_size(count: int, most: int) -> int:
    """How many neighbours share one slot, so that `count` items take at most `most` slots."""
    return max(1, ceil(count / most))
