"""What putting the session of an open trace together reads and writes: its prompts, their answers,
and what the agent said of the session."""

import sqlite3
from typing import Any, NamedTuple

import msgspec

from tracer.store.records import SHARED
from tracer.store.writer import Place

_encode = msgspec.json.Encoder().encode
_OUTCOME = (
    "status", "completed_at_ms", "duration_ms", "error_name", "error_message", "finish_reason",
    "input_tokens", "fresh_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens",
    "reasoning_tokens", "usage_convention", "usage_reason", "usage_json",
)  # fmt: skip
_FROM_PROMPT = (
    "trace_id", "turn_id", "query_source", "lane", "provider_id", "model_id", "model_json",
    "observed", "carry", "verified_from", "system_from", "window_kind", "window_offset",
    "message_count", "tool_names_json", "node_id", "params_id",
)  # fmt: skip
_UPDATE_OUTCOME = (
    f"UPDATE requests SET {', '.join(f'{c} = ?' for c in _OUTCOME)} WHERE id = ? AND "
    f"({', '.join(_OUTCOME)}) IS NOT ({', '.join('?' * len(_OUTCOME))})"
)
_SHARE = (
    f"UPDATE requests SET ({', '.join(_FROM_PROMPT)}) = (SELECT {', '.join(_FROM_PROMPT)} "
    f"FROM requests p WHERE p.id = ?1), from_log = from_log | {SHARED} WHERE id = ?2"
)


class TracedRequest(NamedTuple):
    """A request of a traced session. `own` is set where its own record was read."""

    id: int
    request_id: str
    attempt: int
    started_at_ms: int | None
    own: int


class Answer(NamedTuple):
    """A `request.completed` line."""

    at_ms: int | None
    request_id: str
    attempt: int
    status: str
    duration_ms: int | None
    context_json: str
    error_json: str


class Introduction(NamedTuple):
    """What a `session.started` line says."""

    agent: str
    title: str
    project: str


def traced_requests(connection: sqlite3.Connection, row_id: int) -> list[TracedRequest]:
    """The requests of a session whose prompt an open trace carries, and those of which it only
    tells how they ended."""
    rows = connection.execute(
        "SELECT r.id, r.request_id, r.attempt, r.started_at_ms, l.shared_from IS NULL AND "
        "l.request_id IS NOT NULL FROM requests r "
        "LEFT JOIN request_layouts l ON l.request_id = r.id "
        "WHERE r.session_id = ? AND r.request_id <> '' ORDER BY r.attempt, r.key",
        (row_id,),
    )
    return [TracedRequest(*row) for row in rows]


def answers(connection: sqlite3.Connection, row_id: int) -> list[Answer]:
    """The answers in a session's traces, in the order of their time; of one moment, by what they
    say, since files are read in any order."""
    rows = connection.execute(
        "SELECT at_ms, request_id, attempt, status, duration_ms, context_json, error_json "
        "FROM log_events INDEXED BY idx_log_events_trace WHERE module = 'context trace' "
        "AND session_id = ? AND event = 'request.completed' AND request_id <> '' "
        "ORDER BY at_ms, line_hash",
        (row_id,),
    )
    return [Answer(*row) for row in rows]


def introduction(connection: sqlite3.Connection, row_id: int) -> Introduction | None:
    """The newest introduction of a session, what it leaves out taken from those before."""
    rows = connection.execute(
        "SELECT json_extract(context_json, '$.agent'), json_extract(context_json, '$.title'), "
        "json_extract(context_json, '$.project') "
        "FROM log_events INDEXED BY idx_log_events_trace WHERE module = 'context trace' "
        "AND session_id = ? AND event = 'session.started' AND context_json <> '' "
        "ORDER BY at_ms, line_hash",
        (row_id,),
    ).fetchall()
    if not rows:
        return None
    said = [
        next((v for v in reversed(values) if isinstance(v, str) and v), "")
        for values in zip(*rows, strict=True)
    ]
    return Introduction(*said)


def introduce(connection: sqlite3.Connection, row_id: int, said: Introduction) -> None:
    """Name a session as its agent did; what it did not say stays as it is known otherwise."""
    connection.execute(
        "UPDATE sessions SET agent = coalesce(nullif(?1, ''), agent), "
        "title = coalesce(nullif(?2, ''), title), project = coalesce(nullif(?3, ''), project) "
        "WHERE id = ?4",
        (*said, row_id),
    )


