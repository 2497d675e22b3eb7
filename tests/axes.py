"""An x axis as a test wants it."""

from tests.factories import a_column
from web.layout.axis import Axis, Slot


def places(first: int, last: int, each: int, count: int) -> Axis:
    """An axis of `count` places with `each` requests a slot."""
    columns = [a_column(seq) for seq in range(first, last + 1)]
    groups = [columns[i : i + each] for i in range(0, len(columns), each)]
    slots = (Slot(float(i), i + 1.0, g[0], tuple(g)) for i, g in enumerate(groups))
    return Axis("request", tuple(slots), float(count), each)
