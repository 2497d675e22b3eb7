"""What rules are asked about, and what they found: each function is one query or one statement."""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tracer.model.prompt import Block, Kind, Tier
from tracer.store.tokens import block_text


class SessionFacts(NamedTuple):
    """What names a session."""

    session_id: str
    agent: str


class EventFacts(NamedTuple):
    """One log event; names are those of the table."""

    at_ms: int | None
    level: str
    event: str
    module: str
    message: str
    trace_id: str
    span_id: str
    turn_id: str
    tool_call_id: str
    duration_ms: int | None
    status: str
    request_id: str
    attempt: int | None
    context_json: str
    source_id: int
    line: int


class UsageFacts(NamedTuple):
    """One row of a context-usage report, with the event that it belongs to. `counts_json` are the
    report's counts, on its total."""

    event_id: int
    at_ms: int | None
    turn_id: str
    scope: str
    name: str
    source: str
    chars: int | None
    tokens: int | None
    tokens_redacted: int
    messages: int | None
    request_id: str
    counts_json: str


class FindingRow(NamedTuple):
    """One finding; names are those of the table."""

    session_id: int
    position: int
    request_id: int
    rule: str
    level: str
    message_index: int | None
    prompt_index: int | None
    message: str
    evidence_json: str


class RuleRow(NamedTuple):
    """A rule that was asked about a session (`needs` empty), or one reason why its log cannot
    decide it, with the first request where that is so and how many there are."""

    session_id: int
    rule: str
    position: int
    needs: str
    request_id: int | None
    requests: int


class FoundRow(NamedTuple):
    """A finding with the request and the session that it belongs to."""

    rule: str
    level: str
    key: str
    message: str
    message_index: int | None
    prompt_index: int | None
    evidence_json: str
    session_row: int
    session_id: str
    session_title: str
    request_row: int


class AskedRow(NamedTuple):
    """What is stored of a rule and a session."""

    rule: str
    needs: str
    key: str
    requests: int
    session_row: int
    session_id: str


def session_facts(connection: sqlite3.Connection, row_id: int) -> SessionFacts:
    """The session's id, and the agent whose files told of it."""
    row = connection.execute(
        "SELECT session_id, agent FROM sessions WHERE id = ?", (row_id,)
    ).fetchone()
    return SessionFacts(*row)


def block_contents(
    connection: sqlite3.Connection, ids: Iterable[int]
) -> dict[int, tuple[Block, bytes]]:
    """Blocks with their texts and wire hashes, by row id."""
    rows = connection.execute(
        "SELECT b.id, b.wire_hash, b.tier, b.role, b.kind, x.text, x.text_zlib, b.shape, b.name, "
        "b.call_id, b.extra_json, b.message_json, b.span_messages FROM json_each(?1) j "
        "JOIN blocks b ON b.id = j.value LEFT JOIN block_texts x ON x.block_id = b.id",
        (json.dumps(sorted(ids)),),
    )
    tiers, kinds = {t.value: t for t in Tier}, {k.value: k for k in Kind}
    return {
        i: (Block(tiers[tier], role, kinds[kind], block_text(text, packed), *rest), wire)
        for i, wire, tier, role, kind, text, packed, *rest in rows
    }


def session_log(connection: sqlite3.Connection, row_id: int) -> list[EventFacts]:
    """The session's log events with a name, in their order, without those about one attempt and
    without the reports of its context: requests carry what these say."""
    rows = connection.execute(
        f"SELECT {', '.join('e.' + c for c in EventFacts._fields)} FROM log_events e "
        "JOIN sources src ON src.id = e.source_id WHERE e.session_id = ? "
        "AND e.request_id = '' AND e.event NOT IN ('', 'context_usage_snapshot') "
        "ORDER BY e.at_ms, src.path, src.segment, e.line",
        (row_id,),
    )
    return list(map(EventFacts._make, rows))


def has_log(connection: sqlite3.Connection, row_id: int) -> bool:
    """Whether the session has any event beside those about one attempt and the reports of its
    context."""
    row = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM log_events WHERE session_id = ? AND request_id = '' "
        "AND event <> 'context_usage_snapshot')",
        (row_id,),
    ).fetchone()
    return bool(row[0])


