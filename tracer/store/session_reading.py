"""Reading what session databases, folders and events say of one session."""

import sqlite3
import zlib
from typing import NamedTuple


class FactsRow(NamedTuple):
    """A session of a session database."""

    title: str
    title_source: str
    directory: str
    project_id: str
    task_type: str
    version: str
    created_at_ms: int | None
    updated_at_ms: int | None
    compacting_at_ms: int | None
    archived_at_ms: int | None
    removed_at_ms: int | None
    revert_json: str
    source_id: int
    line: int


class UsageJoinRow(NamedTuple):
    """A usage row with its tie."""

    key: str | None
    usage_id: str
    origin: str
    status: str
    join_strength: str
    join_key: str
    conflicts_json: str
    retries: int
    first_token_ms: int | None
    message_id: str
    variant: str
    agent: str
    source_id: int
    line: int


class TurnStored(NamedTuple):
    """A turn."""

    turn_id: str
    user_message_id: str
    status: str
    started_at_ms: int | None
    duration_ms: int | None
    first_token_ms: int | None
    model_requests: int | None
    model_retries: int | None
    tool_calls: int | None
    tool_errors: int | None
    input_tokens: int | None
    cache_read_tokens: int | None
    output_tokens: int | None


class ToolStored(NamedTuple):
    """A tool call as a row counts it, or as a message's part shows it (`approval` empty)."""

    call_id: str
    turn_id: str
    tool: str
    status: str
    approval: str
    started_at_ms: int | None
    ended_at_ms: int | None
    duration_ms: int | None
    output_bytes: int | None
    error: str
    message_id: str


class MessageStored(NamedTuple):
    """A message without its parts."""

    message_id: str
    role: str
    turn_id: str
    source: str
    synthetic: int
    visibility: str
    created_at_ms: int | None


class PartStored(NamedTuple):
    """A part whose content a session's page shows."""

    message_id: str
    kind: str
    created_at_ms: int | None
    state: str
    reason: str
    context_used: int | None
    context_window: int | None
    context_json: str
    detail_json: str


class LinkRow(NamedTuple):
    """A parent or child session, and how it is known."""

    session_id: str
    title: str
    task_type: str
    call_id: str
    agent_type: str
    status: str
    by_folder: int
    by_database: int


class EventStored(NamedTuple):
    """A session event about a tool call."""

    event: str
    at_ms: int | None
    turn_id: str
    call_id: str
    message: str
    status: str
    duration_ms: int | None


def session_facts(connection: sqlite3.Connection, row_id: int) -> FactsRow | None:
    """What a session database says of a session."""
    row = connection.execute(
        f"SELECT {', '.join(FactsRow._fields)} FROM session_facts WHERE session_id = ?", (row_id,)
    ).fetchone()
    return FactsRow(*row) if row else None


def usage_joins(connection: sqlite3.Connection, row_id: int) -> list[UsageJoinRow]:
    """A session's usage rows by the start of their call."""
    columns = ", ".join(f"u.{name}" for name in UsageJoinRow._fields[1:])
    rows = connection.execute(
        f"SELECT r.key, {columns} FROM usage_rows u LEFT JOIN requests r ON r.id = u.request_id "
        "WHERE u.session_id = ? ORDER BY coalesce(u.started_at_ms, u.completed_at_ms), u.usage_id",
        (row_id,),
    )
    return [UsageJoinRow(*row) for row in rows]


def stored_turns(connection: sqlite3.Connection, row_id: int) -> list[TurnStored]:
    """A session's turns by start."""
    rows = connection.execute(
        f"SELECT {', '.join(TurnStored._fields)} FROM turn_rows WHERE session_id = ? "
        "ORDER BY started_at_ms, turn_id",
        (row_id,),
    )
    return [TurnStored(*row) for row in rows]


def tool_usage(connection: sqlite3.Connection, row_id: int) -> list[ToolStored]:
    """A session's tool calls as the agent counted them."""
    rows = connection.execute(
        "SELECT call_id, turn_id, tool, status, approval, started_at_ms, completed_at_ms, "
        "duration_ms, output_bytes, error_message, '' FROM tool_rows WHERE session_id = ? "
        "ORDER BY started_at_ms, call_id",
        (row_id,),
    )
    return [ToolStored(*row) for row in rows]


