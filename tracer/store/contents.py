"""What a page about one request needs of the whole session, stored and read (see step m013)."""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class ContentsRow(NamedTuple):
    """What is stored of one session; names are those of the table."""

    rules: str
    counted: int
    calibrations_json: str


class LivesRow(NamedTuple):
    """How the sections of a request lived; names are those of the table."""

    query_source: str
    seq: int
    sections_hash: bytes
    lives_json: str


def save_contents(
    connection: sqlite3.Connection, row_id: int, contents: ContentsRow, lives: Iterable[LivesRow]
) -> None:
    """Replace what is stored of a session, inside the caller's transaction."""
    connection.execute("DELETE FROM section_lives WHERE session_id = ?", (row_id,))
    connection.executemany(
        "INSERT INTO section_lives VALUES (?, ?, ?, ?, ?)", [(row_id, *row) for row in lives]
    )
    connection.execute(
        "INSERT OR REPLACE INTO session_contents VALUES (?, ?, ?, ?)", (row_id, *contents)
    )


def drop_contents(connection: sqlite3.Connection, ids: Sequence[int]) -> None:
    """Note that what is stored of sessions may be out of date, inside the caller's transaction."""
    connection.executemany(
        "DELETE FROM session_contents WHERE session_id = ?", [(row_id,) for row_id in ids]
    )


def stored_contents(connection: sqlite3.Connection, row_id: int) -> ContentsRow | None:
    """What is stored of a session, unless something was stored of it since."""
    row = connection.execute(
        "SELECT c.rules, c.counted, c.calibrations_json FROM session_contents c "
        "JOIN sessions s ON s.id = c.session_id WHERE c.session_id = ? AND NOT s.unjoined",
        (row_id,),
    ).fetchone()
    return ContentsRow(*row) if row else None


def stored_lives(
    connection: sqlite3.Connection, row_id: int, query_source: str, seq: int
) -> LivesRow | None:
    """How the sections of request number `seq` lived; valid where `stored_contents` is."""
    row = connection.execute(
        "SELECT query_source, seq, sections_hash, lives_json FROM section_lives "
        "WHERE session_id = ? AND query_source = ? AND seq <= ? ORDER BY seq DESC LIMIT 1",
        (row_id, query_source, seq),
    ).fetchone()
    return LivesRow(*row) if row else None
