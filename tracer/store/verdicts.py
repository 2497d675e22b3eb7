"""Verdicts: stored, read, ranked."""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tracer.store.ordering import in_order


class VerdictRow(NamedTuple):
    """One verdict; names are those of the table."""

    request_id: int
    session_id: int
    rules_version: int
    inputs_hash: bytes
    result: str
    baseline_key: str
    expected_tokens: int | None
    actual_tokens: int | None
    missed_tokens: int
    avoidable_tokens: int
    rebilled_tokens: int
    code: str
    subtype: str
    certainty: str
    fault: str
    tier: str
    block_index: int | None
    message_index: int | None
    section: str
    reminder: str
    one_line: str
    signals: str
    verdict_json: str


class SumsRow(NamedTuple):
    """The sums of a judged session; names are those of the table."""

    session_id: int
    rules_version: int
    judged: int
    misses: int
    expected_rebuilds: int
    missed_tokens: int
    avoidable_tokens: int
    rebilled_tokens: int
    corrected_read_tokens: int
    corrected_of_tokens: int


class MissRow(NamedTuple):
    """A miss with the request that it belongs to."""

    key: str
    session_id: str
    session_row: int
    title: str
    lane: str
    model_id: str
    started_at_ms: int | None
    verdict: VerdictRow


class CauseRow(NamedTuple):
    """What the misses of one primary cause come to."""

    code: str
    subtype: str
    requests: int
    missed_tokens: int
    avoidable_tokens: int
    rebilled_tokens: int


_COLUMNS = ", ".join(VerdictRow._fields)
_SAVE = f"INSERT OR REPLACE INTO verdicts ({_COLUMNS}) VALUES ({','.join('?' * 23)})"
_SAVE_SUMS = (
    f"INSERT OR REPLACE INTO session_verdicts ({', '.join(SumsRow._fields)}) "
    f"VALUES ({','.join('?' * len(SumsRow._fields))})"
)
_MISS = "v.result IN ('partial', 'miss')"


class Waiting(NamedTuple):
    """A session to judge. `prompts` tells that a prompt of it was logged."""

    row_id: int
    prompts: bool


def unjudged_sessions(connection: sqlite3.Connection, version: int, counted: bool) -> list[Waiting]:
    """The sessions that a version of the rules has not judged as they are: those with prompts
    first, then the one with the latest activity; `counted` False leaves those that only lack
    counts."""
    known = (version,) if counted else (version, -version)
    marks = ",".join("?" * len(known))
    rows = connection.execute(
        "SELECT s.id, EXISTS (SELECT 1 FROM requests r WHERE r.session_id = s.id AND r.node_id IS "
        f"NOT NULL) FROM sessions s WHERE s.judged NOT IN ({marks}) AND NOT s.unjoined "
        "ORDER BY 2 DESC, s.last_at_ms DESC NULLS LAST, s.session_id",
        known,
    )
    return [Waiting(row_id, bool(prompts)) for row_id, prompts in rows]


def judged_by(connection: sqlite3.Connection, row_id: int) -> int:
    """By which version a session is judged; 0 where it is not (see step m003)."""
    row = connection.execute(
        "SELECT CASE WHEN unjoined THEN 0 ELSE judged END FROM sessions WHERE id = ?", (row_id,)
    ).fetchone()
    return int(row[0]) if row else 0


def set_judged(
    connection: sqlite3.Connection, row_id: int, version: int, began: int | None = None
) -> None:
    """Note that a session is judged, inside the caller's transaction: only if nobody has stored
    anything since it was marked by `began`."""
    if began is None:
        connection.execute("UPDATE sessions SET judged = ? WHERE id = ?", (version, row_id))
        return
    connection.execute(
        "UPDATE sessions SET judged = ? WHERE id = ? AND judged = ?", (version, row_id, began)
    )


def save_verdicts(connection: sqlite3.Connection, rows: Iterable[VerdictRow]) -> None:
    """Store verdicts, inside the caller's transaction."""
    connection.executemany(_SAVE, rows)


def save_sums(connection: sqlite3.Connection, sums: SumsRow) -> None:
    """Store a session's sums, inside the caller's transaction."""
    connection.execute(_SAVE_SUMS, sums)


def stored_verdicts(
    connection: sqlite3.Connection, row_id: int, *, whole: bool = False
) -> dict[int, VerdictRow]:
    """The stored verdicts of a session, by request row id; `verdict_json` only if `whole`."""
    columns = _COLUMNS if whole else _COLUMNS.replace("verdict_json", "''")
    rows = connection.execute(f"SELECT {columns} FROM verdicts WHERE session_id = ?", (row_id,))
    return {row[0]: VerdictRow(*row) for row in rows}


def verdicts_of(connection: sqlite3.Connection, requests: Sequence[int]) -> dict[int, VerdictRow]:
    """The same of some requests, by request row id, without `verdict_json`."""
    columns = _COLUMNS.replace("verdict_json", "''")
    rows = connection.execute(
        f"SELECT {columns} FROM verdicts WHERE request_id IN (SELECT value FROM json_each(?))",
        (json.dumps(requests),),
    )
    return {row[0]: VerdictRow._make(row) for row in rows}


