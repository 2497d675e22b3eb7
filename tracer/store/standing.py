"""Where one request stands in its session, without reading the others: what is asked of them is
in the index of the session's requests, but for those that started in the same moment."""

import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

from tracer.store.ordering import in_order, in_reverse, order_values

_BEFORE = f"({order_values('r')}) < (?, ?, ?, ?, ?, ?, ?, ?)"
_BEHIND = f"({order_values('r')}) > (?, ?, ?, ?, ?, ?, ?, ?)"


class Position(NamedTuple):
    """A request in the order of its session, which is given by row id."""

    session_row: int
    order: tuple[int | str, ...]


class TurnRow(NamedTuple):
    """A request of a turn; names are those of the table."""

    key: str
    attempt: int
    turn_id: str
    query_source: str
    status: str


class EarlierRow(NamedTuple):
    """A request before another one; names are those of the table."""

    id: int
    key: str
    started_at_ms: int | None
    model_id: str
    query_source: str
    node_id: int | None


class PromptTip(NamedTuple):
    """A request with a prompt, by its key, and the prompt's last node."""

    key: str
    node_id: int


def position_of(connection: sqlite3.Connection, row_id: int, key: str) -> Position | None:
    """Where a request stands in a session; None where it is none of it."""
    row = connection.execute(
        f"SELECT {order_values('r')} FROM requests r WHERE r.key = ? AND r.session_id = ?",
        (key, row_id),
    ).fetchone()
    return Position(row_id, tuple(row)) if row else None


def number_at(connection: sqlite3.Connection, at: Position) -> int:
    """The number of a request in its session, from 1."""
    row = connection.execute(
        f"SELECT count(*) FROM requests r WHERE r.session_id = ? AND {_BEFORE}",
        (at.session_row, *at.order),
    ).fetchone()
    return int(row[0]) + 1


def key_before(connection: sqlite3.Connection, at: Position) -> str:
    """The key of the request before another one; empty where it is the first."""
    row = connection.execute(
        f"SELECT r.key FROM requests r WHERE r.session_id = ? AND {_BEFORE} "
        f"ORDER BY {in_reverse('r')} LIMIT 1",
        (at.session_row, *at.order),
    ).fetchone()
    return row[0] if row else ""


def key_behind(connection: sqlite3.Connection, at: Position) -> str:
    """The key of the request behind another one; empty where it is the last."""
    row = connection.execute(
        f"SELECT r.key FROM requests r WHERE r.session_id = ? AND {_BEHIND} "
        f"ORDER BY {in_order('r')} LIMIT 1",
        (at.session_row, *at.order),
    ).fetchone()
    return row[0] if row else ""


def turn_rows(connection: sqlite3.Connection, row_id: int, turn_id: str) -> list[TurnRow]:
    """The requests of a turn, in order."""
    columns = ", ".join(f"r.{name}" for name in TurnRow._fields)
    rows = connection.execute(
        f"SELECT {columns} FROM requests r WHERE r.session_id = ? AND r.turn_id = ? "
        f"ORDER BY {in_order('r')}",
        (row_id, turn_id),
    )
    return [TurnRow._make(row) for row in rows]


def turns_before(connection: sqlite3.Connection, at: Position) -> int:
    """How many turns have a request before another one."""
    row = connection.execute(
        "SELECT count(DISTINCT r.turn_id) FROM requests r "
        f"WHERE r.session_id = ? AND r.turn_id <> '' AND {_BEFORE}",
        (at.session_row, *at.order),
    ).fetchone()
    return int(row[0])


def has_prompt_behind(connection: sqlite3.Connection, at: Position, lane: str) -> bool:
    """Whether a later request of a lane has a prompt."""
    row = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM requests r "
        f"WHERE r.session_id = ? AND r.lane = ? AND {_BEHIND} AND r.node_id IS NOT NULL)",
        (at.session_row, lane, *at.order),
    ).fetchone()
    return bool(row[0])


def prompt_before(connection: sqlite3.Connection, at: Position, lane: str) -> PromptTip | None:
    """The request with a prompt that is the nearest before another one in a lane."""
    row = connection.execute(
        "SELECT r.key, r.node_id FROM requests r "
        f"WHERE r.session_id = ? AND r.lane = ? AND {_BEFORE} AND r.node_id IS NOT NULL "
        f"ORDER BY {in_reverse('r')} LIMIT 1",
        (at.session_row, lane, *at.order),
    ).fetchone()
    return PromptTip(*row) if row else None


def prompt_of(connection: sqlite3.Connection, row_id: int, key: str) -> PromptTip | None:
    """A request of a session, if it has a prompt."""
    row = connection.execute(
        "SELECT r.key, r.node_id FROM requests r "
        "WHERE r.key = ? AND r.session_id = ? AND r.node_id IS NOT NULL",
        (key, row_id),
    ).fetchone()
    return PromptTip(*row) if row else None


def rows_before(connection: sqlite3.Connection, at: Position) -> Iterator[EarlierRow]:
    """The requests before another one, the latest first; each is read when it is asked for."""
    columns = ", ".join(f"r.{name}" for name in EarlierRow._fields)
    rows = connection.execute(
        f"SELECT {columns} FROM requests r WHERE r.session_id = ? AND {_BEFORE} "
        f"ORDER BY {in_reverse('r')}",
        (at.session_row, *at.order),
    )
    return map(EarlierRow._make, rows)


def first_starts(connection: sqlite3.Connection, row_id: int, lane: str, but_key: str) -> list[int]:
    """When the first attempts of a lane started, but for one request."""
    rows = connection.execute(
        "SELECT r.started_at_ms FROM requests r WHERE r.session_id = ? AND r.lane = ? "
        "AND r.attempt = 1 AND r.key <> ? AND r.started_at_ms IS NOT NULL",
        (row_id, lane, but_key),
    )
    return [row[0] for row in rows]
