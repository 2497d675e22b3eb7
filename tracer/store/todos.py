"""Steps that an agent has taken off a session's list."""

import sqlite3
from collections.abc import Sequence


def prune_todos(
    connection: sqlite3.Connection, path: str, present: Sequence[tuple[object, ...]]
) -> int:
    """Drop the stored steps of a database's sessions that are on no list any more; `present` are
    the (session, position) pairs that are. A session that was removed keeps its last list."""
    connection.execute(
        "CREATE TEMP TABLE IF NOT EXISTS present_todos (session_id TEXT, position INTEGER, "
        "PRIMARY KEY (session_id, position))"
    )
    connection.execute("DELETE FROM present_todos")
    connection.executemany("INSERT OR IGNORE INTO present_todos VALUES (?, ?)", present)
    cursor = connection.execute(
        "DELETE FROM todos WHERE source_id IN (SELECT id FROM sources WHERE path = ?) AND NOT "
        "EXISTS (SELECT 1 FROM sessions s JOIN present_todos p ON p.session_id = s.session_id "
        "WHERE s.id = todos.session_id AND p.position = todos.position) AND NOT EXISTS (SELECT 1 "
        "FROM session_facts f WHERE f.session_id = todos.session_id AND f.removed_at_ms IS NOT "
        "NULL)",
        (path,),
    )
    return cursor.rowcount