def verdict_results(connection: sqlite3.Connection, row_id: int) -> list[tuple[int, str, str]]:
    """Request row id, result and baseline of each stored verdict of a session."""
    return connection.execute(
        "SELECT request_id, result, baseline_key FROM verdicts WHERE session_id = ?", (row_id,)
    ).fetchall()


def stored_verdict(connection: sqlite3.Connection, request_row: int) -> VerdictRow | None:
    """The stored verdict of one request."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM verdicts WHERE request_id = ?", (request_row,)
    ).fetchone()
    return VerdictRow(*row) if row else None


def shown_by(connection: sqlite3.Connection, row_id: int, message: int, key: str) -> str:
    """The key of the request whose verdict names a change of a message that the record of request
    `key` is the first to show; empty for none."""
    row = connection.execute(
        "SELECT r.key FROM verdicts v JOIN requests r ON r.id = v.request_id "
        "WHERE v.session_id = ? AND v.message_index = ? "
        "AND json_extract(v.verdict_json, '$.causes[0].shown_by') = ? "
        "ORDER BY r.started_at_ms DESC LIMIT 1",
        (row_id, message, key),
    ).fetchone()
    return row[0] if row else ""


def shown_later(
    connection: sqlite3.Connection, row_id: int, message: int
) -> list[tuple[str, int, str]]:
    """The requests of a session whose verdict names a change of a message that only a later record
    shows: the key of that record's request, and row id and key of their own; the latest last."""
    return connection.execute(
        "SELECT json_extract(v.verdict_json, '$.causes[0].shown_by') AS shown, r.id, r.key "
        "FROM verdicts v JOIN requests r ON r.id = v.request_id "
        "WHERE v.session_id = ? AND v.message_index = ? AND shown <> '' ORDER BY r.started_at_ms",
        (row_id, message),
    ).fetchall()


def stored_sums(connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, SumsRow]:
    """The sums of those sessions that are judged, by session row id."""
    marks = ",".join("?" * len(ids))
    rows = connection.execute(
        f"SELECT {', '.join(SumsRow._fields)} FROM session_verdicts WHERE session_id IN ({marks})",
        tuple(ids),
    )
    return {row[0]: SumsRow(*row) for row in rows}


def cause_rows(connection: sqlite3.Connection, row_id: int | None) -> list[CauseRow]:
    """Misses by primary cause, the costliest first; of one session, or of all."""
    where = "AND v.session_id = ?" if row_id is not None else ""
    values = (row_id,) if row_id is not None else ()
    rows = connection.execute(
        "SELECT v.code, v.subtype, count(*), sum(v.missed_tokens), sum(v.avoidable_tokens), "
        f"sum(v.rebilled_tokens) FROM verdicts v WHERE {_MISS} {where} "
        "GROUP BY v.code, v.subtype ORDER BY 6 DESC, 1, 2",
        values,
    )
    return [CauseRow(*row) for row in rows]


def miss_rows(
    connection: sqlite3.Connection, row_id: int | None, code: str, limit: int, offset: int
) -> list[MissRow]:
    """Misses, the costliest first; of one session or of all, of one cause or of all."""
    where = ""
    values: list[int | str] = []
    if row_id is not None:
        where += " AND v.session_id = ?"
        values.append(row_id)
    if code:
        where += " AND v.code = ?"
        values.append(code)
    columns = ", ".join(f"v.{name}" for name in VerdictRow._fields)
    rows = connection.execute(
        "SELECT r.key, s.session_id, s.id, s.title, r.lane, r.model_id, r.started_at_ms, "
        f"{columns} FROM verdicts v JOIN requests r ON r.id = v.request_id "
        f"JOIN sessions s ON s.id = v.session_id WHERE {_MISS}{where} "
        f"ORDER BY v.rebilled_tokens DESC, r.key LIMIT {int(limit)} OFFSET {int(offset)}",
        tuple(values),
    )
    return [
        MissRow(key, session, session_row, title, lane, model, started, VerdictRow(*rest))
        for key, session, session_row, title, lane, model, started, *rest in rows
    ]


def request_numbers(connection: sqlite3.Connection, sessions: Iterable[int]) -> dict[int, int]:
    """The number of each request in its session, from 1, by request row id."""
    ids = tuple(sorted(set(sessions)))
    rows = connection.execute(
        f"SELECT id, row_number() OVER (PARTITION BY session_id ORDER BY {in_order()}) "
        "FROM requests "
        f"WHERE session_id IN ({','.join('?' * len(ids))})",
        ids,
    )
    return dict(rows.fetchall())


def unjudged_count(connection: sqlite3.Connection, version: int) -> int:
    """How many sessions with requests have no verdicts of this version."""
    row = connection.execute(
        "SELECT count(*) FROM sessions s WHERE abs(s.judged) <> ? AND EXISTS "
        "(SELECT 1 FROM requests r WHERE r.session_id = s.id)",
        (version,),
    ).fetchone()
    return int(row[0])
