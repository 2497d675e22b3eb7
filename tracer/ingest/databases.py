"""Reading a session database again and again: what is new, and what was changed in place.

New rows are those behind the last row id; changed ones have a later time in one of the table's
columns of time, or were open when they were read. Times are compared with an overlap: a row of a
long transaction becomes visible later than its time says. Reading a row twice costs nothing but
time, since an unchanged row is not written.
"""

import sqlite3
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tracer.formats import TableFormat, detect_database
from tracer.formats.base import Table
from tracer.ingest.readonly import BusyError, Facts, Opened, facts_of, is_settled, opened
from tracer.model.source import Skipped
from tracer.store.records import Records
from tracer.store.sources import SourceRow, save_source
from tracer.store.tables import Cursor, TableRows, load_cursor, mark_removed, save_cursor
from tracer.store.todos import prune_todos
from tracer.store.transactions import commit_quietly
from tracer.store.writer import Place, Writer

OVERLAP_MS = 120_000
BATCH_ROWS = 1_000
_WINDOW_ROWS = 5_000
_MOST_WINDOWS = 2_000
TRIES = 40
WAIT_S = 0.05


class Outcome(NamedTuple):
    """What reading a database once did. `problem` says in words why it was not read."""

    format: TableFormat | None
    new_rows: int
    read_bytes: int
    problem: str = ""


class _Columns(NamedTuple):
    """The columns of a table, and whether its rows have ids."""

    names: tuple[str, ...]
    has_rowid: bool


def _let_pass(attempt: int) -> None:
    """Wait for whoever writes, longer after each attempt."""
    time.sleep(WAIT_S * min(attempt + 1, 4))


class DatabaseReader:
    """Reads databases into the store, through the writer of an ingestor."""

    def __init__(self, writer: Writer, records: Records, rows: TableRows) -> None:
        self._writer = writer
        self._records = records
        self._rows = rows

    def detect(self, path: Path) -> TableFormat | None:
        """The format of a database, by its tables; tries again for a while where a writer is in the
        way. Raises BusyError, sqlite3.Error, OSError."""
        for attempt in range(TRIES):
            try:
                with opened(path) as database:
                    names = {n: frozenset(c.names) for n, c in _schema(database).items()}
                return detect_database(names)
            except BusyError:
                _let_pass(attempt)
        raise BusyError

    def read(self, path: Path, source: SourceRow, table_format: TableFormat) -> Outcome:
        """Read what is new or changed; tries again for a while where a writer is in the way."""
        new = 0
        for attempt in range(TRIES):
            try:
                facts = facts_of(path)
                with opened(path) as database:
                    for rows in self._read(database, facts, source, table_format):
                        new += rows
                grown = facts.total_bytes - source.size_bytes
                self._finish(source, facts)
                return Outcome(table_format, new, max(new, grown) if new else 0)
            except BusyError:
                _let_pass(attempt)
            except (sqlite3.Error, OSError) as error:
                return Outcome(table_format, new, new, f"The database could not be read: {error}.")
        busy = "The database was locked or changing all the time; it is read again later."
        return Outcome(table_format, new, new, busy)

    def _read(
        self, database: Opened, facts: Facts, source: SourceRow, table_format: TableFormat
    ) -> Iterator[int]:
        schema = _schema(database)
        tables = [t for t in table_format.tables if t.name in schema]
        total = 0
        for table in tables:
            columns = schema[table.name]
            cursor = self._cursor(database, facts, source.path, table, columns)
            reading = _Reading(database, table, columns, cursor)
            for batch in reading.batches():
                yield self._store(batch, reading, source, table_format, facts)
            self._end_of_table(reading, source.path, facts)
            total += reading.total
        if "session" in schema:
            present = [str(row[0]) for row in database.rows("SELECT id FROM session")]
            yield self._removed(source.path, present)
        if "todo" in schema:
            counts = database.rows("SELECT session_id, position FROM todo")
            yield self._todos(source.path, counts)
        source.records = source.lines = total

    def _cursor(
        self, database: Opened, facts: Facts, path: str, table: Table, columns: _Columns
    ) -> Cursor:
        """Where to go on; from the start where the file is another one or was rewritten."""
        nothing = Cursor(facts.device, facts.inode, 0, 0, 0)
        known = load_cursor(self._writer.connection, path, table.name)
        if known is None or (known.device, known.inode) != (facts.device, facts.inode):
            return nothing
        if columns.has_rowid:
            (highest,) = database.rows(f'SELECT max(rowid) FROM "{table.name}"')[0]
            if not isinstance(highest, int) or highest < known.last_rowid:
                return nothing
        return known

    def _store(
        self,
        batch: "list[tuple[int, dict[str, Any]]]",
        reading: "_Reading",
        source: SourceRow,
        table_format: TableFormat,
        facts: Facts,
    ) -> int:
        agent, new = table_format.agent, 0
        parsed = [(rowid, table_format.parse(reading.table.name, row)) for rowid, row in batch]
        self._writer.begin()
        try:
            for rowid, record in parsed:
                place = Place(source.id, rowid, 0)
                if isinstance(record, Skipped):
                    self._records.skipped(place, record)
                    source.skipped += 1
                elif self._rows.put(record, agent, place):
                    new += 1
            cursor = reading.cursor_within(facts)
            save_cursor(self._writer.connection, source.path, reading.table.name, cursor)
            self._commit(changed=new > 0)
        except BaseException:
            self._rows.forget()
            raise
        return new

    def _end_of_table(self, reading: "_Reading", path: str, facts: Facts) -> None:
        cursor = reading.cursor_at_end(facts, _now_ms())
        if cursor != load_cursor(self._writer.connection, path, reading.table.name):
            self._writer.begin()
            save_cursor(self._writer.connection, path, reading.table.name, cursor)
            self._commit(changed=False)

    def _removed(self, path: str, present: list[str]) -> int:
        self._writer.begin()
        removed = mark_removed(self._writer.connection, path, present, _now_ms())
        self._commit(changed=removed > 0)
        return removed

    def _todos(self, path: str, present: list[tuple[Any, ...]]) -> int:
        self._writer.begin()
        dropped = prune_todos(self._writer.connection, path, present)
        self._commit(changed=dropped > 0)
        return dropped

    def _commit(self, *, changed: bool) -> None:
        """End the batch; where nothing was stored, pages are not told to look again."""
        self._rows.flush()
        self._records.flush()
        if changed:
            self._writer.commit()
        else:
            commit_quietly(self._writer.connection)

    def _finish(self, source: SourceRow, facts: Facts) -> None:
        source.device, source.inode = facts.device, facts.inode
        source.size_bytes = source.offset_bytes = facts.total_bytes
        settled = is_settled(facts, time.time_ns())
        source.mtime_ns = facts.changed_ns if settled else -1
        source.last_read_at_ms = _now_ms()
        self._writer.begin()
        save_source(self._writer.connection, source)
        commit_quietly(self._writer.connection)


