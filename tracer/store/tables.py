"""Writing the rows of session databases and agents' folders: each once, whatever it is read from.

A row that says what is stored already is not written. A row that says something else replaces it:
always where both come from the same file, else where it is the later one.
"""

import sqlite3
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from tracer.hashing import digest
from tracer.model.conversation import (
    AgentRun,
    MessageRow,
    PartRow,
    SessionFacts,
    SessionRecord,
    TableRecord,
    TodoRow,
)
from tracer.model.usage_rows import ToolRow, TurnRow, UsageRow
from tracer.store.records import Records
from tracer.store.writer import COMPRESS_FROM_CHARS, COMPRESSION_LEVEL, Place

DATABASE, EVENT = "database", "event"
"""Where a usage row comes from: a session database, or a session event."""

_encode = msgspec.json.Encoder().encode
_PLACE = ("row_hash", "version_ms", "source_id", "line")
_TIMES = ("updated_at_ms", "completed_at_ms", "created_at_ms", "started_at_ms")


class _Target(NamedTuple):
    """A table: its name, the columns that name a row, and columns beside the record's own."""

    name: str
    key: tuple[str, ...]
    extra: tuple[str, ...] = ()


_TARGETS: dict[type[Any], _Target] = {
    SessionFacts: _Target("session_facts", ("session_id",)),
    UsageRow: _Target("usage_rows", ("session_id", "usage_id"), ("origin",)),
    TurnRow: _Target("turn_rows", ("session_id", "turn_id")),
    ToolRow: _Target("tool_rows", ("session_id", "call_id")),
    MessageRow: _Target("messages", ("session_id", "message_id")),
    PartRow: _Target("parts", ("session_id", "part_id"), ("text_zlib",)),
    TodoRow: _Target("todos", ("session_id", "position")),
    SessionRecord: _Target("session_records", ("session_id", "family", "record_id")),
    AgentRun: _Target("agent_runs", ("session_id", "agent_id")),
}


def _upsert(record_type: type[Any]) -> str:
    target = _TARGETS[record_type]
    columns = ("session_id", *record_type._fields[1:], *_PLACE, *target.extra)
    updates = ", ".join(f"{c} = excluded.{c}" for c in columns if c not in target.key)
    name = target.name
    return (
        f"INSERT INTO {name} ({', '.join(columns)}) VALUES ({','.join('?' * len(columns))}) "
        f"ON CONFLICT ({', '.join(target.key)}) DO UPDATE SET {updates} "
        f"WHERE {name}.row_hash <> excluded.row_hash AND ({name}.source_id = excluded.source_id OR "
        f"({name}.version_ms, {name}.row_hash) < (excluded.version_ms, excluded.row_hash)) "
        "RETURNING 1"
    )


_UPSERTS = {record_type: _upsert(record_type) for record_type in _TARGETS}


class TableRows:
    """Writes records of tables through the transaction of a `Records`' writer."""

    def __init__(self, connection: sqlite3.Connection, records: Records) -> None:
        self._execute = connection.execute
        self._many = connection.executemany
        self._records = records
        self._touched: set[int] = set()

    def put(
        self, record: TableRecord | AgentRun, agent: str, place: Place, origin: str = DATABASE
    ) -> bool:
        """Store a record; False where it says nothing new."""
        session = self._records.session_row(record[0], agent)
        version = _version(record)
        values: list[Any] = [session, *record[1:], digest(_encode(record)), version or 0]
        values += [place.source_id, place.line]
        if isinstance(record, UsageRow):
            values.append(origin)
        elif isinstance(record, PartRow):
            values.append(_compressed(record, values))
        if self._execute(_UPSERTS[type(record)], values).fetchone() is None:
            return False
        self._touched.add(session)
        for at_ms in _activity(record):
            self._records.session(record[0], agent, at_ms)
        if isinstance(record, AgentRun) and record.child_session_id:
            self._touched.add(self._records.session_row(record.child_session_id, agent))
        return True

    def flush(self) -> None:
        """Mark the sessions that were touched, to be joined: before the writer commits."""
        self._many("UPDATE sessions SET unjoined = 1 WHERE id = ?", [(i,) for i in self._touched])
        self._touched.clear()

    def forget(self) -> None:
        """Drop what a batch has collected."""
        self._touched.clear()


def _version(record: TableRecord | AgentRun) -> int | None:
    return next((t for name in _TIMES if (t := getattr(record, name, None)) is not None), None)


def _activity(record: TableRecord | AgentRun) -> list[int]:
    """The times at which something happened in the session. A session's own time of update is
    none: it moves when the session is renamed or archived."""
    names = ("created_at_ms", "started_at_ms", "completed_at_ms")
    return [t for name in names if (t := getattr(record, name, None)) is not None]


def _compressed(record: PartRow, values: list[Any]) -> bytes | None:
    if len(record.text) < COMPRESS_FROM_CHARS:
        return None
    values[PartRow._fields.index("text")] = ""
    return zlib.compress(record.text.encode("utf-8", "replace"), COMPRESSION_LEVEL)


class Cursor(NamedTuple):
    """How far a table of another program's database was read."""

    device: int
    inode: int
    changed_ms: int
    last_rowid: int
    rows: int


def load_cursor(connection: sqlite3.Connection, path: str, table: str) -> Cursor | None:
    """Where reading a table goes on."""
    row = connection.execute(
        "SELECT device, inode, changed_ms, last_rowid, rows FROM table_cursors "
        "WHERE path = ? AND table_name = ?",
        (path, table),
    ).fetchone()
    return Cursor(*row) if row else None


def save_cursor(connection: sqlite3.Connection, path: str, table: str, cursor: Cursor) -> None:
    """Note how far a table was read."""
    connection.execute(
        "INSERT OR REPLACE INTO table_cursors VALUES (?, ?, ?, ?, ?, ?, ?)", (path, table, *cursor)
    )


def mark_removed(
    connection: sqlite3.Connection, path: str, present: Sequence[str], at_ms: int
) -> int:
    """Mark the sessions that were read from a database and are no longer in it, and unmark those
    that are back; returns how many marks were set. What they said is kept."""
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS present (session_id TEXT PRIMARY KEY)")
    connection.execute("DELETE FROM present")
    connection.executemany("INSERT OR IGNORE INTO present VALUES (?)", [(p,) for p in present])
    own = (
        "source_id IN (SELECT id FROM sources WHERE path = ?) AND session_id {} (SELECT s.id FROM "
        "sessions s JOIN present p ON p.session_id = s.session_id)"
    )
    connection.execute(
        f"UPDATE session_facts SET removed_at_ms = NULL WHERE removed_at_ms IS NOT NULL AND "
        f"{own.format('IN')}",
        (path,),
    )
    cursor = connection.execute(
        f"UPDATE session_facts SET removed_at_ms = ? WHERE removed_at_ms IS NULL AND "
        f"{own.format('NOT IN')}",
        (at_ms, path),
    )
    return cursor.rowcount


def stored_run(connection: sqlite3.Connection, parent: str, agent_id: str) -> AgentRun | None:
    """What is known of a subagent's run."""
    columns = ", ".join(f"a.{name}" for name in AgentRun._fields[1:])
    row = connection.execute(
        f"SELECT s.session_id, {columns} FROM agent_runs a JOIN sessions s ON s.id = a.session_id "
        "WHERE s.session_id = ? AND a.agent_id = ?",
        (parent, agent_id),
    ).fetchone()
    return AgentRun(*row) if row else None
