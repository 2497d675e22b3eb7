"""Reading: each function is one query (or one a table), and returns plain records.

The chain of a request is walked by a recursive query; the nodes of a whole session are loaded at
once (`session_nodes`), never path by path.
"""

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from tracer.model.prompt import Marker, Tier
from tracer.model.views import SkippedLine
from tracer.tokens import DEFAULT_ENCODING

_UP = """WITH RECURSIVE up(id) AS (
  VALUES (?1)
  UNION ALL
  SELECT n.parent_id FROM up JOIN nodes n ON n.id = up.id WHERE n.parent_id IS NOT NULL
)"""


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


class NodeRow(NamedTuple):
    """One node of a session's prompts, with what a timeline needs of its block."""

    id: int
    parent_id: int | None
    depth: int
    message_index: int | None
    block_index: int
    part: str
    role: str
    kind: str
    name: str
    chars: int
    estimate_tokens: int
    bpe_tokens: int | None
    preview: str


class BlockRow(NamedTuple):
    """One block of a prompt, in order; texts are loaded apart."""

    node_id: int
    depth: int
    message_index: int | None
    block_index: int
    block_id: int
    wire_hash: bytes
    tier: str
    role: str
    kind: str
    part: str
    name: str
    call_id: str
    chars: int
    bytes: int
    estimate_tokens: int
    bpe_tokens: int | None
    exact: int | None
    span_messages: int
    preview: str
    extra_json: str
    source_id: int | None
    line: int | None
    offset_bytes: int | None
    shape: str
    message_json: str


class EventRow(NamedTuple):
    """One log event."""

    id: int
    at_ms: int | None
    level: str
    event: str
    message: str
    turn_id: str
    span_id: str
    duration_ms: int | None
    status: str
    request_id: str
    attempt: int | None
    context_json: str
    error_json: str
    source_id: int
    line: int
    offset_bytes: int


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

_EVENTS = f"SELECT {', '.join('e.' + c for c in EventRow._fields)} FROM log_events e"


def session_ids(
    connection: sqlite3.Connection, text: str, limit: int, offset: int
) -> tuple[list[int], int]:
    """The row ids of a page of sessions, newest activity first, and how many match in all."""
    where, values = "", []
    if text:
        pattern = "%" + text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        where = (
            "WHERE s.session_id LIKE ?1 ESCAPE '\\' OR s.title LIKE ?1 ESCAPE '\\' OR s.project "
            "LIKE ?1 ESCAPE '\\' OR s.agent LIKE ?1 ESCAPE '\\' OR EXISTS (SELECT 1 FROM requests r"
            " WHERE r.session_id = s.id AND r.model_id LIKE ?1 ESCAPE '\\')"
        )
        values = [pattern]
    total = connection.execute(f"SELECT count(*) FROM sessions s {where}", values).fetchone()[0]
    rows = connection.execute(
        f"SELECT s.id FROM sessions s {where} ORDER BY s.last_at_ms DESC NULLS LAST, s.session_id "
        f"LIMIT {int(limit)} OFFSET {int(offset)}",
        values,
    )
    return [row[0] for row in rows], int(total)


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
        "SELECT id FROM sessions WHERE parent_session_id = ? ORDER BY first_at_ms", (session_id,)
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


def session_requests(connection: sqlite3.Connection, row_id: int) -> list[RequestRow]:
    """A session's requests by start time; the place in the file decides between equals."""
    rows = connection.execute(
        f"{_REQUESTS} WHERE r.session_id = ? ORDER BY r.started_at_ms NULLS LAST, r.attempt, "
        "r.completed_at_ms, r.key",
        (row_id,),
    )
    return [RequestRow(*row) for row in rows]


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


