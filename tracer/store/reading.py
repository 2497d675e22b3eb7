"""Reading sessions and requests: each function is one query, and returns plain records."""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

from tracer.model.prompt import Marker, Tier
from tracer.store.ordering import in_order


class SessionRow(NamedTuple):
    """One session with the sums over its requests."""

    id: int
    session_id: str
    agent: str
    title: str
    project: str
    parent_session_id: str
    first_at_ms: int | None
    last_at_ms: int | None
    requests: int
    turns: int
    side_calls: int
    failed: int
    full: int
    windowed: int
    metadata: int
    reported: int
    input_tokens: int | None
    fresh_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    output_tokens: int | None
    read_reported_input: int | None


class RequestLine(NamedTuple):
    """What a session needs of each of its requests; names are those of the table."""

    id: int
    key: str
    attempt: int
    turn_id: str
    query_source: str
    lane: str
    model_id: str
    started_at_ms: int | None
    status: str
    verified_from: int | None
    system_from: str
    node_id: int | None
    input_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None


class RequestRow(NamedTuple):
    """One request row; names are those of the table."""

    id: int
    key: str
    session_id: str
    request_id: str
    attempt: int
    trace_id: str
    turn_id: str
    query_source: str
    lane: str
    provider_id: str
    model_id: str
    started_at_ms: int | None
    completed_at_ms: int | None
    duration_ms: int | None
    status: str
    error_name: str
    error_message: str
    finish_reason: str
    observed: str
    carry: str
    verified_from: int | None
    system_from: str
    window_kind: str
    message_count: int | None
    tool_names_json: str
    node_id: int | None
    reset_json: str
    input_tokens: int | None
    fresh_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    usage_convention: str
    usage_reason: str
    usage_json: str
    from_log: int
    source_id: int
    line: int
    offset_bytes: int


class MarkedRow(NamedTuple):
    """What a timeline's marks tell of a request; names are those of the table."""

    id: int
    completed_at_ms: int | None
    error_name: str
    error_message: str
    reset_json: str
    source_id: int
    line: int
    offset_bytes: int


class MoreCounts(NamedTuple):
    """What an outline counts of a request beside what is in its line. `markers` are those that it
    has."""

    id: int
    markers: int
    fresh_tokens: int | None
    output_tokens: int | None


AnyRequest: TypeAlias = RequestLine | RequestRow

# Calls that are the conversation itself; all others are side calls (title, compaction, ...).
CONVERSATIONS = ("main_turn", "subagent", "workflow_child", "")

_MAIN = "('main_turn', 'subagent', 'workflow_child', '')"

_SESSIONS = f"""SELECT s.id, s.session_id, s.agent, s.title, s.project, s.parent_session_id,
  s.first_at_ms, s.last_at_ms, count(r.id), count(DISTINCT nullif(r.turn_id, '')),
  coalesce(sum(r.query_source NOT IN {_MAIN}), 0),
  coalesce(sum(r.status IN ('failed', 'cancelled')), 0),
  coalesce(sum(r.observed = 'full'), 0), coalesce(sum(r.observed = 'windowed'), 0),
  coalesce(sum(r.observed = 'metadata'), 0), count(r.input_tokens), sum(r.input_tokens),
  sum(r.fresh_tokens), sum(r.cache_read_tokens), sum(r.cache_write_tokens), sum(r.output_tokens),
  sum(CASE WHEN r.cache_read_tokens IS NOT NULL THEN r.input_tokens END)
FROM sessions s LEFT JOIN requests r ON r.session_id = s.id
WHERE s.id IN ({{ids}}) GROUP BY s.id"""

_REQUESTS = f"""SELECT {
    ", ".join("s.session_id" if c == "session_id" else f"r.{c}" for c in RequestRow._fields)
}
FROM requests r JOIN sessions s ON s.id = r.session_id"""


def sessions_by_id(connection: sqlite3.Connection, ids: Sequence[int]) -> list[SessionRow]:
    """Sessions with their sums, in the order of `ids`."""
    marks = ",".join("?" * len(ids))
    rows = connection.execute(_SESSIONS.replace("{ids}", marks), tuple(ids))
    found = {row[0]: SessionRow(*row) for row in rows}
    return [found[i] for i in ids if i in found]


def session_row_id(connection: sqlite3.Connection, session_id: str) -> int | None:
    """The row id of a session."""
    row = connection.execute(
        "SELECT id FROM sessions WHERE session_id = ?", (session_id,)
    ).fetchone()
    return row[0] if row else None


