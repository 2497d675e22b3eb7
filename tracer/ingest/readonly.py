"""Opening another program's database so that it cannot notice: no write, no lock that a writer
would wait for, no checkpoint, no file created beside it.

| beside the file | how it is read |
| --- | --- |
| no `-wal`, or an empty one | as a file that nobody changes; after each read: did it change? |
| `-wal` and `-shm` | as one more reader of a live database, for short moments |
| `-wal` without `-shm`, `-journal`, or a folder that cannot be written | a private copy |
"""

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from tracer.ingest.files import open_regular

MAGIC = b"SQLite format 3\x00"
BUSY_MS = 200
_WAL_HEADER_BYTES = 32
_RACY_NS = 50_000_000


class BusyError(Exception):
    """The database was changed or locked while it was read: try again."""


class Facts(NamedTuple):
    """What `stat` says of a database and its log."""

    device: int
    inode: int
    size_bytes: int
    mtime_ns: int
    wal_bytes: int
    wal_mtime_ns: int
    has_journal: bool

    @property
    def total_bytes(self) -> int:
        """The size of both files."""
        return self.size_bytes + self.wal_bytes

    @property
    def changed_ns(self) -> int:
        """When either file was written last."""
        return max(self.mtime_ns, self.wal_mtime_ns)


def facts_of(path: Path) -> Facts:
    """Facts of a database. Raises OSError."""
    main = os.stat(path)
    try:
        wal = os.stat(f"{path}-wal")
        wal_bytes, wal_mtime = wal.st_size, wal.st_mtime_ns
    except OSError:
        wal_bytes, wal_mtime = 0, 0
    return Facts(
        main.st_dev, main.st_ino, main.st_size, main.st_mtime_ns, wal_bytes, wal_mtime,
        os.path.exists(f"{path}-journal"),
    )  # fmt: skip


def is_database(path: Path) -> bool:
    """True where a file begins as SQLite's databases do."""
    try:
        with open_regular(path) as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def is_settled(facts: Facts, now_ns: int) -> bool:
    """False where a file was written so lately that another write could leave the same time."""
    return now_ns - facts.changed_ns > _RACY_NS


class Opened:
    """An open database. `how` is `still`, `live` or `copy`."""

    def __init__(self, connection: sqlite3.Connection, path: Path, how: str, facts: Facts) -> None:
        self.connection = connection
        self.how = how
        self._path = path
        self._facts = facts

    def rows(self, sql: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query, read in one short transaction. Raises BusyError."""
        try:
            found = self.connection.execute(sql, values).fetchall()
        except sqlite3.DatabaseError as error:
            if self.how == "still" and self._has_changed():
                raise BusyError from error
            if is_busy(error):
                raise BusyError from error
            raise
        if self.how == "still" and self._has_changed():
            raise BusyError
        return found

    def _has_changed(self) -> bool:
        """A page that was written back while it was read may be half old and half new."""
        now = facts_of(self._path)
        return now[:4] != self._facts[:4] or now.has_journal


def is_busy(error: sqlite3.DatabaseError) -> bool:
    """True for errors that pass: locked, busy, a log that is being recovered or replaced."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)


@contextmanager
def opened(path: Path) -> Iterator[Opened]:
    """A database opened for reading. Raises BusyError, sqlite3.Error, OSError."""
    facts = facts_of(path)
    has_wal = facts.wal_bytes > _WAL_HEADER_BYTES
    if facts.has_journal or (has_wal and not os.path.exists(f"{path}-shm")):
        with _copied(path, facts) as copy:
            yield copy
        return
    if not has_wal:
        connection = _connect(path, "mode=ro&immutable=1")
        try:
            yield Opened(connection, path, "still", facts)
        finally:
            connection.close()
        return
    live = _live(path)
    if live is None:
        with _copied(path, facts) as copy:
            yield copy
        return
    try:
        yield Opened(live, path, "live", facts)
    finally:
        live.close()


def _live(path: Path) -> sqlite3.Connection | None:
    """A reader of a live database; None where its shared memory cannot be used."""
    connection = _connect(path, "mode=ro")
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchall()
    except sqlite3.DatabaseError as error:
        connection.close()
        if is_busy(error):
            raise BusyError from error
        if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            return None
        raise
    return connection


def _connect(path: Path, options: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"file:{quote(str(path))}?{options}", uri=True, timeout=BUSY_MS / 1000, isolation_level=None
    )
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    connection.execute("PRAGMA query_only=ON")
    connection.execute("PRAGMA trusted_schema=OFF")
    return connection


@contextmanager
def _copied(path: Path, facts: Facts) -> Iterator[Opened]:
    """A private copy with its log, both taken at one moment. Raises BusyError."""
    with tempfile.TemporaryDirectory(prefix="context-tracer-") as folder:
        target = Path(folder) / "copy.sqlite"
        for suffix in ("", "-wal", "-journal"):
            try:
                shutil.copyfile(f"{path}{suffix}", f"{target}{suffix}")
            except FileNotFoundError:
                if not suffix:
                    raise
        if facts_of(path) != facts:
            raise BusyError
        connection = _connect(target, "mode=rwc")
        try:
            yield Opened(connection, target, "copy", facts_of(target))
        finally:
            connection.close()