def session_markers(connection: sqlite3.Connection, row_id: int) -> dict[int, list[Marker]]:
    """Markers of all requests of a session, by request row id."""
    found: dict[int, list[Marker]] = {}
    rows = connection.execute(
        "SELECT m.request_id, m.tier, m.tier_index, m.block_index, m.ttl, m.scope, m.message_index "
        "FROM markers m JOIN requests r ON r.id = m.request_id WHERE r.session_id = ? "
        "ORDER BY m.request_id, CASE m.tier WHEN 'tools' THEN 0 WHEN 'system' THEN 1 ELSE 2 END, "
        "m.tier_index, m.block_index",
        (row_id,),
    )
    for request, tier, *rest in rows:
        found.setdefault(request, []).append(Marker(Tier(tier), *rest))
    return found


def session_nodes(connection: sqlite3.Connection, row_id: int) -> list[NodeRow]:
    """Every node of a session's prompts, each once, parents before children."""
    rows = connection.execute(
        """WITH RECURSIVE up(id) AS (
  SELECT node_id FROM requests WHERE session_id = ?1 AND node_id IS NOT NULL
  UNION
  SELECT n.parent_id FROM up JOIN nodes n ON n.id = up.id WHERE n.parent_id IS NOT NULL
)
SELECT n.id, n.parent_id, n.depth, n.message_index, n.block_index, b.part, b.role, b.kind, b.name,
  b.chars, b.estimate_tokens, t.tokens,
  CASE WHEN b.part IN ('context', 'reminder', 'mcs') THEN b.preview ELSE '' END
FROM up JOIN nodes n ON n.id = up.id JOIN blocks b ON b.id = n.block_id
LEFT JOIN block_tokens t ON t.block_id = b.id AND t.counter = ?2
ORDER BY n.id""",
        (row_id, DEFAULT_ENCODING),
    )
    return [NodeRow(*row) for row in rows]


_BLOCK_COLUMNS = """n.id, n.depth, n.message_index, n.block_index, b.id, b.wire_hash, b.tier,
  b.role, b.kind, b.part, b.name, b.call_id, b.chars, b.bytes, b.estimate_tokens, t.tokens, t.exact,
  b.span_messages, b.preview, b.extra_json, b.source_id, b.line, b.offset_bytes, b.shape,
  b.message_json"""


def prompt_blocks(connection: sqlite3.Connection, node_id: int) -> list[BlockRow]:
    """All blocks of a prompt, in order."""
    rows = connection.execute(
        f"{_UP} SELECT {_BLOCK_COLUMNS} FROM up JOIN nodes n ON n.id = up.id "
        "JOIN blocks b ON b.id = n.block_id "
        "LEFT JOIN block_tokens t ON t.block_id = b.id AND t.counter = ?2 ORDER BY n.depth",
        (node_id, DEFAULT_ENCODING),
    )
    return [BlockRow(*row) for row in rows]


def chain_ids(connection: sqlite3.Connection, node_id: int) -> list[int]:
    """The node ids of a prompt, first block first."""
    rows = connection.execute(f"{_UP} SELECT id FROM up", (node_id,)).fetchall()
    return [row[0] for row in reversed(rows)]


def response_blocks(connection: sqlite3.Connection, request_row: int) -> list[BlockRow]:
    """The blocks that the model answered with; depth is the position."""
    columns = _BLOCK_COLUMNS.replace("n.id, n.depth, n.message_index, n.block_index", "0, "
                                     "p.position, NULL, p.position")  # fmt: skip
    rows = connection.execute(
        f"SELECT {columns} FROM response_blocks p JOIN blocks b ON b.id = p.block_id "
        "LEFT JOIN block_tokens t ON t.block_id = b.id AND t.counter = ?2 "
        "WHERE p.request_id = ?1 ORDER BY p.position",
        (request_row, DEFAULT_ENCODING),
    )
    return [BlockRow(*row) for row in rows]


def block_texts(
    connection: sqlite3.Connection, ids: Sequence[int]
) -> dict[int, tuple[str | None, bytes | None]]:
    """The two text columns of blocks, by row id."""
    found: dict[int, tuple[str | None, bytes | None]] = {}
    for start in range(0, len(ids), 500):
        some = ids[start : start + 500]
        marks = ",".join("?" * len(some))
        rows = connection.execute(
            f"SELECT id, text, text_zlib FROM blocks WHERE id IN ({marks})", tuple(some)
        )
        found.update({row[0]: (row[1], row[2]) for row in rows})
    return found


