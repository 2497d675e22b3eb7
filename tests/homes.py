"""Whole homes of an agent, built by the sample generator: every file tells of the same sessions."""

import importlib
import importlib.util
import sqlite3
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from tests.samples import SAMPLES
from tracer.ingest import IngestOptions, Ingestor, find_files
from tracer.model.ingest_views import FileResult, IngestResult

Row = dict[str, Any]


def _generator(name: str) -> Any:
    command = SAMPLES / "generate_samples.py"
    spec = importlib.util.spec_from_file_location("generate_samples_of_homes", command)
    assert spec is not None and spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    return importlib.import_module(f"generate.{name}")


database: Any = _generator("database")
VARIANTS: tuple[str, ...] = database.VARIANTS


@cache
def session_database() -> Any:
    """The home with a rewind, a compaction, retries and two helpers."""
    return _generator("runs.homes").session_database()


def write_home(root: Path, variant: str = "described") -> Any:
    """Write the home below a folder, its database included; returns what is known of it."""
    home = session_database()
    home.write(root, variant)
    return home


def read(db: Path, paths: Iterable[Path]) -> IngestResult:
    """Read files one after the other in the order given, each by an ingestor of its own."""
    results: list[FileResult] = []
    total = 0
    for path in paths:
        ingestor = Ingestor(db, IngestOptions(count_tokens=False))
        try:
            files = find_files([str(path)], None)
            result = ingestor.ingest(files)
            ingestor.note_missing(files)
        finally:
            ingestor.close()
        results += result.files
        total += result.new_records
    return IngestResult(tuple(results), 0, total, 0, 0)


# A small database of one's own --------------------------------------------------------------------


def minimal_session(name: str = "sess_1", **more: Any) -> Row:
    """A row of `session` with what must be there."""
    row: Row = {"id": name, "project_id": "p", "slug": "s", "directory": "/w", "title": "T"}
    return row | {"version": "1", "time_created": 1_000, "time_updated": 2_000} | more


def minimal_usage(name: str = "u1", **more: Any) -> Row:
    """A row of `model_usage` with what must be there."""
    row: Row = {"id": name, "logical_request_id": name, "session_id": "sess_1"}
    row |= {"query_source": "main_turn", "provider_id": "p", "model_id": "m", "turn_id": "turn_1"}
    row |= {"status": "completed", "started_at": 10_000, "completed_at": 12_000}
    row |= {"input_tokens": 100, "output_tokens": 10, "computed_total_tokens": 110}
    return row | {"cache_read_input_tokens": 60} | more


class Store:
    """A session database that a test writes to."""

    def __init__(self, path: Path, variant: str = "described", *, wal: bool = False) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute(f"PRAGMA journal_mode={'WAL' if wal else 'DELETE'}")
        self.connection.execute("PRAGMA foreign_keys=ON")
        self.columns = database.create_tables(self.connection, variant)

    def add(self, table: str, *rows: Row) -> "Store":
        """Insert rows."""
        for row in rows:
            database.insert(self.connection, table, row, self.columns[table])
        return self

    def execute(self, sql: str, *values: object) -> None:
        """Change something."""
        self.connection.execute(sql, values)

    def close(self) -> None:
        """Close the writer's connection."""
        self.connection.close()


def fill(db: Path, root: Path) -> None:
    """Read a home in which a total does not add up, and once more when a session was removed."""
    home = write_home(root)
    path = root / "db" / "db.sqlite"
    for statement in (
        "UPDATE model_usage SET provider_total_tokens = provider_total_tokens + 1",
        f"DELETE FROM session WHERE id = '{home.sessions[-1]['session_id']}'",
    ):
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute(statement)
        connection.close()
        read(db, [root])