def session_snapshots(connection: sqlite3.Connection, row_id: int) -> list[UsageFacts]:
    """All rows of the session's context-usage reports."""
    rows = connection.execute(
        "SELECT u.event_id, e.at_ms, e.turn_id, u.scope, u.name, u.source, u.chars, u.tokens, "
        "u.tokens_redacted, u.count, e.request_id, "
        "CASE u.scope WHEN 'total' THEN u.contributors_json ELSE '' END "
        "FROM log_events e JOIN context_usage u ON u.event_id = e.id "
        "WHERE e.session_id = ? ORDER BY u.event_id, u.scope, u.position",
        (row_id,),
    )
    return [UsageFacts(*row) for row in rows]


def unchecked_sessions(
    connection: sqlite3.Connection, version: str, *, counted: bool = False
) -> list[int]:
    """Row ids of the sessions with a prompt that a version of the rules has not checked as they
    are, the one with the latest activity first; `counted` tells that every block is counted, and
    adds those that were checked before they were."""
    rows = connection.execute(
        "SELECT s.id FROM sessions s WHERE (s.checked <> ?1 OR ?2 AND EXISTS "
        "(SELECT 1 FROM session_contents c WHERE c.session_id = s.id AND NOT c.counted)) "
        "AND NOT s.unjoined AND EXISTS "
        "(SELECT 1 FROM requests r WHERE r.session_id = s.id AND r.node_id IS NOT NULL) "
        "ORDER BY s.last_at_ms DESC NULLS LAST, s.session_id",
        (version, counted),
    )
    return [row[0] for row in rows]


def checked_by(connection: sqlite3.Connection, row_id: int) -> str:
    """By which version of the rules a session is checked as it is; empty where it is not."""
    row = connection.execute(
        "SELECT CASE WHEN unjoined THEN '' ELSE checked END FROM sessions WHERE id = ?", (row_id,)
    ).fetchone()
    return str(row[0]) if row else ""


def set_checked(
    connection: sqlite3.Connection, row_id: int, version: str, began: str | None = None
) -> bool:
    """Note that a session is checked, inside the caller's transaction: only if nobody has stored
    anything since it was marked by `began`. False where somebody has."""
    done = connection.execute(
        "UPDATE sessions SET checked = ?1 WHERE id = ?2 AND (?3 IS NULL OR checked = ?3)",
        (version, row_id, began),
    )
    return done.rowcount > 0


def save_checks(
    connection: sqlite3.Connection,
    row_id: int,
    findings: Sequence[FindingRow],
    rules: Sequence[RuleRow],
) -> None:
    """Replace what is stored of a session's checks, inside the caller's transaction."""
    for table, rows in (("findings", findings), ("session_rules", rules)):
        connection.execute(f"DELETE FROM {table} WHERE session_id = ?", (row_id,))
        if rows:
            marks = ",".join("?" * len(rows[0]))
            connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)


_FOUND = """SELECT f.rule, f.level, r.key, f.message, f.message_index, f.prompt_index,
  f.evidence_json, s.id, s.session_id, s.title, r.id
FROM findings f JOIN requests r ON r.id = f.request_id
JOIN sessions s ON s.id = f.session_id"""


def found_rows(connection: sqlite3.Connection, row_id: int | None = None) -> list[FoundRow]:
    """The findings of a session, or of all, those of the session last active first."""
    where = "" if row_id is None else "WHERE f.session_id = ?"
    rows = connection.execute(
        f"{_FOUND} {where} ORDER BY s.last_at_ms DESC NULLS LAST, s.session_id, f.position",
        () if row_id is None else (row_id,),
    )
    return [FoundRow(*row) for row in rows]


def asked_rows(connection: sqlite3.Connection, row_id: int | None = None) -> list[AskedRow]:
    """Which rules were asked, and why some could not be decided: of a session, or of all."""
    where = "" if row_id is None else "WHERE a.session_id = ?"
    rows = connection.execute(
        "SELECT a.rule, a.needs, coalesce(r.key, ''), a.requests, s.id, s.session_id "
        "FROM session_rules a JOIN sessions s ON s.id = a.session_id "
        f"LEFT JOIN requests r ON r.id = a.request_id {where} "
        "ORDER BY s.last_at_ms DESC NULLS LAST, s.session_id, a.rule, a.position",
        () if row_id is None else (row_id,),
    )
    return [AskedRow(*row) for row in rows]