def tool_parts(connection: sqlite3.Connection, row_id: int) -> list[ToolStored]:
    """A session's tool calls as its messages show them."""
    rows = connection.execute(
        "SELECT p.call_id, coalesce(m.turn_id, ''), p.tool, p.state, '', p.started_at_ms, "
        "p.ended_at_ms, p.ended_at_ms - p.started_at_ms, NULL, CASE p.state WHEN 'error' THEN "
        "substr(p.text, 1, 500) ELSE '' END, p.message_id FROM parts p LEFT JOIN messages m ON "
        "m.session_id = p.session_id AND m.message_id = p.message_id WHERE p.session_id = ? AND "
        "p.kind = 'tool' AND p.call_id <> '' ORDER BY p.started_at_ms, p.call_id",
        (row_id,),
    )
    return [ToolStored(*row) for row in rows]


def tool_events(connection: sqlite3.Connection, row_id: int) -> list[EventStored]:
    """A session's events about tool calls and permissions."""
    rows = connection.execute(
        "SELECT event, at_ms, turn_id, tool_call_id, message, status, duration_ms FROM log_events "
        "WHERE session_id = ? AND module = 'session event' AND tool_call_id <> '' AND (event GLOB "
        "'tool_call_*' OR event GLOB 'permission_*') ORDER BY at_ms, id",
        (row_id,),
    )
    return [EventStored(*row) for row in rows]


def stored_messages(connection: sqlite3.Connection, row_id: int) -> list[MessageStored]:
    """A session's messages in their order: sequence (none last), time, place."""
    rows = connection.execute(
        f"SELECT {', '.join(MessageStored._fields)} FROM messages WHERE session_id = ? "
        "ORDER BY sequence IS NULL, sequence, created_at_ms, line",
        (row_id,),
    )
    return [MessageStored(*row) for row in rows]


def shown_parts(connection: sqlite3.Connection, row_id: int) -> list[PartStored]:
    """Ends of steps and compactions, in the order of the conversation."""
    rows = connection.execute(
        f"SELECT {', '.join(PartStored._fields)} FROM parts WHERE session_id = ? AND kind IN "
        "('step-finish', 'compaction') ORDER BY created_at_ms, sequence, part_id",
        (row_id,),
    )
    return [PartStored(*row) for row in rows]


def user_texts(connection: sqlite3.Connection, row_id: int) -> dict[str, str]:
    """The words of each message of the user, by message id; what the agent added is left out."""
    found: dict[str, list[str]] = {}
    rows = connection.execute(
        "SELECT p.message_id, p.text, p.text_zlib FROM messages m JOIN parts p ON p.session_id = "
        "m.session_id AND p.message_id = m.message_id WHERE m.session_id = ? AND m.role = 'user' "
        "AND m.synthetic = 0 AND m.visibility <> 'model-only' AND p.kind = 'text' AND "
        "p.synthetic = 0 ORDER BY p.message_id, p.sequence IS NULL, p.sequence, p.created_at_ms",
        (row_id,),
    )
    for message_id, text, packed in rows:
        words = zlib.decompress(packed).decode("utf-8", "replace") if packed else text
        found.setdefault(message_id, []).append(words)
    return {message_id: "\n".join(texts) for message_id, texts in found.items()}


def session_todos(connection: sqlite3.Connection, row_id: int) -> list[tuple[str, str, str]]:
    """Content, status and priority of a session's steps."""
    return connection.execute(
        "SELECT content, status, priority FROM todos WHERE session_id = ? ORDER BY position",
        (row_id,),
    ).fetchall()


_LINK = (
    "SELECT s.session_id, s.title, coalesce(f.task_type, ''), coalesce(a.parent_call_id, (SELECT "
    "e.tool_call_id FROM log_events e WHERE e.session_id = {parent} AND e.event IN "
    "('subagent.spawned', 'subagent_spawned') AND instr(e.context_json, {agent}) > 0 LIMIT 1), "
    "''), coalesce(a.agent_type, ''), coalesce(a.status, ''), a.id IS NOT NULL, "
    "coalesce(f.parent_session_id <> '', 0) FROM sessions s "
)


def child_links(connection: sqlite3.Connection, row_id: int, session_id: str) -> list[LinkRow]:
    """The sessions that a session started."""
    sql = _LINK.format(parent="?1", agent="replace(s.session_id, 'sess_subagent_', '')")
    rows = connection.execute(
        sql + "LEFT JOIN session_facts f ON f.session_id = s.id LEFT JOIN agent_runs a ON "
        "a.session_id = ?1 AND a.child_session_id = s.session_id WHERE s.parent_session_id = ?2 "
        "ORDER BY s.first_at_ms, s.session_id",
        (row_id, session_id),
    )
    return [LinkRow(*row) for row in rows]


