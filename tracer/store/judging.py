"""What a session's requests are judged by, beside their rows: each function is one query."""

import json
import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

from tracer.model.prompt import Kind, Tier
from tracer.tokens import DEFAULT_ENCODING


class CallRow(NamedTuple):
    """The columns of a request that only verdicts need. `node_hash` names the prompt by content."""

    id: int
    returned_model_id: str
    model_json: str
    params_id: int | None
    headers_json: str
    response_id: str
    first_token_at_ms: int | None


class BlockInfo(NamedTuple):
    """One block, without its text. `tokens` is the BPE count, else the agent's estimate."""

    id: int
    wire_hash: bytes
    norm_hash: bytes
    tier: Tier
    role: str
    kind: Kind
    shape: str
    name: str
    call_id: str
    tokens: int
    counted: int
    span_messages: int
    extra_json: str
    message_json: str


class AdapterRow(NamedTuple):
    """What the structured log says of one attempt of a request."""

    at_ms: int | None
    event: str
    request_id: str
    attempt: int | None
    context_json: str


class SessionEvent(NamedTuple):
    """A log event that can explain a change."""

    at_ms: int | None
    event: str
    message: str
    context_json: str


def session_name(connection: sqlite3.Connection, row_id: int) -> str:
    """The id that the log gives a session."""
    row = connection.execute("SELECT session_id FROM sessions WHERE id = ?", (row_id,)).fetchone()
    return str(row[0])


def call_rows(connection: sqlite3.Connection, row_id: int) -> dict[int, CallRow]:
    """Those columns of a session's requests, by request row id."""
    rows = connection.execute(
        "SELECT r.id, r.returned_model_id, r.model_json, r.params_id, r.headers_json, "
        "r.response_id, (SELECT min(u.first_token_at_ms) FROM usage_rows u "
        "WHERE u.request_id = r.id) FROM requests r WHERE r.session_id = ?",
        (row_id,),
    )
    return {row[0]: CallRow(*row) for row in rows}


def param_texts(connection: sqlite3.Connection, ids: Iterable[int]) -> dict[int, str]:
    """Parameters as JSON texts, by row id."""
    rows = connection.execute(
        "SELECT id, json FROM params WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(ids)),),
    )
    return dict(rows.fetchall())


def node_hashes(connection: sqlite3.Connection, ids: Iterable[int]) -> dict[int, bytes]:
    """The content hashes of prefixes, by node id."""
    rows = connection.execute(
        "SELECT id, hash FROM nodes WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(ids)),),
    )
    return dict(rows.fetchall())


def block_infos(connection: sqlite3.Connection, ids: Iterable[int]) -> dict[int, BlockInfo]:
    """Blocks by row id."""
    rows = connection.execute(
        "SELECT b.id, b.wire_hash, b.norm_hash, b.tier, b.role, b.kind, b.shape, b.name, "
        "b.call_id, coalesce(t.tokens, b.estimate_tokens), t.tokens IS NOT NULL, "
        "b.span_messages, b.extra_json, b.message_json FROM json_each(?1) j "
        "JOIN blocks b ON b.id = j.value "
        "LEFT JOIN block_tokens t ON t.block_id = b.id AND t.counter = ?2",
        (json.dumps(sorted(ids)), DEFAULT_ENCODING),
    )
    tiers, kinds = {t.value: t for t in Tier}, {k.value: k for k in Kind}
    return {
        i: BlockInfo(i, wire, norm, tiers[tier], role, kinds[kind], *rest)
        for i, wire, norm, tier, role, kind, *rest in rows
    }


def adapter_rows(connection: sqlite3.Connection, row_id: int) -> list[AdapterRow]:
    """The log lines about attempts: endpoint, first content, the status of a failure."""
    rows = connection.execute(
        "SELECT e.at_ms, e.event, e.request_id, e.attempt, e.context_json FROM log_events e "
        "WHERE e.session_id = ? AND e.request_id <> '' AND e.event IN ('model.request.completed', "
        "'model.request.failed', 'model_first_content', 'model_network_status') ORDER BY e.at_ms",
        (row_id,),
    )
    return [AdapterRow(*row) for row in rows]


def explaining_events(connection: sqlite3.Connection, row_id: int) -> list[SessionEvent]:
    """The log events of a session that can explain a change of its prompts."""
    rows = connection.execute(
        "SELECT e.at_ms, e.event, e.message, e.context_json FROM log_events e "
        "WHERE e.session_id = ? AND "
        "(e.event GLOB 'compact*' OR e.event GLOB 'microcompact*' OR e.event GLOB 'mcp*' OR "
        "e.event GLOB 'session*' OR e.event GLOB '*model*change*' "
        "OR e.event = 'capability.changed') ORDER BY e.at_ms",
        (row_id,),
    )
    return [SessionEvent(*row) for row in rows]


class PathRow(NamedTuple):
    """One step of a prompt, in order."""

    node_id: int
    block_id: int
    message_index: int | None
    block_index: int


def path_rows(connection: sqlite3.Connection, node_id: int) -> list[PathRow]:
    """The steps of a prompt, first block first."""
    rows = connection.execute(
        "WITH RECURSIVE up(id) AS (VALUES (?1) UNION ALL SELECT n.parent_id FROM up "
        "JOIN nodes n ON n.id = up.id WHERE n.parent_id IS NOT NULL) "
        "SELECT n.id, n.block_id, n.message_index, n.block_index FROM up "
        "JOIN nodes n ON n.id = up.id",
        (node_id,),
    ).fetchall()
    return [PathRow(*row) for row in reversed(rows)]


def one_call(connection: sqlite3.Connection, request_row: int) -> CallRow:
    """The columns of one request that only verdicts need."""
    row = connection.execute(
        "SELECT r.id, r.returned_model_id, r.model_json, r.params_id, r.headers_json, "
        "r.response_id, NULL FROM requests r WHERE r.id = ?",
        (request_row,),
    ).fetchone()
    return CallRow(*row)


def endpoint_contexts(connection: sqlite3.Connection, request_id: str) -> list[str]:
    """What the log lines about a request carry, as JSON texts."""
    if not request_id:
        return []
    rows = connection.execute(
        "SELECT context_json FROM log_events WHERE request_id = ? AND request_id <> ''",
        (request_id,),
    )
    return [row[0] for row in rows]