def session_events(
    connection: sqlite3.Connection, row_id: int, names: Sequence[str]
) -> list[EventRow]:
    """A session's log events with one of these names (a trailing `*` matches any ending)."""
    wheres = " OR ".join("e.event GLOB ?" for _ in names)
    rows = connection.execute(
        f"{_EVENTS} WHERE e.session_id = ? AND ({wheres}) ORDER BY e.at_ms, e.source_id, e.line",
        (row_id, *names),
    )
    return [EventRow(*row) for row in rows]


def attempt_events(connection: sqlite3.Connection, request_id: str) -> list[EventRow]:
    """The log events that name an attempt's request id."""
    if not request_id:
        return []
    rows = connection.execute(
        f"{_EVENTS} WHERE e.request_id = ? AND e.request_id <> '' "
        "ORDER BY e.at_ms, e.source_id, e.line",
        (request_id,),
    )
    return [EventRow(*row) for row in rows]


def events_between(
    connection: sqlite3.Connection, row_id: int, from_ms: int, to_ms: int, limit: int
) -> list[EventRow]:
    """A session's log events in a span of time."""
    rows = connection.execute(
        f"{_EVENTS} WHERE e.session_id = ? AND e.at_ms BETWEEN ? AND ? "
        "ORDER BY e.at_ms, e.source_id, e.line LIMIT ?",
        (row_id, from_ms, to_ms, limit),
    )
    return [EventRow(*row) for row in rows]


class SectionRow(NamedTuple):
    """One section of a `context.built` line."""

    event_id: int
    at_ms: int | None
    name: str
    source: str
    chars: int | None
    tokens: int | None
    estimate_tokens: int | None
    block_id: int | None


def session_sections(connection: sqlite3.Connection, row_id: int) -> list[SectionRow]:
    """The sections of a session's `context.built` lines, by time and position."""
    rows = connection.execute(
        "SELECT c.event_id, e.at_ms, c.name, c.source, c.chars, c.tokens, b.estimate_tokens, "
        "c.block_id FROM context_sections c JOIN log_events e ON e.id = c.event_id "
        "LEFT JOIN blocks b ON b.id = c.block_id WHERE e.session_id = ? "
        "ORDER BY e.at_ms, c.event_id, c.position",
        (row_id,),
    )
    return [SectionRow(*row) for row in rows]


class UsageRow(NamedTuple):
    """One row of a context-usage report."""

    scope: str
    name: str
    source: str
    chars: int | None
    tokens: int | None
    tokens_redacted: int


def context_usage_rows(connection: sqlite3.Connection, event_id: int) -> list[UsageRow]:
    """A context-usage report: its total, its categories, its roles."""
    rows = connection.execute(
        "SELECT scope, name, source, chars, tokens, tokens_redacted FROM context_usage "
        "WHERE event_id = ? ORDER BY scope, position",
        (event_id,),
    )
    return [UsageRow(*row) for row in rows]


def skipped_lines(connection: sqlite3.Connection, source_id: int, limit: int) -> list[SkippedLine]:
    """The first skipped lines of a file's segment."""
    rows = connection.execute(
        "SELECT line, offset_bytes, kind, reason, excerpt FROM skipped_lines "
        "WHERE source_id = ? ORDER BY line LIMIT ?",
        (source_id, limit),
    )
    return [SkippedLine(*row) for row in rows]


def request_places(connection: sqlite3.Connection, request_row: int) -> list[tuple[int, int, int]]:
    """Every place (source, line, offset) where a request was found."""
    return connection.execute(
        "SELECT source_id, line, offset_bytes FROM request_sources WHERE request_id = ? "
        "ORDER BY source_id, line",
        (request_row,),
    ).fetchall()


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
