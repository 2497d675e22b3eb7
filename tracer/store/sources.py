"""Files as the database knows them: segments, offsets, fingerprints, skipped lines."""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from tracer.model.ingest_views import SkippedLine
from tracer.model.source import SkipKind, SourceRef

CURRENT = "current"
_NEVER_COMPLETED = "The line was not complete when the file was replaced; its rest was not seen."


@dataclass(slots=True)
class SourceRow:
    """One segment of one file. The fingerprints are hashes of its first `head_bytes` bytes and of
    the last bytes before `offset_bytes`: together they tell growth from a new file."""

    id: int
    path: str
    segment: int
    format: str
    agent: str
    device: int
    inode: int
    head_bytes: int
    head_hash: bytes
    tail_hash: bytes
    size_bytes: int
    offset_bytes: int
    mtime_ns: int
    lines: int
    records: int
    duplicates: int
    skipped: int
    status: str
    last_read_at_ms: int


_COLUMNS = ", ".join(SourceRow.__slots__)


def current_source(connection: sqlite3.Connection, path: str) -> SourceRow | None:
    """The newest segment of a file."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM sources WHERE path = ? ORDER BY segment DESC LIMIT 1", (path,)
    ).fetchone()
    return SourceRow(*row) if row else None


def add_source(connection: sqlite3.Connection, source: SourceRow) -> None:
    """Store a new segment and mark the earlier ones as replaced; fills in the row id."""
    connection.execute(
        "UPDATE skipped_lines SET reason = ?1 WHERE kind = ?2 AND source_id IN "
        "(SELECT id FROM sources WHERE path = ?3)",
        (_NEVER_COMPLETED, SkipKind.TORN, source.path),
    )
    connection.execute(
        "UPDATE sources SET status = 'replaced' WHERE path = ? AND status <> 'replaced'",
        (source.path,),
    )
    names = SourceRow.__slots__[1:]
    cursor = connection.execute(
        f"INSERT INTO sources ({', '.join(names)}) VALUES ({','.join('?' * len(names))})",
        tuple(getattr(source, name) for name in names),
    )
    source.id = int(cursor.lastrowid or 0)


def save_source(connection: sqlite3.Connection, source: SourceRow) -> None:
    """Store how far a segment was read."""
    names = SourceRow.__slots__[1:]
    connection.execute(
        f"UPDATE sources SET {', '.join(n + ' = ?' for n in names)} WHERE id = ?",
        (*(getattr(source, name) for name in names), source.id),
    )


def mark_missing(connection: sqlite3.Connection, path: str) -> bool:
    """Note that a file is gone from disk; True if that is news."""
    cursor = connection.execute(
        "UPDATE sources SET status = 'missing' WHERE path = ? AND status = 'current'", (path,)
    )
    return cursor.rowcount > 0


def mark_current(connection: sqlite3.Connection, source: SourceRow) -> None:
    """Note that a file that was gone is back as it was."""
    connection.execute("UPDATE sources SET status = ? WHERE id = ?", (CURRENT, source.id))
    source.status = CURRENT


def known_paths(connection: sqlite3.Connection) -> dict[str, str]:
    """Every path ever read, with the status of its newest segment."""
    rows = connection.execute("SELECT path, status FROM sources ORDER BY path, segment")
    return dict(rows.fetchall())


def source_paths(connection: sqlite3.Connection) -> dict[int, str]:
    """Paths by source row id."""
    return dict(connection.execute("SELECT id, path FROM sources").fetchall())


def source_ref(
    paths: Mapping[int, str], source_id: int | None, line: int | None, offset_bytes: int | None
) -> SourceRef | None:
    """Where a stored fact was read."""
    if source_id is None or line is None:
        return None
    return SourceRef(paths.get(source_id, ""), line, offset_bytes or 0)


def list_sources(connection: sqlite3.Connection) -> list[SourceRow]:
    """Every segment of every file, by path, newest segment first."""
    rows = connection.execute(f"SELECT {_COLUMNS} FROM sources ORDER BY path, segment DESC")
    return [SourceRow(*row) for row in rows]


def drop_skipped(
    connection: sqlite3.Connection, source_id: int, kind: SkipKind | None = None
) -> int:
    """Forget the skipped lines of a segment, of one kind or all; returns how many there were."""
    return connection.execute(
        "DELETE FROM skipped_lines WHERE source_id = ?1 AND (?2 IS NULL OR kind = ?2)",
        (source_id, kind),
    ).rowcount


def skipped_lines(connection: sqlite3.Connection, source_id: int, limit: int) -> list[SkippedLine]:
    """The first skipped lines of a file's segment."""
    rows = connection.execute(
        "SELECT line, offset_bytes, kind, reason, excerpt FROM skipped_lines "
        "WHERE source_id = ? ORDER BY line LIMIT ?",
        (source_id, limit),
    )
    return [SkippedLine(*row) for row in rows]


def source_sessions(connection: sqlite3.Connection) -> dict[int, list[str]]:
    """The sessions that each source holds requests of."""
    found: dict[int, list[str]] = {}
    rows = connection.execute(
        "SELECT DISTINCT r.source_id, s.session_id FROM requests r "
        "JOIN sessions s ON s.id = r.session_id ORDER BY r.source_id, s.session_id"
    )
    for source, session in rows:
        found.setdefault(source, []).append(session)
    return found