def child_ids(connection: sqlite3.Connection, session_id: str) -> list[int]:
    """The row ids of the sessions that this one started."""
    rows = connection.execute(
        "SELECT id FROM sessions WHERE parent_session_id = ? ORDER BY first_at_ms, session_id",
        (session_id,),
    )
    return [row[0] for row in rows]


def models_and_lanes(
    connection: sqlite3.Connection, ids: Sequence[int]
) -> dict[int, tuple[list[str], list[str]]]:
    """Models and lanes of sessions, in the order of their first use."""
    marks = ",".join("?" * len(ids))
    found: dict[int, tuple[list[str], list[str]]] = {i: ([], []) for i in ids}
    rows = connection.execute(
        f"SELECT session_id, model_id, lane FROM requests WHERE session_id IN ({marks}) "
        "GROUP BY session_id, model_id, lane ORDER BY min(started_at_ms), lane",
        tuple(ids),
    )
    for session, model, lane in rows:
        models, lanes = found[session]
        if model and model not in models:
            models.append(model)
        if lane not in lanes:
            lanes.append(lane)
    return found


def spark_rows(
    connection: sqlite3.Connection, ids: Sequence[int]
) -> dict[int, list[tuple[int, int, int]]]:
    """Read, write and fresh tokens of each request with usage, by session, by start time."""
    marks = ",".join("?" * len(ids))
    found: dict[int, list[tuple[int, int, int]]] = {i: [] for i in ids}
    rows = connection.execute(
        "SELECT session_id, coalesce(cache_read_tokens, 0), coalesce(cache_write_tokens, 0), "
        f"coalesce(fresh_tokens, input_tokens) FROM requests WHERE session_id IN ({marks}) "
        "AND input_tokens IS NOT NULL ORDER BY session_id, started_at_ms",
        tuple(ids),
    )
    for session, *values in rows:
        found[session].append((values[0], values[1], values[2]))
    return found


_THESE = "SELECT value FROM json_each(?)"
_IN_ORDER = f"ORDER BY {in_order('r')}"


def session_lines(connection: sqlite3.Connection, row_id: int) -> list[RequestLine]:
    """A session's requests in order."""
    columns = ", ".join(f"r.{name}" for name in RequestLine._fields)
    rows = connection.execute(
        f"SELECT {columns} FROM requests r WHERE r.session_id = ? {_IN_ORDER}", (row_id,)
    )
    return [RequestLine._make(row) for row in rows]


def session_requests(connection: sqlite3.Connection, row_id: int) -> list[RequestRow]:
    """The whole rows of a session's requests, in order."""
    rows = connection.execute(f"{_REQUESTS} WHERE r.session_id = ? {_IN_ORDER}", (row_id,))
    return [RequestRow._make(row) for row in rows]


def whole_requests(connection: sqlite3.Connection, ids: Sequence[int]) -> list[RequestRow]:
    """The whole rows of some requests."""
    rows = connection.execute(f"{_REQUESTS} WHERE r.id IN ({_THESE})", (json.dumps(ids),))
    return [RequestRow._make(row) for row in rows]


def marked_requests(
    connection: sqlite3.Connection, row_id: int, others: Sequence[int]
) -> dict[int, MarkedRow]:
    """The requests of a session that a mark of a timeline stands for, by row id: failed and
    cancelled ones, those before which their file was overwritten, and `others`."""
    rows = connection.execute(
        f"SELECT {', '.join(MarkedRow._fields)} FROM requests WHERE session_id = ? AND (status IN "
        f"('failed', 'cancelled') OR reset_json <> '' OR id IN ({_THESE}))",
        (row_id, json.dumps(others)),
    )
    return {row[0]: MarkedRow._make(row) for row in rows}


def request_row(connection: sqlite3.Connection, row_id: int) -> RequestRow:
    """One request, which must be there."""
    return RequestRow(*connection.execute(f"{_REQUESTS} WHERE r.id = ?", (row_id,)).fetchone())


def request_of_key(connection: sqlite3.Connection, key: str) -> RequestRow:
    """One request by its key, which must be there."""
    return RequestRow(*connection.execute(f"{_REQUESTS} WHERE r.key = ?", (key,)).fetchone())


