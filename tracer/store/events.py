"""Reading log events, and the context reports that some of them carry."""

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

import msgspec


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


class UsageRow(NamedTuple):
    """One row of a context-usage report. `contributors_json` of the total are its counts."""

    scope: str
    name: str
    source: str
    chars: int | None
    tokens: int | None
    tokens_redacted: int
    contributors_json: str = ""


_decode_counts = msgspec.json.Decoder(dict[str, int]).decode
_EVENTS = (
    f"SELECT {', '.join('e.' + c for c in EventRow._fields)} FROM log_events e "
    "JOIN sources src ON src.id = e.source_id"
)
# Files are read in any order: what decides between lines of one moment is where they stand.
_ORDER = "ORDER BY e.at_ms, src.path, src.segment, e.line"


def session_events(
    connection: sqlite3.Connection, row_id: int, names: Sequence[str]
) -> list[EventRow]:
    """A session's log events with one of these names (a trailing `*` matches any ending)."""
    exact = [name for name in names if not name.endswith("*")]  # found twice as fast
    others = [name for name in names if name.endswith("*")]
    which = f"e.event IN ({','.join('?' * len(exact))})" + " OR e.event GLOB ?" * len(others)
    rows = connection.execute(
        f"{_EVENTS} WHERE e.session_id = ? AND ({which}) {_ORDER}", (row_id, *exact, *others)
    )
    return [EventRow(*row) for row in rows]


def trace_events(connection: sqlite3.Connection, row_id: int) -> list[EventRow]:
    """The events of a session's open traces, but for those that tell of a request or a run as a
    whole: these are columns of their own."""
    rows = connection.execute(
        f"{_EVENTS.replace('log_events e', 'log_events e INDEXED BY idx_log_events_trace')} "
        "WHERE e.module = 'context trace' AND e.session_id = ? AND e.event NOT IN "
        f"('request.completed', 'context_usage_snapshot', 'run.started', 'run.completed') {_ORDER}",
        (row_id,),
    )
    return [EventRow(*row) for row in rows]


def attempt_events(connection: sqlite3.Connection, row_id: int, request_id: str) -> list[EventRow]:
    """The log events of a session that name an attempt's request id, and those that name it and no
    session."""
    if not request_id:
        return []
    rows = connection.execute(
        f"{_EVENTS} WHERE e.request_id = ? AND e.request_id <> '' "
        f"AND (e.session_id = ? OR e.session_id IS NULL) {_ORDER}",
        (request_id, row_id),
    )
    return [EventRow(*row) for row in rows]


def events_between(
    connection: sqlite3.Connection, row_id: int, from_ms: int, to_ms: int, limit: int
) -> list[EventRow]:
    """A session's log events in a span of time."""
    rows = connection.execute(
        f"{_EVENTS} WHERE e.session_id = ? AND e.at_ms BETWEEN ? AND ? {_ORDER} LIMIT ?",
        (row_id, from_ms, to_ms, limit),
    )
    return [EventRow(*row) for row in rows]


def events_near(
    connection: sqlite3.Connection,
    row_id: int,
    name: str,
    request_id: str,
    from_ms: int,
    to_ms: int,
) -> list[EventRow]:
    """A session's log events of one name that name a request's id, or stand in a span of time."""
    rows = connection.execute(
        f"{_EVENTS} WHERE e.id IN (SELECT n.id FROM log_events n WHERE n.session_id = ?1 "
        "AND n.at_ms BETWEEN ?4 AND ?5 AND n.event = ?2 UNION SELECT n.id FROM log_events n "
        "WHERE n.request_id = ?3 AND n.request_id <> '' AND n.session_id = ?1 AND n.event = ?2) "
        f"{_ORDER}",
        (row_id, name, request_id, from_ms, to_ms),
    )
    return [EventRow(*row) for row in rows]


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


def context_usage_rows(connection: sqlite3.Connection, event_id: int) -> list[UsageRow]:
    """A context-usage report: its total, its categories, its roles."""
    rows = connection.execute(
        "SELECT scope, name, source, chars, tokens, tokens_redacted, "
        "CASE scope WHEN 'role' THEN '' ELSE contributors_json END FROM context_usage "
        "WHERE event_id = ? ORDER BY scope, position",
        (event_id,),
    )
    return [UsageRow(*row) for row in rows]


def report_counts(json: str) -> dict[str, int]:
    """The counts of a context-usage report, from its total's `contributors_json`."""
    return _decode_counts(json) if json else {}
