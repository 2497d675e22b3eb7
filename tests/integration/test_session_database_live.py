"""Reading a session database beside the agent that writes it: the agent cannot notice."""

import hashlib
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.homes import Store, minimal_session, minimal_usage, read
from tracer.ingest import IngestOptions, Ingestor, find_files, readonly
from tracer.ingest.readonly import BusyError, opened
from tracer.model.ingest_views import FileResult

# Writes until it is told that it was read often enough, and never waits: with a timeout of 0, any
# lock in its way is an error.
WRITER = """
import os, sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=0)
connection.execute("PRAGMA busy_timeout=0")
connection.execute("PRAGMA wal_autocheckpoint=20")
insert = ("INSERT INTO model_usage (id, logical_request_id, session_id, query_source, provider_id, "
          "model_id, status, started_at, input_tokens) VALUES (?, 'l', 'sess_1', 'main_turn', 'p', "
          "'m', 'running', ?, 5)")
number = 0
while number < 600 or not os.path.exists(sys.argv[2]):
    now = int(time.time() * 1000)
    connection.execute("BEGIN IMMEDIATE")
    for _ in range(5):
        connection.execute(insert, (f"usage_{number}", now))
        number += 1
    if number % 100 == 0:
        time.sleep(0.15)  # a long transaction
    connection.execute("UPDATE model_usage SET status = 'completed', completed_at = ? WHERE id = ?",
                       (now + 5, f"usage_{number - 3}"))
    connection.execute("COMMIT")
    if number % 50 == 0:
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
    if number % 150 == 0:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    time.sleep(0.002)
print(number)
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


def follow(db: Path, path: Path, until: Callable[[], bool], results: list[FileResult]) -> None:
    """Read again and again, as watching does."""
    ingestor = Ingestor(db, IngestOptions(count_tokens=False))
    try:
        while True:
            last = until()
            results += ingestor.ingest(find_files([str(path)], None)).files
            if last:
                return
            time.sleep(0.01)
    finally:
        ingestor.close()


def test_a_writer_never_waits_and_a_reader_never_fails(tmp_path: Path) -> None:
    path = tmp_path / "db" / "db.sqlite"
    store(path).close()
    enough = tmp_path / "enough"
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), str(enough)], stdout=subprocess.PIPE, text=True
    )
    db = tmp_path / "tracer.db"
    results: list[FileResult] = []

    def ended() -> bool:
        if sum(bool(result.new_records) for result in results) > 3:
            enough.touch()
        return writer.poll() is not None

    follow(db, path, ended, results)
    written, _ = writer.communicate()
    assert writer.returncode == 0
    assert [r.detail for r in results if r.status == "not-read"] == []
    read(db, [path])
    states = usage_states(db)
    assert sum(states.values()) == int(written) >= 600
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


def test_a_locked_database_is_read_as_soon_as_it_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "db.sqlite"
    writer = store(path)
    writer.execute("PRAGMA locking_mode=EXCLUSIVE")
    writer.add("model_usage", minimal_usage())
    monkeypatch.setattr(readonly, "BUSY_MS", 0)
    naps: list[float] = []

    def nap(seconds: float) -> None:
        naps.append(seconds)
        if len(naps) == 3:
            writer.close()

    monkeypatch.setattr("tracer.ingest.databases.time.sleep", nap)
    (file,) = read(tmp_path / "tracer.db", [path]).files
    assert (file.status, len(naps)) == ("read", 3)
    assert usage_states(tmp_path / "tracer.db") == {"completed": 1}