class _Reading:
    """One pass over a table: windows of row ids, each read in a moment."""

    def __init__(self, database: Opened, table: Table, columns: _Columns, cursor: Cursor) -> None:
        self.table = table
        self.total = 0
        self._database = database
        self._columns = columns
        self._before = cursor
        self._changed = tuple(c for c in table.changed if c in columns.names)
        self._highest_ms = cursor.changed_ms
        self._highest_rowid = cursor.last_rowid

    def cursor_within(self, facts: Facts) -> Cursor:
        """Where to go on if this pass ends here: rows of any time may still be ahead."""
        before = self._before.changed_ms
        return Cursor(facts.device, facts.inode, before, self._highest_rowid, self.total)

    def cursor_at_end(self, facts: Facts, now_ms: int) -> Cursor:
        """Where to go on after the whole table. A time in the future is no time to go on from:
        changes until then would not be seen."""
        changed = min(self._highest_ms, now_ms)
        return Cursor(facts.device, facts.inode, changed, self._highest_rowid, self.total)

    def batches(self) -> Iterator[list[tuple[int, dict[str, Any]]]]:
        """The rows to look at, as dictionaries by column, with their row ids."""
        name = f'"{self.table.name}"'
        (self.total,) = self._database.rows(f"SELECT count(*) FROM {name}")[0]
        if not self._columns.has_rowid:
            yield from self._everything(name)
            return
        (highest,) = self._database.rows(f"SELECT max(rowid) FROM {name}")[0]
        if not isinstance(highest, int):
            return
        yield from self._changed_rows(name)
        yield from self._new_rows(name, highest)

    def _changed_rows(self, name: str) -> Iterator[list[tuple[int, dict[str, Any]]]]:
        known = self._before.last_rowid
        wheres = [f'"{column}" >= ?1' for column in self._changed]
        if self.table.open_where and "status" in self._columns.names:
            wheres.append(self.table.open_where)
        if not known or not wheres:
            return
        since = self._before.changed_ms - OVERLAP_MS
        step = max(_WINDOW_ROWS, known // _MOST_WINDOWS)
        for low in range(0, known, step):
            rows = self._database.rows(
                f"{self._select(name)} WHERE rowid > ?2 AND rowid <= ?3 AND "
                f"({' OR '.join(wheres)}) ORDER BY rowid",
                (since, low, min(low + step, known)),
            )
            if rows:
                yield self._taken(rows)

    def _new_rows(self, name: str, highest: int) -> Iterator[list[tuple[int, dict[str, Any]]]]:
        last = self._before.last_rowid
        while last < highest:
            rows = self._database.rows(
                f"{self._select(name)} WHERE rowid > ? ORDER BY rowid LIMIT {BATCH_ROWS}", (last,)
            )
            if not rows:
                return
            last = self._highest_rowid = int(rows[-1][0])
            yield self._taken(rows)

    def _everything(self, name: str) -> Iterator[list[tuple[int, dict[str, Any]]]]:
        rows = self._database.rows(f"{self._select(name, '0')}")
        for start in range(0, len(rows), BATCH_ROWS):
            yield self._taken(rows[start : start + BATCH_ROWS])

    def _select(self, name: str, rowid: str = "rowid") -> str:
        columns = ", ".join('"' + column.replace('"', '""') + '"' for column in self._columns.names)
        return f"SELECT {rowid}, {columns} FROM {name}"

    def _taken(self, rows: list[tuple[Any, ...]]) -> list[tuple[int, dict[str, Any]]]:
        taken = []
        for row in rows:
            found = dict(zip(self._columns.names, row[1:], strict=True))
            for column in self._changed:
                value = found[column]
                if isinstance(value, int) and value > self._highest_ms:
                    self._highest_ms = value
            taken.append((int(row[0]), found))
        return taken


def _schema(database: Opened) -> Mapping[str, _Columns]:
    """The tables that are there, with their columns."""
    tables = database.rows("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
    found = {}
    for name, sql in tables:
        quoted = str(name).replace('"', '""')
        columns = database.rows(f'PRAGMA table_info("{quoted}")')
        without = "WITHOUT ROWID" in str(sql).upper().rsplit(")", 1)[-1]
        found[str(name)] = _Columns(tuple(str(c[1]) for c in columns), not without)
    return found


def _now_ms() -> int:
    return int(time.time() * 1000)
