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
T = TypeVar("T")


class Kept(Generic[T]):
    """Values by key, the one used longest ago goes first. Safe in threads."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
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
                while len(self._values) > self._kept:
                    self._values.popitem(last=False)
        return value