def keys_like(connection: sqlite3.Connection, prefix: str, limit: int = 10) -> list[str]:
    """Request keys that begin with a prefix."""
    rows = connection.execute(
        "SELECT key FROM requests WHERE key >= ? AND key < ? ORDER BY key LIMIT ?",
        (prefix, prefix + "\U0010ffff", limit),
    )
    return [row[0] for row in rows]


def sessions_like(connection: sqlite3.Connection, prefix: str, limit: int = 10) -> list[str]:
    """Session ids that begin with a prefix."""
    rows = connection.execute(
        "SELECT session_id FROM sessions WHERE session_id >= ? AND session_id < ? "
        "ORDER BY session_id LIMIT ?",
        (prefix, prefix + "\U0010ffff", limit),
    )
    return [row[0] for row in rows]


def request_session(connection: sqlite3.Connection, key: str) -> tuple[int, str] | None:
    """The session (row id and id) of a request."""
    row = connection.execute(
        "SELECT s.id, s.session_id FROM requests r JOIN sessions s ON s.id = r.session_id "
        "WHERE r.key = ?",
        (key,),
    ).fetchone()
    return (row[0], row[1]) if row else None


def request_texts(connection: sqlite3.Connection, row_id: int) -> tuple[str, str]:
    """A request's parameters and headers as JSON texts."""
    row = connection.execute(
        "SELECT coalesce(p.json, ''), r.headers_json FROM requests r "
        "LEFT JOIN params p ON p.id = r.params_id WHERE r.id = ?",
        (row_id,),
    ).fetchone()
    return row[0], row[1]


def request_wire(connection: sqlite3.Connection, row_id: int) -> str:
    """The shape of the messages in a request's logged body; empty where there are none."""
    row = connection.execute("SELECT wire_json FROM requests WHERE id = ?", (row_id,)).fetchone()
    return str(row[0])


_MARKERS = """SELECT m.request_id, m.tier, m.tier_index, m.block_index, m.ttl, m.scope,
  m.message_index FROM markers m"""
_MARKER_ORDER = """ORDER BY m.request_id,
  CASE m.tier WHEN 'tools' THEN 0 WHEN 'system' THEN 1 ELSE 2 END, m.tier_index, m.block_index"""


def session_markers(connection: sqlite3.Connection, row_id: int) -> dict[int, list[Marker]]:
    """Markers of all requests of a session, by request row id."""
    rows = connection.execute(
        f"{_MARKERS} JOIN requests r ON r.id = m.request_id WHERE r.session_id = ? {_MARKER_ORDER}",
        (row_id,),
    )
    return _by_request(rows)


def markers_of(connection: sqlite3.Connection, requests: Sequence[int]) -> dict[int, list[Marker]]:
    """Markers of some requests, by request row id."""
    rows = connection.execute(
        f"{_MARKERS} WHERE m.request_id IN ({_THESE}) {_MARKER_ORDER}", (json.dumps(requests),)
    )
    return _by_request(rows)


def more_counts(connection: sqlite3.Connection, row_id: int) -> dict[int, MoreCounts]:
    """Counts of each request of a session, by row id."""
    rows = connection.execute(
        "SELECT r.id, (SELECT count(*) FROM markers m WHERE m.request_id = r.id), r.fresh_tokens, "
        "r.output_tokens FROM requests r WHERE r.session_id = ?",
        (row_id,),
    )
    return {row[0]: MoreCounts._make(row) for row in rows}


def request_markers(connection: sqlite3.Connection, request_row: int) -> list[Marker]:
    """The markers of one request."""
    rows = connection.execute(f"{_MARKERS} WHERE m.request_id = ? {_MARKER_ORDER}", (request_row,))
    return _by_request(rows).get(request_row, [])


def _by_request(rows: Iterable[tuple[Any, ...]]) -> dict[int, list[Marker]]:
    found: dict[int, list[Marker]] = {}
    made: dict[tuple[object, ...], Marker] = {}  # most requests mark the same system blocks
    for row in rows:
        marker = made.get(row[1:])
        if marker is None:
            marker = made[row[1:]] = Marker(Tier(row[1]), *row[2:])
        found.setdefault(row[0], []).append(marker)
    return found


def request_places(connection: sqlite3.Connection, request_row: int) -> list[tuple[int, int, int]]:
    """Every place (source, line, offset) where a request was found."""
    return connection.execute(
        "SELECT source_id, line, offset_bytes FROM request_sources WHERE request_id = ? "
        "ORDER BY source_id, line",
        (request_row,),
    ).fetchall()
