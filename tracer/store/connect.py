"""Opening the database: one writer, many readers, WAL.

A reader opens read-only and never waits. Writers of several processes take turns, a batch each.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from sqlite_utils.db import Database

from tracer.errors import NewerStoreError, StoreError
from tracer.store.migrations import KNOWN_STEPS, migrations
from tracer.store.readings import mark_current, next_unread, read_again, rules_are_current
from tracer.store.transactions import (
    ASK_S,
    BUSY_TIMEOUT_MS,
    WRITE_TIMEOUT_S,
    begin_writing,
    commit_quietly,
)

# Mapped pages are shared by all readers, which a page cache is not.
MMAP_BYTES = 1 << 30
# A long ingest writes the same index pages again and again: four times SQLite's own 4 MB between
# two checkpoints spare a fifth of the time that committing takes.
CHECKPOINT_PAGES = 4_000


def open_writer(path: Path) -> sqlite3.Connection:
    """A connection that may write, with the schema brought up to date.

    Raises StoreError where the file cannot be opened, is no database or is another program's,
    NewerStoreError where a newer version wrote it.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)  # it holds whole prompts: for its owner only
        connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_MS / 1000, isolation_level=None)
        with _closed_on_error(connection):
            _bring_up_to_date(connection, path)
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute("PRAGMA cache_size=-32000")
            connection.execute(f"PRAGMA wal_autocheckpoint={CHECKPOINT_PAGES}")
            connection.execute("PRAGMA foreign_keys=OFF")
            _read_by_current_rules(connection)
    except (sqlite3.Error, OSError, UnicodeDecodeError) as error:  # a damaged one gives any bytes
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
        with _closed_on_error(connection):
            connection.execute("PRAGMA query_only=ON")
            connection.execute(f"PRAGMA mmap_size={MMAP_BYTES}")
            connection.execute("PRAGMA cache_size=-16000")
            check_steps(connection, path)
    except sqlite3.Error as error:
        raise _unreadable(path, error) from error
    return connection


def check_steps(connection: sqlite3.Connection, path: Path) -> None:
    """Nothing, where this version wrote the database. Raises StoreError, NewerStoreError."""
    try:
        applied = _applied_steps(connection, path)
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise _unreadable(path, error) from error
    if applied != KNOWN_STEPS:
        raise StoreError(
            f"The database {path} is empty or was written by an older version. Run "
            "`tracer ingest` to bring it up to date."
        )


def _unreadable(path: Path, error: Exception) -> StoreError:
    return StoreError(f"The database {path} cannot be read: {error}.")


def _bring_up_to_date(connection: sqlite3.Connection, path: Path) -> None:
    """Apply the steps that are missing; where another process is doing that, wait for it."""
    applied = _applied_steps(connection, path)
    _set_wal(connection)
    while applied != KNOWN_STEPS:
        # Under the write lock: two processes that both found a step missing must not both take it.
        begin_writing(connection)
        database = Database(connection)
        later = [step.name for step in migrations.pending(database)[1:]]
        migrations.apply(database, stop_before=later)
        commit_quietly(connection)
        applied = _applied_steps(connection, path)


def _set_wal(connection: sqlite3.Connection) -> None:
    """Let readers and a writer work side by side; waits for one that works alone."""
    deadline = time.monotonic() + WRITE_TIMEOUT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            locked = error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
            if not locked or time.monotonic() > deadline:
                raise
        time.sleep(ASK_S)


def _read_by_current_rules(connection: sqlite3.Connection) -> None:
    """Read every block again whose text was read by another version's rules, a batch a turn; what
    is killed in between begins anew."""
    if rules_are_current(connection):
        return
    after_id = 0
    while (last_id := next_unread(connection, after_id)) is not None:
        begin_writing(connection)
        read_again(connection, after_id, last_id)
        commit_quietly(connection)
        after_id = last_id
    begin_writing(connection)
    mark_current(connection, changed=bool(after_id))
    commit_quietly(connection)


@contextmanager
def _closed_on_error(connection: sqlite3.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        connection.close()
        raise


def _applied_steps(connection: sqlite3.Connection, path: Path) -> frozenset[str]:
    """The steps that made this database; none for a new one.

    Another program's database is refused: our tables have no business in it.
    """
    tables = {
        row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    }
    applied: frozenset[str] = frozenset()
    if migrations.migrations_table in tables:
        rows = connection.execute(
            f"SELECT name FROM {migrations.migrations_table} WHERE migration_set = ?",
            (migrations.name,),
        )
        applied = frozenset(row[0] for row in rows)
    if not applied and tables - {migrations.migrations_table}:
        raise StoreError(f"{path} is the database of another program. Name another file with --db.")
    unknown = applied - KNOWN_STEPS
    if unknown:
        raise NewerStoreError(
            f"The database {path} was written by a newer version of Context Tracer "
            f"({', '.join(sorted(unknown))}). Upgrade with `pip install -U context-tracer`, or "
            "name another database with --db."
        )
    return applied
