"""Reading a session database beside the agent that writes it: the agent cannot notice."""

import hashlib
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.homes import Store, minimal_session, minimal_usage, read
from tracer.ingest import IngestOptions, Ingestor, find_files
from tracer.ingest.readonly import BusyError, opened
from tracer.model.views import FileResult

# Writes for a while and never waits: with a timeout of 0, any lock in its way would be an error.
WRITER = """
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=0)
connection.execute("PRAGMA busy_timeout=0")
connection.execute("PRAGMA wal_autocheckpoint=20")
insert = ("INSERT INTO model_usage (id, logical_request_id, session_id, query_source, provider_id, "
          "model_id, status, started_at, input_tokens) VALUES (?, 'l', 'sess_1', 'main_turn', 'p', "
          "'m', 'running', ?, 5)")
end, number, slowest = time.monotonic() + float(sys.argv[2]), 0, 0.0
while time.monotonic() < end:
    now = int(time.time() * 1000)
    connection.execute("BEGIN IMMEDIATE")
    for _ in range(5):
        connection.execute(insert, (f"usage_{number}", now))
        number += 1
    if number % 100 == 0:
        time.sleep(0.15)  # a long transaction
    started = time.monotonic()
    connection.execute("UPDATE model_usage SET status = 'completed', completed_at = ? WHERE id = ?",
                       (now + 5, f"usage_{number - 3}"))
    connection.execute("COMMIT")
    slowest = max(slowest, time.monotonic() - started)
    if number % 50 == 0:
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
    if number % 150 == 0:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    time.sleep(0.002)
print(number, slowest)
"""


def store(path: Path, *, wal: bool = True) -> Store:
    return Store(path, wal=wal).add("session", minimal_session())


def content(folder: Path) -> dict[str, str]:
    """The bytes of every file of a folder; shared memory is nobody's data."""
    return {
        p.name: hashlib.sha256(p.read_bytes()).hexdigest()
        for p in sorted(folder.iterdir())
        if not p.name.endswith("-shm")
    }


def usage_states(db: Path) -> dict[str, int]:
    with closing(sqlite3.connect(db)) as connection:
        return dict(connection.execute("SELECT status, count(*) FROM usage_rows GROUP BY 1"))


def follow(db: Path, path: Path, until: Callable[[], bool]) -> list[FileResult]:
    """Read again and again, as watching does."""
    ingestor = Ingestor(db, IngestOptions(count_tokens=False))
    results: list[FileResult] = []
    try:
        while True:
            last = until()
            results += ingestor.ingest(find_files([str(path)], None)).files
            if last:
                return results
            time.sleep(0.01)
    finally:
        ingestor.close()


def test_a_writer_never_waits_and_a_reader_never_fails(tmp_path: Path) -> None:
    path = tmp_path / "db" / "db.sqlite"
    store(path).close()
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), "3"], stdout=subprocess.PIPE, text=True
    )
    db = tmp_path / "tracer.db"
    results = follow(db, path, lambda: writer.poll() is not None)
    output, _ = writer.communicate()
    assert writer.returncode == 0
    written, slowest = output.split()
    assert float(slowest) < 1
    assert [r.detail for r in results if r.status == "not-read"] == []
    assert len([r for r in results if r.new_records]) > 3
    read(db, [path])
    states = usage_states(db)
    assert sum(states.values()) == int(written) > 100
    assert states["completed"] == int(written) // 5


@pytest.fixture(params=["closed", "rollback-journal", "live", "crashed", "no-shm", "empty-wal"])
def state(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A database as an agent may have left it, with one usage row that may be in its log only."""
    folder = tmp_path / "db"
    path = folder / "db.sqlite"
    writer = store(path, wal=request.param != "rollback-journal")
    writer.add("model_usage", minimal_usage())
    if request.param in ("closed", "rollback-journal"):
        writer.close()
    elif request.param == "live":
        writer.add("model_usage", minimal_usage("u0", started_at=1_000, completed_at=2_000))
        writer.execute("DELETE FROM model_usage WHERE id = 'u0'")
    elif request.param in ("crashed", "no-shm"):
        copies = {p.name: p.read_bytes() for p in folder.iterdir()}
        writer.close()
        for name, data in copies.items():
            if not (request.param == "no-shm" and name.endswith("-shm")):
                (folder / name).write_bytes(data)
    else:
        writer.close()
        Path(f"{path}-wal").touch()
    yield path
    if request.param == "live":
        writer.close()


def test_reading_changes_no_byte_and_leaves_no_file(state: Path, tmp_path: Path) -> None:
    folder = state.parent
    before, names = content(folder), sorted(os.listdir(folder))
    db = tmp_path / "tracer.db"
    first = read(db, [state]).files[0]
    assert (first.format, first.status, first.records) == ("zcode-db", "read", 2)
    assert usage_states(db) == {"completed": 1}
    assert content(folder) == before
    assert sorted(os.listdir(folder)) == names


def test_a_folder_that_cannot_be_written_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read-only file system: the log's shared memory cannot be made, so a copy is read."""
    path = tmp_path / "db" / "db.sqlite"
    writer = store(path)
    writer.add("model_usage", minimal_usage())
    monkeypatch.setattr("tracer.ingest.readonly._live", lambda _: None)
    with opened(path) as found:
        assert found.how == "copy"
        assert found.rows("SELECT count(*) FROM model_usage") == [(1,)]
    writer.close()


def test_a_change_under_a_still_file_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "db.sqlite"
    store(path).close()
    with opened(path) as found:
        assert found.how == "still"
        writer = sqlite3.connect(path, isolation_level=None)
        writer.execute("UPDATE session SET title = 'new'")
        writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        writer.close()
        with pytest.raises(BusyError):
            found.rows("SELECT title FROM session")


def test_a_locked_database_is_read_as_soon_as_it_is_free(tmp_path: Path) -> None:
    path = tmp_path / "db.sqlite"
    writer = store(path, wal=False)
    writer.execute("BEGIN EXCLUSIVE")
    writer.add("model_usage", minimal_usage())
    done: list[FileResult] = []
    thread = threading.Thread(
        target=lambda: done.extend(read(tmp_path / "tracer.db", [path]).files)
    )
    thread.start()
    time.sleep(0.3)
    writer.execute("COMMIT")
    writer.close()
    thread.join(20)
    assert [file.status for file in done] == ["read"]
    read(tmp_path / "tracer.db", [path])
    assert usage_states(tmp_path / "tracer.db") == {"completed": 1}
