"""Reading: one snapshot a call, or one for all calls that a page makes."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tracer.service.cached import uncollected
from tracer.store.readers import Reader, Readers


class _Shared(threading.local):
    """What the calls of one thread share: how deep they stand in a reading, and its connection."""

    depth = 0
    reader: Reader | None = None


class Snapshots:
    """Reads one database. Safe in threads: they share no connection that is in use. Between
    readings none is in a transaction, so nothing keeps the writer from tidying up."""

    def __init__(self, db_path: Path) -> None:
        self._readers = Readers(db_path)
        self._shared = _Shared()

    @contextmanager
    def one_reading(self) -> Iterator[None]:
        """All calls of this thread inside read one state of the database, over one connection."""
        shared = self._shared
        shared.depth += 1
        try:
            yield
        finally:
            shared.depth -= 1
            if not shared.depth and shared.reader is not None:
                reader, shared.reader = shared.reader, None
                self._readers.give_back(reader)

    @property
    def lasts(self) -> bool:
        """Whether the reading of this thread goes on when the present call has ended."""
        return self._shared.depth > 1

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A connection in a read transaction: one snapshot for all queries."""
        with self.one_reading(), uncollected():
            if self._shared.reader is None:
                self._shared.reader = self._readers.take()
            yield self._shared.reader.connection
