"""Reads what stands around the requests of a session: tool calls, the requests of subagents."""

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple


class ChildRow(NamedTuple):
    """One request of a child session. `result` is empty until it is judged."""

    session_row: int
    key: str
    started_at_ms: int | None
    status: str
    result: str


def response_calls(connection: sqlite3.Connection, row_id: int) -> list[tuple[str, str, int]]:
    """Request key, tool and how often it is called, of each response of a session with calls."""
    rows = connection.execute(
        "SELECT r.key, b.name, count(*) FROM requests r "
        "JOIN response_blocks p ON p.request_id = r.id JOIN blocks b ON b.id = p.block_id "
        "WHERE r.session_id = ? AND b.kind = 'tool_call' GROUP BY r.id, b.name "
        "ORDER BY r.id, min(p.position)",
        (row_id,),
    )
    return [(key, name, count) for key, name, count in rows]


def child_requests(connection: sqlite3.Connection, ids: Sequence[int]) -> list[ChildRow]:
    """The requests of sessions (row ids), each session's by start time."""
    marks = ",".join("?" * len(ids))
    rows = connection.execute(
        "SELECT r.session_id, r.key, r.started_at_ms, r.status, coalesce(v.result, '') "
        "FROM requests r LEFT JOIN verdicts v ON v.request_id = r.id "
        f"WHERE r.session_id IN ({marks}) "
        "ORDER BY r.started_at_ms NULLS LAST, r.attempt, r.completed_at_ms, r.key",
        tuple(ids),
    )
    return [ChildRow(*row) for row in rows]
