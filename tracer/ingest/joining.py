"""Putting together what several files say of one session, after something in it has changed.

What comes out depends on what is stored and not on the order in which it was read: a usage row is
tied to the request that another file knows, or becomes a request of its own; that one gives way as
soon as a better record is read.
"""

import sqlite3
from collections.abc import Sequence

import msgspec

from tracer.assemble.joins import Strength
from tracer.assemble.usage import normalise
from tracer.assemble.usage_joins import (
    CallFacts,
    UsageJoin,
    join_usage,
    known_usage,
    total_conflict,
    usage_facts,
)
from tracer.hashing import digest
from tracer.ingest.traces import put_trace_together
from tracer.model.events import Status
from tracer.model.usage import Usage
from tracer.store.joined import (
    KnownRequest,
    StoredUsage,
    describe_session,
    drop_derived,
    fill_usage,
    known_requests,
    put_derived,
    put_places,
    set_joined,
    set_joins,
    stored_usage,
    unjoined_sessions,
)
from tracer.store.records import FILLED, FROM_DATABASE
from tracer.store.tables import DATABASE, EVENT
from tracer.store.writer import Writer

BATCH_SESSIONS = 200
_STATUS = {
    "completed": Status.COMPLETED,
    "error": Status.FAILED,
    "failed": Status.FAILED,
    "cancelled": Status.CANCELLED,
}
_ONLY = "no other file knows this call"
_encode = msgspec.json.Encoder().encode


def join_sessions(writer: Writer) -> int:
    """Join every session that something was stored of; returns how many were."""
    done = 0
    while sessions := unjoined_sessions(writer.connection, BATCH_SESSIONS):
        writer.begin()
        try:
            for row_id, session_id in sessions:
                _join_session(writer, row_id, session_id)
            set_joined(writer.connection, [row_id for row_id, _ in sessions])
            writer.commit()
        except BaseException:
            writer.rollback()
            raise
        done += len(sessions)
    return done


def _join_session(writer: Writer, row_id: int, session_id: str) -> None:
    connection = writer.connection
    describe_session(connection, row_id, session_id)
    put_trace_together(writer, row_id, session_id)
    usage = stored_usage(connection, row_id, session_id)
    requests = known_requests(connection, row_id)
    own = [r for r in requests if not r.from_log & FROM_DATABASE]
    old_derived = {r.id for r in requests if r.from_log & FROM_DATABASE}
    if not usage and not old_derived:
        return
    facts = [_facts(request) for request in own]
    joined: dict[int, tuple[int | None, UsageJoin]] = {}
    wanted: dict[int, StoredUsage] = {}
    ids = {request.key: request.id for request in own}
    for origin in (DATABASE, EVENT):
        rows = {u.row.usage_id: u for u in usage if u.origin == origin}
        for join in join_usage(facts, [usage_facts(u.row) for u in rows.values()]):
            stored = rows[join.usage_id]
            if join.request_key:
                joined[stored.id] = (ids[join.request_key], join)
                continue
            derived = _derive(connection, row_id, stored)
            wanted[derived] = stored
            joined[stored.id] = (derived, _only(join))
            key = _derived_key(session_id, join.usage_id)
            facts.append(usage_facts(stored.row)._replace(name=key))
            ids[key] = derived
    put_places(connection, wanted.items())
    drop_derived(connection, sorted(old_derived - wanted.keys()))
    _store_joins(connection, usage, joined)
    _fill(connection, own, usage, joined)


def _facts(request: KnownRequest) -> CallFacts:
    """What joining needs of a request; usage that was taken from a row is none of its own."""
    filled = request.from_log & FILLED
    return CallFacts(
        request.key, request.turn_id, request.trace_id, request.query_source, request.model_id,
        request.status, request.started_at_ms, request.completed_at_ms,
        None if filled else request.input_tokens,
        None if filled else request.cache_read_tokens,
        None if filled else request.output_tokens,
    )  # fmt: skip


def _derived_key(session_id: str, usage_id: str) -> str:
    """The 12 hex digits that name a request which only a usage row knows."""
    return digest(f"usage|{session_id}|{usage_id}".encode()).hex()[:12]


def _derive(connection: sqlite3.Connection, row_id: int, stored: StoredUsage) -> int:
    row = stored.row
    key = _derived_key(row.session_id, row.usage_id)
    status = _STATUS.get(row.status, Status.UNKNOWN)
    return put_derived(connection, key, row_id, stored, status, _usage(stored))


def _usage(stored: StoredUsage) -> Usage | None:
    reported = known_usage(stored.row)
    return normalise(reported) if reported is not None else None


def _only(join: UsageJoin) -> UsageJoin:
    return join._replace(strength=Strength.EXACT, key=_ONLY)


def _store_joins(
    connection: sqlite3.Connection,
    usage: Sequence[StoredUsage],
    joined: dict[int, tuple[int | None, UsageJoin]],
) -> None:
    changed = []
    for stored in usage:
        request_id, join = joined[stored.id]
        conflicts = list(join.conflicts)
        total = total_conflict(stored.row)
        if total is not None:
            conflicts.append(total)
        text = _encode([c._asdict() for c in conflicts]).decode() if conflicts else ""
        values = (request_id, str(join.strength), join.key, text)
        known = (stored.request_id, stored.join_strength, stored.join_key, stored.conflicts_json)
        if values != known:
            changed.append((*values, stored.id))
    set_joins(connection, changed)


def _fill(
    connection: sqlite3.Connection,
    own: Sequence[KnownRequest],
    usage: Sequence[StoredUsage],
    joined: dict[int, tuple[int | None, UsageJoin]],
) -> None:
    """Requests that only a log knows take the usage of their row."""
    row_of = {
        request_id: stored
        for stored in sorted(usage, key=lambda u: u.origin != DATABASE, reverse=True)
        if (request_id := joined[stored.id][0]) is not None
    }
    for request in own:
        if not request.from_log or (request.usage_convention and not request.from_log & FILLED):
            continue
        stored_row = row_of.get(request.id)
        found = _usage(stored_row) if stored_row is not None else None
        if found is not None or request.from_log & FILLED:
            fill_usage(connection, request.id, found)
