"""The sessions list: which sessions a filter finds, and what there is to choose from."""

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from tracer.model.session_list import SessionFilter


class FamilyRow(NamedTuple):
    """What a list says of a session beside its sums. `children` are sessions that it started."""

    id: int
    children: int
    parent_known: int
    task_type: str
    removed_at_ms: int | None
    archived_at_ms: int | None


def find_sessions(
    connection: sqlite3.Connection, wanted: SessionFilter, limit: int, offset: int
) -> tuple[list[int], int]:
    """The row ids of a page of sessions, newest activity first, and how many match in all."""
    clauses, values = _where(connection, wanted)
    where = f"WHERE {' AND '.join(clauses)}" if clauses else ""
    total = connection.execute(f"SELECT count(*) FROM sessions s {where}", values).fetchone()[0]
    rows = connection.execute(
        f"SELECT s.id FROM sessions s {where} ORDER BY s.last_at_ms DESC NULLS LAST, s.session_id "
        "LIMIT ? OFFSET ?",
        (*values, limit, offset),
    )
    return [row[0] for row in rows], int(total)


def _where(
    connection: sqlite3.Connection, wanted: SessionFilter
) -> tuple[list[str], list[str | int]]:
    clauses: list[str] = []
    values: list[str | int] = []
    for column, value in (("project", wanted.project), ("agent", wanted.agent)):
        if value:
            clauses.append(f"s.{column} = ?")
            values.append(value)
    if wanted.since_ms is not None:
        clauses.append("coalesce(s.last_at_ms, s.first_at_ms) >= ?")
        values.append(wanted.since_ms)
    if wanted.until_ms is not None:
        clauses.append("coalesce(s.first_at_ms, s.last_at_ms) <= ?")
        values.append(wanted.until_ms)
    if wanted.misses:
        clauses.append("s.id IN (SELECT v.session_id FROM session_verdicts v WHERE v.misses > 0)")
    if wanted.model:
        clauses.append("s.id IN (SELECT r.session_id FROM requests r WHERE r.model_id = ?)")
        values.append(wanted.model)
    for word in wanted.text.split():
        clause, more = _text(connection, word)
        clauses.append(clause)
        values += more
    return clauses, values


def _text(connection: sqlite3.Connection, word: str) -> tuple[str, list[str | int]]:
    """A word anywhere in what a list shows. Models are found by name first: there are few of them,
    and many requests."""
    pattern = "%" + word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
    columns = ("session_id", "title", "project", "agent")
    clause = " OR ".join(f"s.{column} LIKE ? ESCAPE '\\'" for column in columns)
    values: list[str | int] = [pattern] * len(columns)
    models = [name for name in model_names(connection) if word.casefold() in name.casefold()]
    if models:
        marks = ",".join("?" * len(models))
        clause += f" OR s.id IN (SELECT r.session_id FROM requests r WHERE r.model_id IN ({marks}))"
        values += models
    return f"({clause})", values


def family_rows(connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, FamilyRow]:
    """Parents, children and the state of sessions, by row id."""
    marks = ",".join("?" * len(ids))
    rows = connection.execute(
        "SELECT s.id, (SELECT count(*) FROM sessions c WHERE c.parent_session_id = s.session_id), "
        "s.parent_session_id <> '' AND EXISTS (SELECT 1 FROM sessions p WHERE p.session_id = "
        "s.parent_session_id), coalesce(f.task_type, ''), f.removed_at_ms, f.archived_at_ms FROM "
        f"sessions s LEFT JOIN session_facts f ON f.session_id = s.id WHERE s.id IN ({marks})",
        tuple(ids),
    )
    return {row[0]: FamilyRow(*row) for row in rows}


def project_names(connection: sqlite3.Connection) -> list[str]:
    """All projects, those with the most sessions first."""
    rows = connection.execute(
        "SELECT project FROM sessions WHERE project <> '' GROUP BY project "
        "ORDER BY count(*) DESC, project"
    )
    return [row[0] for row in rows]


def agent_names(connection: sqlite3.Connection) -> list[str]:
    """All agents, those with the most sessions first."""
    rows = connection.execute(
        "SELECT agent FROM sessions WHERE agent <> '' GROUP BY agent ORDER BY count(*) DESC, agent"
    )
    return [row[0] for row in rows]


def model_names(connection: sqlite3.Connection) -> list[str]:
    """All models that were asked, by name; from one to the next in the index, past the requests."""
    rows = connection.execute(
        "WITH RECURSIVE names(name) AS (SELECT min(model_id) FROM requests WHERE model_id > '' "
        "UNION ALL SELECT (SELECT min(model_id) FROM requests WHERE model_id > name) FROM names "
        "WHERE name IS NOT NULL) SELECT name FROM names WHERE name IS NOT NULL"
    )
    return [row[0] for row in rows]
