"""Opening the database: one writer, many readers, WAL.

A reader opens read-only and never waits; the writer waits for another writer at most
BUSY_TIMEOUT_MS.
"""

import sqlite3
from pathlib import Path
from urllib.parse import quote

from sqlite_utils.db import Database

from tracer.errors import NewerStoreError, StoreError
from tracer.store.migrations import KNOWN_STEPS, migrations

BUSY_TIMEOUT_MS = 10_000
# A reader lives for one call: mapped pages stay warm from call to call, a page cache would not.
MMAP_BYTES = 1 << 30


def open_writer(path: Path) -> sqlite3.Connection:
    """A connection that may write, with the schema brought up to date.

    Raises StoreError where the file cannot be opened or is no database, NewerStoreError where a
    newer version wrote it.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_MS / 1000, isolation_level=None)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA cache_size=-32000")
        _migrate(connection, path)
        connection.execute("PRAGMA foreign_keys=OFF")
    except (sqlite3.Error, OSError) as error:
        raise StoreError(
            f"The database {path} cannot be used: {error}. Name another one with --db."
        ) from error
    return connection


def open_reader(path: Path) -> sqlite3.Connection:
    """A read-only connection. Raises StoreError, NewerStoreError."""
    if not path.exists():
        raise StoreError(
            f"There is no database at {path} yet. Run `tracer ingest` first, or name one with --db."
        )
    try:
        connection = sqlite3.connect(
            f"file:{quote(str(path))}?mode=ro", uri=True, timeout=BUSY_TIMEOUT_MS / 1000,
            isolation_level=None, check_same_thread=False,
        )  # fmt: skip
        connection.execute("PRAGMA query_only=ON")
        connection.execute(f"PRAGMA mmap_size={MMAP_BYTES}")
        connection.execute("PRAGMA cache_size=-16000")
        _check_known(connection, path)
    except sqlite3.Error as error:
        raise StoreError(f"The database {path} cannot be read: {error}.") from error
    return connection


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    _check_known(connection, path)
    database = Database(connection)
    if migrations.pending(database):
        migrations.apply(database)


def _check_known(connection: sqlite3.Connection, path: Path) -> None:
    table = connection.execute(
        "SELECT 1 FROM sqlite_master WHERE name = '_sqlite_migrations'"
    ).fetchone()
    if table is None:
        return
    applied = {
        row[0]
        for row in connection.execute(
            "SELECT name FROM _sqlite_migrations WHERE migration_set = 'context-tracer'"
        )
    }
    unknown = applied - KNOWN_STEPS
    if unknown:
        raise NewerStoreError(
            f"The database {path} was written by a newer version of Context Tracer "
            f"({', '.join(sorted(unknown))}). Upgrade with `pip install -U context-tracer`, or "
            "name another database with --db."
        )
