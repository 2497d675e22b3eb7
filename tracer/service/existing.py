"""What a use case is asked about: its rows, or an error that says that there is no such thing."""

import sqlite3

from tracer.errors import NotFoundError
from tracer.store.reading import request_session, session_row_id


def session_row(connection: sqlite3.Connection, session_id: str) -> int:
    """The row id of a session. Raises NotFoundError."""
    row_id = session_row_id(connection, session_id)
    if row_id is None:
        raise NotFoundError(
            f"There is no session {session_id!r} in this database: the list of sessions, "
            "`tracer sessions`, names them."
        )
    return row_id


def session_of(connection: sqlite3.Connection, key: str) -> tuple[int, str]:
    """Row id and id of the session of a request. Raises NotFoundError."""
    found = request_session(connection, key)
    if found is None:
        raise NotFoundError(f"There is no request {key!r} in this database.")
    return found
