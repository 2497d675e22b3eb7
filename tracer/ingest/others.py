"""Files that are not lines: session databases and agents' folders, read through one door."""

import sqlite3
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tracer.formats import FileFormat, file_formats, table_formats
from tracer.ingest.databases import DatabaseReader
from tracer.ingest.discover import LOG_SUFFIXES
from tracer.ingest.files import EMPTY_HASH, FileFacts, file_facts, path_name
from tracer.ingest.readonly import BusyError, facts_of, is_database
from tracer.ingest.results import file_result, not_read
from tracer.model.ingest_views import FileResult
from tracer.model.source import SkipKind, Skipped
from tracer.store.records import Records
from tracer.store.sources import (
    CURRENT,
    SourceRow,
    add_source,
    current_source,
    drop_skipped,
    save_source,
)
from tracer.store.tables import TableRows, stored_run
from tracer.store.writer import Place, Writer

HEAD_BYTES = 64 << 10
MAX_FILE_BYTES = 16 << 20
# A large database takes long to look through: it is looked at the less often.
REST = 4.0
MAX_REST_S = 10.0


class Reading(NamedTuple):
    """The result of one file and how much was read of it."""

    result: FileResult
    read_bytes: int


class OtherFiles:
    """Reads databases and folders for an ingestor."""

    def __init__(self, writer: Writer, records: Records) -> None:
        self._writer = writer
        self._records = records
        self.rows = TableRows(writer.connection, records)
        self._databases = DatabaseReader(writer, records, self.rows)
        self._kinds: dict[str, str] = {}
        self._not_before: dict[str, float] = {}

    def wants(self, path: Path) -> bool:
        """True for files that are not lines."""
        return bool(self._kind(path))

    def _kind(self, path: Path) -> str:
        if path.suffix in LOG_SUFFIXES:
            return ""
        if any(path.name == f.marker for f in file_formats()):
            return "folder"
        name = path_name(path)
        if self._kinds.get(name) != "database":
            self._kinds[name] = "database" if is_database(path) else ""
        return self._kinds[name]

    def read(self, path: Path) -> Reading:
        """Read what is new in one of them."""
        name = path_name(path)
        try:
            if self._kind(path) == "folder":
                return self._folder(path, name)
            return self._database(path, name)
        except OSError as error:
            detail = f"The file could not be read: {error.strerror or error}."
            return Reading(not_read(name, detail), 0)

    def _database(self, path: Path, name: str) -> Reading:
        connection = self._writer.connection
        facts = facts_of(path)
        source = current_source(connection, name)
        if source is not None:
            stat = (facts.device, facts.inode, facts.total_bytes, facts.changed_ns)
            known = (source.device, source.inode, source.size_bytes, source.mtime_ns)
            if stat == known or time.monotonic() < self._not_before.get(name, 0.0):
                return Reading(self._unchanged(source), 0)
        started = time.monotonic()
        try:
            table_format = self._databases.detect(path)
        except (BusyError, sqlite3.Error) as error:
            detail = f"The database could not be read: {str(error) or 'it is locked'}."
            return Reading(not_read(name, detail), 0)
        if table_format is None:
            names = ", ".join(f.name for f in table_formats())
            detail = f"It is a database, but none of the known formats ({names})."
            return Reading(not_read(name, detail), 0)
        first = source is None
        if source is None:
            source = self._new_source(name, table_format.name, table_format.agent)
        outcome = self._databases.read(path, source, table_format)
        spent = time.monotonic() - started
        self._not_before[name] = time.monotonic() + min(spent * REST, MAX_REST_S)
        if outcome.problem and not outcome.new_rows and first:
            return Reading(not_read(name, outcome.problem), 0)
        result = file_result(connection, source, outcome.new_rows, "read")
        return Reading(result, outcome.read_bytes)

    def _unchanged(self, source: SourceRow) -> FileResult:
        if source.status != CURRENT:
            source.status = CURRENT
            self._save(source)
        return file_result(self._writer.connection, source, 0, "unchanged")

    def _new_source(self, name: str, format_name: str, agent: str) -> SourceRow:
        source = SourceRow(
            0, name, 1, format_name, agent, 0, 0, 0, EMPTY_HASH, EMPTY_HASH, 0, 0, -1, 0, 0, 0, 0,
            CURRENT, _now_ms(),
        )  # fmt: skip
        self._writer.begin()
        add_source(self._writer.connection, source)
        self._writer.commit()
        return source

    def _save(self, source: SourceRow) -> None:
        self._writer.begin()
        save_source(self._writer.connection, source)
        self._writer.commit()

    def _folder(self, path: Path, name: str) -> Reading:
        facts, size, changed = _folder_facts(path)
        source = current_source(self._writer.connection, name)
        if source is not None:
            stat = (facts[0].device, facts[0].inode, size, changed)
            if stat == (source.device, source.inode, source.size_bytes, source.mtime_ns):
                return Reading(self._unchanged(source), 0)
        content = {f.path.name: f.path.read_bytes()[:MAX_FILE_BYTES] for f in facts}
        head = content.get(path.name, b"")[:HEAD_BYTES]
        scores = sorted(((f.sniff(head), f.name, f) for f in file_formats()), reverse=True)
        file_format = scores[0][2] if scores[0][0] > 0 else None
        if file_format is None and source is not None:
            file_format = next(f for f in file_formats() if f.name == source.format)
        if file_format is None:
            return Reading(not_read(name, "It is not the description of an agent's run."), 0)
        if source is None:
            source = self._new_source(name, file_format.name, file_format.agent)
        new = self._store_folder(path, content, source, file_format)
        source.device, source.inode = facts[0].device, facts[0].inode
        source.size_bytes, source.mtime_ns, source.last_read_at_ms = size, changed, _now_ms()
        source.offset_bytes = size
        self._save(source)
        result = file_result(self._writer.connection, source, new, "read")
        return Reading(result, size if new else 0)

    def _store_folder(
        self, path: Path, content: Mapping[str, bytes], source: SourceRow, file_format: FileFormat
    ) -> int:
        connection = self._writer.connection
        place = Place(source.id, 1, 0)
        found = file_format.parse(content, path.parent.parts)
        self._writer.begin()
        drop_skipped(connection, source.id)
        new = 0
        source.skipped = 0
        if isinstance(found, Skipped):
            source.skipped = 1
            self._records.skipped(place, found)
        elif not found.parent_session_id or not found.agent_id:
            source.skipped = 1
            reason = "The description names no agent or no parent session."
            self._records.skipped(place, Skipped(SkipKind.BAD_FIELD, reason, ""))
        else:
            old = stored_run(connection, found.parent_session_id, found.agent_id)
            run = file_format.merge(old, found)
            new = int(self.rows.put(run, file_format.agent, place))
            source.records = source.lines = 1
        self.rows.flush()
        self._records.flush()
        self._writer.commit()
        return new


def _folder_facts(path: Path) -> tuple[list[FileFacts], int, int]:
    """Facts of a folder's files, the marker first, with their size and latest change."""
    found = [file_facts(path)]
    others = {name for f in file_formats() if f.marker == path.name for name in f.others}
    for name in sorted(others):
        try:
            found.append(file_facts(path.with_name(name)))
        except OSError:
            continue
    return found, sum(f.size_bytes for f in found), max(f.mtime_ns for f in found)


def _now_ms() -> int:
    return int(time.time() * 1000)