def parent_link(connection: sqlite3.Connection, row_id: int, session_id: str) -> LinkRow | None:
    """The session that started a session. Task type and state are the child's."""
    sql = _LINK.format(parent="s.id", agent="replace(?2, 'sess_subagent_', '')")
    row = connection.execute(
        sql + "JOIN sessions c ON c.id = ?1 AND s.session_id = c.parent_session_id LEFT JOIN "
        "session_facts f ON f.session_id = c.id LEFT JOIN agent_runs a ON a.session_id = s.id AND "
        "a.child_session_id = ?2",
        (row_id, session_id),
    ).fetchone()
    return LinkRow(*row) if row else None


class TraceKinds(NamedTuple):
    """What the traces of a session in the open format hold. `calls` are model calls, of which
    `prompts` have a prompt; `requests` are their attempts."""

    calls: int
    prompts: int
    requests: int
    answered: int
    reported: int
    with_gaps: int
    runs: int
    ended_runs: int
    estimates: int


class SourceKinds(NamedTuple):
    """How much of a session each kind of file knows; `trace` is None without an open trace."""

    records: int
    windowed: int
    log_requests: int
    event_requests: int
    database_requests: int
    log_lines: int
    debug_lines: int
    session_events: int
    sections: int
    usage_snapshots: int
    usage_rows: int
    messages: int
    folders: int
    missing_files: int
    trace: TraceKinds | None


def source_kinds(connection: sqlite3.Connection, row_id: int, session_id: str) -> SourceKinds:
    """Counts over everything stored of a session."""
    row = connection.execute(
        "SELECT count(CASE WHEN from_log = 0 THEN 1 END), count(CASE WHEN from_log = 0 AND "
        "observed = 'windowed' THEN 1 END), count(CASE WHEN from_log & 1 THEN 1 END),"
        " count(CASE WHEN from_log & 2 THEN 1 END), count(CASE WHEN from_log & 4 THEN 1 END) "
        "FROM requests WHERE session_id = ?",
        (row_id,),
    ).fetchone()
    events = connection.execute(
        "SELECT count(CASE WHEN module <> 'session event' THEN 1 END), count(CASE WHEN level = "
        "'debug' THEN 1 END), count(CASE WHEN module = 'session event' THEN 1 END), "
        "count(CASE WHEN event = 'context.built' THEN 1 END), count(CASE WHEN event = "
        "'context_usage_snapshot' THEN 1 END) FROM log_events WHERE session_id = ?",
        (row_id,),
    ).fetchone()
    others = connection.execute(
        "SELECT (SELECT count(*) FROM usage_rows WHERE session_id = ?1 AND origin = 'database'), "
        "(SELECT count(*) FROM messages WHERE session_id = ?1), (SELECT count(*) FROM agent_runs "
        "WHERE child_session_id = ?2), (SELECT count(DISTINCT s.id) FROM sources s JOIN requests r "
        "ON r.source_id = s.id WHERE r.session_id = ?1 AND s.status = 'missing')",
        (row_id, session_id),
    ).fetchone()
    return SourceKinds._make((*row, *events, *others, _trace_kinds(connection, row_id)))


def _trace_kinds(connection: sqlite3.Connection, row_id: int) -> TraceKinds | None:
    lines, ended, estimates = connection.execute(
        "SELECT count(*), count(DISTINCT CASE WHEN event = 'run.completed' THEN turn_id END), "
        "count(CASE WHEN event = 'context_usage_snapshot' THEN 1 END) FROM log_events "
        "WHERE session_id = ? AND module = 'context trace'",
        (row_id,),
    ).fetchone()
    row = connection.execute(
        "SELECT count(DISTINCT r.request_id), count(DISTINCT CASE WHEN r.node_id IS NOT NULL THEN "
        "r.request_id END), count(*), count(CASE WHEN r.status <> 'unknown' THEN 1 END), "
        "count(coalesce(r.input_tokens, r.output_tokens)), count(CASE WHEN l.unresolved_json <> '' "
        "THEN 1 END), count(l.request_id) FROM requests r LEFT JOIN request_layouts l ON "
        "l.request_id = r.id WHERE r.session_id = ?",
        (row_id,),
    ).fetchone()
    if not lines and not row[-1]:
        return None
    (runs,) = connection.execute(
        "SELECT count(*) FROM (SELECT turn_id FROM requests WHERE session_id = ?1 AND turn_id <> ''"
        " UNION SELECT turn_id FROM log_events WHERE session_id = ?1 AND turn_id <> '' AND module "
        "= 'context trace')",
        (row_id,),
    ).fetchone()
    return TraceKinds._make((*row[:-1], runs, ended, estimates))
