"""Reads what stands around the requests of a session: tool calls, the requests of subagents."""

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from tracer.store.ordering import in_order

MOST_KEYS = 1000
_CALLS = (
    "SELECT r.key, b.name FROM requests r JOIN response_blocks p ON p.request_id = r.id "
    "JOIN blocks b ON b.id = p.block_id AND b.kind = 'tool_call'"
)


class ChildRow(NamedTuple):
    """One request of a child session. `result` is empty until it is judged."""

    session_row: int
    key: str
    started_at_ms: int | None
    status: str
    result: str


def has_calls(connection: sqlite3.Connection, row_id: int) -> bool:
    """Whether any response of a session calls a tool."""
    return bool(
        connection.execute(f"{_CALLS} WHERE r.session_id = ? LIMIT 1", (row_id,)).fetchone()
    )


def response_calls(
    connection: sqlite3.Connection, row_id: int, keys: Sequence[str]
) -> list[tuple[str, str]]:
    """Request key and tool of each call in the responses of some requests of a session, in order;
    of all of them where there are too many keys to ask for."""
    some = len(keys) <= MOST_KEYS
    where = f"r.key IN ({','.join('?' * len(keys))})" if some else "r.session_id = ?"
    rows = connection.execute(
        f"{_CALLS} WHERE {where} ORDER BY p.request_id, p.position",
        tuple(keys) if some else (row_id,),
    )
    return [(key, name) for key, name in rows]


def child_requests(connection: sqlite3.Connection, ids: Sequence[int]) -> list[ChildRow]:
    """The requests of sessions (row ids), each session's by start time."""
    marks = ",".join("?" * len(ids))
    rows = connection.execute(
        "SELECT r.session_id, r.key, r.started_at_ms, r.status, coalesce(v.result, '') "
        "FROM requests r LEFT JOIN verdicts v ON v.request_id = r.id "
        f"WHERE r.session_id IN ({marks}) "
        f"ORDER BY {in_order('r')}",
        tuple(ids),
    )
    return [ChildRow(*row) for row in rows]
