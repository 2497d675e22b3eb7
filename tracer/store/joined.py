"""What joining reads and writes: usage rows, the requests that only they know, session titles."""

import sqlite3
from collections.abc import Iterable
from typing import Any, NamedTuple

from tracer.model.usage import Usage
from tracer.model.usage_rows import UsageRow
from tracer.store.contents import drop_contents
from tracer.store.records import (
    FILLED,
    FROM_DATABASE,
    lane_of,
    usage_columns,
)

_USAGE = ", ".join(f"u.{name}" for name in UsageRow._fields[1:])
_DERIVED = tuple(
    """session_id query_source lane provider_id model_id turn_id trace_id started_at_ms
    completed_at_ms duration_ms status error_name error_message finish_reason input_tokens
    fresh_tokens cache_read_tokens cache_write_tokens output_tokens reasoning_tokens
    usage_convention usage_reason usage_json record_hash source_id line""".split()  # noqa: SIM905
)
_CONSTANTS = {
    "request_id": "''", "attempt": "1", "returned_model_id": "''", "model_json": "''",
    "response_id": "''", "observed": "'metadata'", "carry": "'lost'", "system_from": "''",
    "window_kind": "'absent'", "tool_names_json": "'[]'", "headers_json": "''",
    "reset_json": "''", "notes_json": "'[]'", "from_log": str(FROM_DATABASE), "offset_bytes": "0",
}  # fmt: skip
_PUT_DERIVED = (
    f"INSERT INTO requests (key, {', '.join(_DERIVED)}, {', '.join(_CONSTANTS)}) "
    f"VALUES ({','.join('?' * (len(_DERIVED) + 1))}, {', '.join(_CONSTANTS.values())}) "
    f"ON CONFLICT (key) DO UPDATE SET {', '.join(f'{c} = excluded.{c}' for c in _DERIVED)} "
    "WHERE requests.record_hash <> excluded.record_hash RETURNING id"
)


class StoredUsage(NamedTuple):
    """A usage row as it is stored. `request_id` is a row id."""

    id: int
    row: UsageRow
    origin: str
    row_hash: bytes
    source_id: int
    line: int
    request_id: int | None
    join_strength: str
    join_key: str
    conflicts_json: str


class KnownRequest(NamedTuple):
    """A request that joining looks at. `from_log` are the bits of `records`."""

    id: int
    key: str
    turn_id: str
    trace_id: str
    query_source: str
    model_id: str
    status: str
    started_at_ms: int | None
    completed_at_ms: int | None
    input_tokens: int | None
    cache_read_tokens: int | None
    output_tokens: int | None
    from_log: int
    usage_convention: str


def unjoined_sessions(connection: sqlite3.Connection, limit: int) -> list[tuple[int, str]]:
    """Row ids and ids of sessions to join again."""
    return connection.execute(
        "SELECT id, session_id FROM sessions INDEXED BY idx_sessions_unjoined WHERE unjoined "
        f"ORDER BY id LIMIT {int(limit)}"
    ).fetchall()


def set_joined(connection: sqlite3.Connection, ids: list[int]) -> None:
    """Note that sessions are joined, and that verdicts and findings may be out of date."""
    connection.executemany(
        "UPDATE sessions SET unjoined = 0, judged = 0, checked = '' WHERE id = ?",
        [(i,) for i in ids],
    )
    drop_contents(connection, ids)


def stored_usage(connection: sqlite3.Connection, row_id: int, session_id: str) -> list[StoredUsage]:
    """A session's usage rows."""
    size = len(UsageRow._fields) - 1
    rows = connection.execute(
        f"SELECT {_USAGE}, u.id, u.origin, u.row_hash, u.source_id, u.line, u.request_id, "
        "u.join_strength, u.join_key, u.conflicts_json FROM usage_rows u WHERE u.session_id = ? "
        "ORDER BY u.usage_id",
        (row_id,),
    )
    return [
        StoredUsage(row[size], UsageRow(session_id, *row[:size]), *row[size + 1 :]) for row in rows
    ]


def known_requests(connection: sqlite3.Connection, row_id: int) -> list[KnownRequest]:
    """A session's requests, in the order of their keys."""
    columns = ", ".join(KnownRequest._fields)
    rows = connection.execute(
        f"SELECT {columns} FROM requests WHERE session_id = ? ORDER BY key", (row_id,)
    )
    return [KnownRequest(*row) for row in rows]