def finding_counts(
    connection: sqlite3.Connection, ids: Sequence[int], off: Iterable[str]
) -> dict[int, int]:
    """How many findings each of those sessions has that were checked; rules that are `off` do not
    count."""
    rows = connection.execute(
        "SELECT s.id, count(f.rule) FROM sessions s LEFT JOIN findings f ON f.session_id = s.id "
        "AND f.rule NOT IN (SELECT value FROM json_each(?2)) "
        "WHERE s.id IN (SELECT value FROM json_each(?1)) AND EXISTS "
        "(SELECT 1 FROM session_rules a WHERE a.session_id = s.id) GROUP BY s.id",
        (json.dumps(list(ids)), json.dumps(sorted(off))),
    )
    return dict(rows.fetchall())


def request_row_ids(connection: sqlite3.Connection, row_id: int) -> dict[str, int]:
    """The row ids of a session's requests, by key."""
    rows = connection.execute("SELECT key, id FROM requests WHERE session_id = ?", (row_id,))
    return dict(rows.fetchall())


def request_count(connection: sqlite3.Connection, row_id: int) -> int:
    """How many requests a session has."""
    row = connection.execute("SELECT count(*) FROM requests WHERE session_id = ?", (row_id,))
    return int(row.fetchone()[0])


def all_session_rows(connection: sqlite3.Connection) -> list[int]:
    """The row ids of all sessions, the one last active first."""
    rows = connection.execute(
        "SELECT id FROM sessions ORDER BY last_at_ms DESC NULLS LAST, session_id"
    )
    return [row[0] for row in rows]


def session_title(connection: sqlite3.Connection, row_id: int) -> str:
    """The title of a session; empty where it has none."""
    row = connection.execute("SELECT title FROM sessions WHERE id = ?", (row_id,)).fetchone()
    return str(row[0])


def finding_marks(
    connection: sqlite3.Connection, row_id: int, off: Iterable[str]
) -> list[tuple[str, str, int]]:
    """Key, level and number of the findings of a session by request and level; rules that are `off`
    do not count."""
    return connection.execute(
        "SELECT r.key, f.level, count(*) FROM findings f JOIN requests r ON r.id = f.request_id "
        "WHERE f.session_id = ? AND f.rule NOT IN (SELECT value FROM json_each(?)) "
        "GROUP BY f.request_id, f.level",
        (row_id, json.dumps(sorted(off))),
    ).fetchall()


def unchecked_count(connection: sqlite3.Connection, version: str) -> int:
    """How many sessions with a prompt a version of the rules has not checked as they are."""
    row = connection.execute(
        "SELECT count(*) FROM sessions s WHERE s.checked <> ? AND EXISTS (SELECT 1 FROM requests r "
        "WHERE r.session_id = s.id AND r.node_id IS NOT NULL)",
        (version,),
    ).fetchone()
    return int(row[0])


class ReasonRow(NamedTuple):
    """What a rule needs that logs do not hold: at how many requests of how many sessions, and the
    newest of the sessions with the first of its requests."""

    rule: str
    needs: str
    requests: int
    sessions: int
    session_id: str
    key: str


def finding_totals(connection: sqlite3.Connection) -> dict[str, int]:
    """How many findings each rule has, over all sessions."""
    rows = connection.execute("SELECT rule, count(*) FROM findings GROUP BY rule")
    return dict(rows.fetchall())


def newest_findings(
    connection: sqlite3.Connection, rule: str, limit: int, offset: int
) -> list[FoundRow]:
    """Some of a rule's findings over all sessions, the session stored last first."""
    rows = connection.execute(
        f"{_FOUND} WHERE f.rule = ? ORDER BY f.session_id DESC, f.position "
        f"LIMIT {int(limit)} OFFSET {int(offset)}",
        (rule,),
    )
    return [FoundRow(*row) for row in rows]


def reason_rows(connection: sqlite3.Connection) -> list[ReasonRow]:
    """Why rules could not be decided, over all sessions. `needs` is empty for what was asked."""
    rows = connection.execute(
        "SELECT g.rule, g.needs, g.requests, g.sessions, s.session_id, coalesce(r.key, '') FROM "
        # Where max() is taken, the other columns are those of its row.
        "(SELECT rule, needs, sum(requests) AS requests, count(*) AS sessions, "
        "max(session_id) AS session_row, request_id FROM session_rules GROUP BY rule, needs) g "
        "JOIN sessions s ON s.id = g.session_row LEFT JOIN requests r ON r.id = g.request_id"
    )
    return [ReasonRow(*row) for row in rows]
