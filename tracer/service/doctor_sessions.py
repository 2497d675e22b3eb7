"""For each session: what is known of it, what is gone, and what to switch on to see more."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tracer.model.doctor_views import SessionEvidence
from tracer.model.session_list import ANY_SESSION
from tracer.service.existing import session_row
from tracer.service.session_evidence import session_evidence
from tracer.store.connect import open_reader
from tracer.store.reading import SessionRow, sessions_by_id
from tracer.store.session_list import find_sessions
from tracer.store.session_reading import session_facts, source_kinds
from tracer.store.transactions import begin_reading

SHOWN_SESSIONS = 20


def examine_sessions(
    db_path: Path, session_id: str = "", limit: int = SHOWN_SESSIONS
) -> tuple[tuple[SessionEvidence, ...], int]:
    """The evidence of one session, or of those with the latest activity, and how many there are.
    Raises NotFoundError for an unknown session, StoreError for a database that cannot be read."""
    with closing(open_reader(db_path)) as connection:
        begin_reading(connection)
        if session_id:
            ids, total = [session_row(connection, session_id)], 1
        else:
            ids, total = find_sessions(connection, ANY_SESSION, limit, 0)
        rows = {row.id: row for row in sessions_by_id(connection, ids)}
        return tuple(_evidence(connection, rows[i]) for i in ids if i in rows), total


def _evidence(connection: sqlite3.Connection, row: SessionRow) -> SessionEvidence:
    kinds = source_kinds(connection, row.id, row.session_id)
    return SessionEvidence(
        session_id=row.session_id,
        title=row.title,
        requests=row.requests,
        prompts=kinds.records,
        windowed_prompts=kinds.windowed,
        log_lines=kinds.log_lines,
        section_lines=kinds.sections + kinds.usage_snapshots,
        usage_rows=kinds.usage_rows,
        messages=kinds.messages,
        session_events=kinds.session_events,
        missing_files=kinds.missing_files,
        lines=session_evidence(kinds, session_facts(connection, row.id)),
    )