def set_joins(
    connection: sqlite3.Connection, joins: Iterable[tuple[int | None, str, str, str, int]]
) -> None:
    """Store usage rows' requests, strengths, keys and conflicts; the row's id comes last."""
    connection.executemany(
        "UPDATE usage_rows SET request_id = ?, join_strength = ?, join_key = ?, "
        "conflicts_json = ? WHERE id = ?",
        joins,
    )


def put_derived(
    connection: sqlite3.Connection,
    key: str,
    session: int,
    stored: StoredUsage,
    status: str,
    usage: Usage | None,
) -> int:
    """Store the request that only a usage row knows; returns its row id."""
    row = stored.row
    values: dict[str, Any] = {
        "session_id": session,
        "query_source": row.query_source,
        "lane": lane_of(row.query_source, row.provider_id, row.model_id),
        "provider_id": row.provider_id,
        "model_id": row.model_id,
        "turn_id": row.turn_id,
        "trace_id": row.trace_id,
        "started_at_ms": row.started_at_ms if row.started_at_ms is not None else _ended(row),
        "completed_at_ms": row.completed_at_ms,
        "duration_ms": row.duration_ms,
        "status": status,
        "error_name": row.error_type or row.error_code,
        "error_message": row.error_message,
        "finish_reason": row.finish_reason,
        **usage_columns(usage),
        "record_hash": stored.row_hash,
        "source_id": stored.source_id,
        "line": stored.line,
    }
    request = connection.execute(_PUT_DERIVED, (key, *(values[c] for c in _DERIVED))).fetchone()
    if request is None:  # it says so already
        request = connection.execute("SELECT id FROM requests WHERE key = ?", (key,)).fetchone()
        return int(request[0])
    return int(request[0])


def put_places(connection: sqlite3.Connection, derived: Iterable[tuple[int, StoredUsage]]) -> None:
    """Note where the requests that only usage rows know were read."""
    connection.executemany(
        "INSERT OR IGNORE INTO request_sources VALUES (?, ?, ?, 0, ?)",
        [(request, u.source_id, u.line, u.row_hash) for request, u in derived],
    )


def _ended(row: UsageRow) -> int | None:
    return row.completed_at_ms


def drop_derived(connection: sqlite3.Connection, request_ids: list[int]) -> None:
    """Remove requests that another file knows better now."""
    ids = [(i,) for i in request_ids]
    connection.executemany("DELETE FROM request_sources WHERE request_id = ?", ids)
    connection.executemany("UPDATE usage_rows SET request_id = NULL WHERE request_id = ?", ids)
    connection.executemany("DELETE FROM verdicts WHERE request_id = ?", ids)
    connection.executemany("DELETE FROM requests WHERE id = ?", ids)


def fill_usage(connection: sqlite3.Connection, request_id: int, usage: Usage | None) -> None:
    """Give a request that only a log knows the usage of its row, or take it away again."""
    columns = usage_columns(usage)
    names = ", ".join(f"{name} = ?" for name in columns)
    bits = f"from_log | {FILLED}" if usage else f"from_log & ~{FILLED}"
    connection.execute(
        f"UPDATE requests SET {names}, from_log = {bits} WHERE id = ?",
        (*columns.values(), request_id),
    )


def describe_session(connection: sqlite3.Connection, row_id: int, session_id: str) -> None:
    """Title, project and parent of a session as its database and its parent's folder say."""
    connection.execute(
        "UPDATE sessions SET title = coalesce((SELECT nullif(f.title, '') FROM session_facts f "
        "WHERE f.session_id = sessions.id AND (f.title_source <> 'default' OR sessions.title = "
        "'')), title), project = coalesce((SELECT nullif(f.directory, '') FROM session_facts f "
        "WHERE f.session_id = sessions.id), project), parent_session_id = coalesce((SELECT "
        "nullif(f.parent_session_id, '') FROM session_facts f WHERE f.session_id = sessions.id), "
        "(SELECT p.session_id FROM agent_runs a JOIN sessions p ON p.id = a.session_id WHERE "
        "a.child_session_id = ?2 ORDER BY a.created_at_ms, p.session_id LIMIT 1), "
        "parent_session_id) WHERE id = ?1",
        (row_id, session_id),
    )
