"""Transactions: one writer at a time, a batch each; who reads has one snapshot for all queries."""

import sqlite3
import time

from tracer.errors import StoreError

BUSY_TIMEOUT_MS = 10_000
# SQLite's own waiting looks only every 100 ms, and never meets the moment between two batches of
# another process; so a writer asks every millisecond, and lets others in for a few (see TURN_S).
WRITE_TIMEOUT_S = 120.0
TURN_S = 0.004
ASK_S = 0.001
_CLOSING_TIMEOUT_MS = 100


def begin_reading(connection: sqlite3.Connection) -> None:
    """Begin a transaction in which every query sees the same state."""
    connection.execute("BEGIN")


def begin_writing(connection: sqlite3.Connection) -> None:
    """Begin a transaction that holds the write lock, after waiting for other processes' batches.
    Raises StoreError where one of them does not let go."""
    deadline = time.monotonic() + WRITE_TIMEOUT_S
    connection.execute("PRAGMA busy_timeout=0")
    try:
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                    raise
                if time.monotonic() > deadline:
                    raise StoreError(
                        "Another process has been writing to the database for "
                        f"{WRITE_TIMEOUT_S:.0f} s without a pause. Stop it, or try again later."
                    ) from error
            time.sleep(ASK_S)
    finally:
        connection.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")


def commit_news(connection: sqlite3.Connection) -> None:
    """End the caller's transaction; pages that wait for news see that there is some."""
    count_news(connection)
    connection.execute("COMMIT")


def commit_quietly(connection: sqlite3.Connection) -> None:
    """End the caller's transaction, of which no page has to know."""
    connection.execute("COMMIT")


def count_news(connection: sqlite3.Connection) -> None:
    """Raise the revision, by which pages see that there is something new."""
    connection.execute("UPDATE counters SET value = value + 1 WHERE name = 'revision'")


def roll_back(connection: sqlite3.Connection) -> None:
    """Drop the transaction that an error may have left open."""
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def close_writer(connection: sqlite3.Connection) -> None:
    """Close; the write-ahead log is folded in if nobody else reads it.

    A batch that an error left open is dropped: closing must not fail and hide that error.
    """
    roll_back(connection)
    connection.execute(f"PRAGMA busy_timeout={_CLOSING_TIMEOUT_MS}")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
