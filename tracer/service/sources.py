"""Files: how far each was read, and what could not be used."""

import sqlite3

from tracer.errors import NotFoundError
from tracer.model.ingest_views import SourceView
from tracer.store.records import MAX_STORED_SKIPS
from tracer.store.sources import SourceRow, list_sources, skipped_lines, source_sessions


def all_sources(connection: sqlite3.Connection, *, skipped_limit: int) -> tuple[SourceView, ...]:
    """Every segment of every file, by path."""
    sessions = source_sessions(connection)
    return tuple(
        _view(connection, row, sessions.get(row.id, []), skipped_limit)
        for row in list_sources(connection)
    )


def one_source(connection: sqlite3.Connection, source_id: int) -> SourceView:
    """One segment with all its stored skipped lines. Raises NotFoundError."""
    row = next((r for r in list_sources(connection) if r.id == source_id), None)
    if row is None:
        raise NotFoundError(f"There is no source {source_id} in this database.")
    return _view(connection, row, source_sessions(connection).get(source_id, []), MAX_STORED_SKIPS)


def _view(
    connection: sqlite3.Connection, row: SourceRow, sessions: list[str], skipped_limit: int
) -> SourceView:
    return SourceView(
        source_id=row.id,
        path=row.path,
        segment=row.segment,
        format=row.format,
        size_bytes=row.size_bytes,
        offset_bytes=row.offset_bytes,
        lines=row.lines,
        records=row.records,
        duplicates=row.duplicates,
        skipped_total=row.skipped,
        skipped=tuple(skipped_lines(connection, row.id, skipped_limit)) if row.skipped else (),
        status=row.status,
        last_read_at_ms=row.last_read_at_ms,
        sessions=tuple(sessions),
        pending_bytes=max(row.size_bytes - row.offset_bytes, 0),
    )
