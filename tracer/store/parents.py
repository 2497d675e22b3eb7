"""Which session started another, where more than one says so: whatever was read first."""

import sqlite3

_STARTS = "('subagent.started', 'subagent.spawned', 'subagent_spawned')"


def note_parent(connection: sqlite3.Connection, row_id: int, child: str, parent: str) -> None:
    """Note that a log event of the session `parent` names the session `child` as its own.

    Of several that do, the parent is the one that told first of its start, then the one whose id
    sorts first. What the agent's database and its folders say stands above all events.
    """
    known = connection.execute(
        "SELECT parent_session_id FROM sessions WHERE id = ?", (row_id,)
    ).fetchone()[0]
    if known == parent:
        return
    if known:
        before = _claim(connection, child, known)
        if before is None or _is_described(connection, row_id, child):
            return
        claim = _claim(connection, child, parent)
        if claim is None or before < claim:
            return
    connection.execute("UPDATE sessions SET parent_session_id = ? WHERE id = ?", (parent, row_id))


def _claim(
    connection: sqlite3.Connection, child: str, parent: str
) -> tuple[int, int, int, str] | None:
    """The strongest event by which a session names a child, to be compared: the least is it. None
    without one."""
    row = connection.execute(
        f"SELECT e.event NOT IN {_STARTS} AS later, e.at_ms IS NULL, coalesce(e.at_ms, 0) "
        "FROM sessions p JOIN log_events e ON e.session_id = p.id WHERE p.session_id = ?1 "
        "AND e.event GLOB 'subagent*' AND e.context_json <> '' "
        "AND (json_extract(e.context_json, '$.childSessionId') = ?2 "
        "OR instr(e.context_json, replace(?2, 'sess_subagent_', '')) > 0) "
        "ORDER BY later, e.at_ms IS NULL, e.at_ms LIMIT 1",
        (parent, child),
    ).fetchone()
    return (*row, parent) if row else None


def _is_described(connection: sqlite3.Connection, row_id: int, child: str) -> bool:
    row = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM session_facts WHERE session_id = ?1 AND parent_session_id "
        "<> '') OR EXISTS (SELECT 1 FROM agent_runs WHERE child_session_id = ?2)",
        (row_id, child),
    ).fetchone()
    return bool(row[0])
