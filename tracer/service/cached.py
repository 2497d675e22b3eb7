"""What was loaded of a session, kept until something new is stored.

A page and its fragments ask for the same session many times; its rows and sums are the same as long
as the database's revision is. A few sessions are kept, the one used longest ago goes first.
"""

import gc
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from threading import Lock
from typing import Generic, TypeVar

from tracer.service.kept import drop_oldest
from tracer.service.memory import give_back
from tracer.store.records import connection_revision

KEPT = 6
_MANY_OBJECTS = 5_000
_LOADS_UNTIL_ALL = 64
_loads = count(1)
T = TypeVar("T")


@contextmanager
def uncollected() -> Iterator[None]:
    """No garbage collection while tens of thousands of rows become objects that all stay: looking
    at each of them again and again would take a third of the time. Afterwards so many are put where
    the next collections do not look; what is dropped of them is freed at once, as none is part of a
    circle. Now and then all are looked at again, since other threads may have left circles there.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            if gc.get_count()[0] > _MANY_OBJECTS:
                if next(_loads) % _LOADS_UNTIL_ALL == 0:
                    gc.unfreeze()
                else:
                    gc.freeze()
            gc.enable()


class RevisionCache(Generic[T]):
    """Values by key, valid for one revision of the database. Safe in threads.

    Those that `weigh` something weigh no more than `limit` in all, but for the last, which is kept
    whatever it weighs; and no more than half of that while another one is loaded, which takes room
    of its own.
    """

    def __init__(
        self, kept: int = KEPT, *, weigh: Callable[[T], int] | None = None, limit: int = 0
    ) -> None:
        self._kept = kept
        self._weigh = weigh
        self._limit = limit
        self._values: OrderedDict[object, tuple[int, T]] = OrderedDict()
        self._lock = Lock()

    def get(self, connection: sqlite3.Connection, key: object, load: Callable[[], T]) -> T:
        """The value of `key`, loaded where it is missing or from another revision. The connection
        must be in a read transaction, so that what is loaded belongs to the revision it reads."""
        revision = connection_revision(connection)
        with self._lock:
            found = self._values.get(key)
            if found is not None and found[0] == revision:
                self._values.move_to_end(key)
                return found[1]
            self._values.pop(key, None)  # it is not valid any more
            self._make_room(self._limit // 2, spare_last=False)
        with uncollected():
            value = load()
        with self._lock:
            self._values[key] = (revision, value)
            self._values.move_to_end(key)
            self._make_room(self._limit, spare_last=True)
        if self._weigh is not None and self._weigh(value) > self._limit // 2:
            give_back()
        return value

    def _make_room(self, limit: int, *, spare_last: bool) -> None:
        weigh = self._weigh
        own = (lambda kept: weigh(kept[1])) if weigh else None
        drop_oldest(self._values, self._kept, own, limit, spare_last=spare_last)
