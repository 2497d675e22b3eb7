"""What was made of a session's stored rows, kept beyond the revision that it was made in.

While one session grows, the others stay as they are, but every record makes a new revision. A value
is kept here with everything that it was made from, and is valid for whatever is equal to that. The
contents behind ids need no comparing: blocks, their texts and counts, and the nodes of prompts are
only ever added.
"""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

KEPT = 8
MOST_REQUESTS = 4_000
"""Of so many requests of all kept sessions their contents are in memory: some 30 MB a thousand."""
T = TypeVar("T")


def drop_oldest(
    values: OrderedDict[object, T],
    kept: int,
    weigh: Callable[[T], int] | None = None,
    limit: int = 0,
    *,
    spare_last: bool = True,
) -> None:
    """Drop what was used longest ago, until `kept` values are left and they weigh no more than
    `limit`; the last one may weigh more unless it is not to be spared."""
    while len(values) > kept:
        values.popitem(last=False)
    if weigh is None:
        return
    weights = [weigh(value) for value in values.values()]
    total = sum(weights)
    for weight in weights[: len(weights) - spare_last]:
        if total <= limit:
            break
        values.popitem(last=False)
        total -= weight


class Kept(Generic[T]):
    """Values by key, the one used longest ago goes first; those that `weigh` something weigh no
    more than `limit` in all, but for the last. Safe in threads."""

    def __init__(
        self, kept: int = KEPT, *, weigh: Callable[[T], int] | None = None, limit: int = 0
    ) -> None:
        self._kept = kept
        self._weigh = weigh
        self._limit = limit
        self._values: OrderedDict[object, tuple[object, T]] = OrderedDict()
        self._lock = Lock()

    def get(
        self,
        key: object,
        made_from: object,
        make: Callable[[], T],
        lasts: Callable[[T], bool] = lambda _: True,
    ) -> T:
        """The value of `key`, made where there is none, or one of something else than `made_from`;
        `lasts` tells whether nothing else can change it: else it is not kept."""
        with self._lock:
            found = self._values.get(key)
        if found is not None and found[0] == made_from:
            with self._lock:
                if key in self._values:
                    self._values.move_to_end(key)
            return found[1]
        value = make()
        with self._lock:
            self._values.pop(key, None)
            if lasts(value):
                self._values[key] = (made_from, value)
                weigh = self._weigh
                own = (lambda kept: weigh(kept[1])) if weigh else None
                drop_oldest(self._values, self._kept, own, self._limit)
        return value