class Unresolved(NamedTuple):
    """A request whose prompt refers to messages that were not defined when it was read."""

    id: int
    node_id: int | None
    note_node_id: int | None
    at_ms: int
    place: Place
    missing: tuple[str, ...]
    system_from: str


class Filled(NamedTuple):
    """What is known of such a prompt now."""

    node_id: int | None
    note_node_id: int | None
    missing: tuple[str, ...]
    verified_from: int
    carry: str
    system_from: str


class PathNote(NamedTuple):
    """A note of a message: its row id, and the message's id."""

    id: int
    message_id: str


def unresolved_requests(connection: sqlite3.Connection, row_id: int) -> list[Unresolved]:
    """Those of a session, by time and place; another attempt shares the prompt of its first."""
    rows = connection.execute(
        "SELECT r.id, r.node_id, l.note_node_id, coalesce(r.started_at_ms, 0), r.source_id, "
        "r.line, r.offset_bytes, l.unresolved_json, r.system_from FROM requests r "
        "JOIN request_layouts l ON l.request_id = r.id "
        "WHERE r.session_id = ? AND l.unresolved_json <> '' AND l.shared_from IS NULL "
        "ORDER BY r.started_at_ms, r.source_id, r.line",
        (row_id,),
    )
    return [
        Unresolved(
            row[0],
            row[1],
            row[2],
            row[3],
            Place(*row[4:7]),
            tuple(msgspec.json.decode(row[7])),
            row[8],
        )
        for row in rows
    ]


def notes_on_path(connection: sqlite3.Connection, node_id: int | None) -> list[PathNote]:
    """The notes of a prompt's messages, first to last."""
    rows = connection.execute(
        "WITH RECURSIVE up(id) AS (VALUES (?1) UNION ALL SELECT n.parent_id FROM up "
        "JOIN note_nodes n ON n.id = up.id WHERE n.parent_id IS NOT NULL) "
        "SELECT t.id, coalesce(json_extract(t.json, '$.id'), '') FROM up "
        "JOIN note_nodes n ON n.id = up.id JOIN layout_texts t ON t.id = n.note_id "
        "ORDER BY n.depth",
        (node_id,),
    )
    return [PathNote(*row) for row in rows]


def fill_prompt(connection: sqlite3.Connection, request: Unresolved, filled: Filled) -> None:
    """Store a prompt as far as it is known now."""
    whole = not filled.missing
    connection.execute(
        "UPDATE requests SET node_id = ?, verified_from = ?, carry = ?, observed = ?, "
        "system_from = ? WHERE id = ?",
        (
            filled.node_id, filled.verified_from, filled.carry,
            "full" if whole else "windowed", filled.system_from, request.id,
        ),
    )  # fmt: skip
    connection.execute(
        "UPDATE request_layouts SET note_node_id = ?, unresolved_json = ? WHERE request_id = ?",
        (filled.note_node_id, "" if whole else _encode(filled.missing).decode(), request.id),
    )


def set_outcome(connection: sqlite3.Connection, request: int, outcome: dict[str, Any]) -> None:
    """Store how a request ended, where that is not stored already."""
    values = tuple(outcome[name] for name in _OUTCOME)
    connection.execute(_UPDATE_OUTCOME, (*values, request, *values))


def set_start(connection: sqlite3.Connection, request: int, started_at_ms: int | None) -> None:
    """Store when an attempt started."""
    connection.execute(
        "UPDATE requests SET started_at_ms = ?1 WHERE id = ?2 AND started_at_ms IS NOT ?1",
        (started_at_ms, request),
    )


def share_prompt(connection: sqlite3.Connection, prompt: int, request: int) -> None:
    """Give another attempt the prompt of a request's record."""
    connection.execute(_SHARE, (prompt, request))
    connection.execute("DELETE FROM markers WHERE request_id = ?", (request,))
    connection.execute(
        "INSERT INTO markers SELECT ?2, tier, tier_index, block_index, message_index, ttl, scope "
        "FROM markers WHERE request_id = ?1",
        (prompt, request),
    )
    connection.execute(
        "INSERT OR REPLACE INTO request_layouts SELECT ?2, layout, segments_json, tools_id, "
        "note_node_id, unresolved_json, extra_json, ?1 FROM request_layouts WHERE request_id = ?1",
        (prompt, request),
    )
