"""Connections that read, kept open from one reading to the next.

Opening one costs about a millisecond, and its first statements some more: the schema is parsed and
every statement compiled anew. An idle connection holds no snapshot, so the writer can tidy up.
"""

import os
import sqlite3
import weakref
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from tracer.store.connect import check_steps, open_reader
from tracer.store.transactions import begin_reading

MOST_IDLE = 3
"""A page and two fragments of it that are asked for at once."""


@dataclass(slots=True)
class Reader:
    """A connection, and the file that it reads as it was found last."""

    connection: sqlite3.Connection
    device: int
    inode: int
    size_bytes: int

    def reads(self, found: os.stat_result) -> bool:
        """Whether this is still the file of that name. One that was replaced is another; one that
        shrank was written over, and to touch what is mapped behind its end would end the process.
        """
        same = (found.st_dev, found.st_ino) == (self.device, self.inode)
        return same and found.st_size >= self.size_bytes


class Readers:
    """The connections of one database. Safe in threads: each is in one hand at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._idle: list[Reader] = []
        self._lock = Lock()
        weakref.finalize(self, _close, self._idle)

    def take(self) -> Reader:
        """A connection in a read transaction: one snapshot for all queries. Raises StoreError,
        NewerStoreError."""
        reader = self._kept() or self._opened()
        try:
            begin_reading(reader.connection)
        except sqlite3.Error:
            reader.connection.close()
            raise
        return reader

    def give_back(self, reader: Reader) -> None:
        """End the transaction. What reads a file that is gone, or is one too many, is closed."""
        found = _found(self._path)
        if found is not None and reader.reads(found):
            reader.connection.rollback()
            reader.size_bytes = found.st_size
            with self._lock:
                if len(self._idle) < MOST_IDLE:
                    self._idle.append(reader)
                    return
        reader.connection.close()

    def _kept(self) -> Reader | None:
        """An idle connection to a database that no newer version took over since."""
        while (reader := self._popped()) is not None:
            found = _found(self._path)
            if found is not None and reader.reads(found):
                try:
                    check_steps(reader.connection, self._path)
                except BaseException:
                    reader.connection.close()
                    raise
                return reader
            reader.connection.close()
        return None

    def _popped(self) -> Reader | None:
        with self._lock:
            return self._idle.pop() if self._idle else None

    def _opened(self) -> Reader:
        # Looked at before it is opened: one that is replaced in between is opened again next time.
        found = _found(self._path)
        connection = open_reader(self._path)
        if found is None:
            return Reader(connection, 0, 0, 0)
        return Reader(connection, found.st_dev, found.st_ino, found.st_size)


def _found(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None


def _close(idle: list[Reader]) -> None:
    for reader in idle:
        reader.connection.close()
