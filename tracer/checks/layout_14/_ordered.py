"""The fewest elements that have to leave a list for the rest to rise."""

from bisect import bisect_left
from collections.abc import Sequence


def out_of_order(values: Sequence[int]) -> list[int]:
    """The places of the elements outside a longest rising part of the list; values differ from
    each other. The time is that of sorting."""
    if all(a < b for a, b in zip(values, values[1:], strict=False)):
        return []
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for place, value in enumerate(values):
        length = bisect_left(ends, value)
        before.append(last[length - 1] if length else -1)
        if length == len(ends):
            ends.append(value)
            last.append(place)
        else:
            ends[length], last[length] = value, place
    kept: set[int] = set()
    at = last[-1] if last else -1
    while at >= 0:
        kept.add(at)
        at = before[at]
    return [place for place in range(len(values)) if place not in kept]
