"""Connections that stay open between readings never read what is no longer there."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.helpers import ingest
from tests.samples import SAMPLES
from tracer.errors import NewerStoreError, StoreError
from tracer.service import Service
from tracer.service.snapshots import Snapshots
from tracer.store.migrations import migrations
from tracer.store.readers import MOST_IDLE, Readers

SMALL, LARGE = SAMPLES / "zcode" / "mcs-on", SAMPLES / "zcode" / "windowed-long"


@pytest.fixture(name="db")
def small_db(tmp_path: Path) -> Path:
    """A database with one small session."""
    path = tmp_path / "x.db"
    ingest(path, SMALL)
    return path


@pytest.fixture(name="large")
def large_db(tmp_path: Path) -> Path:
    """A larger one of another session, all in one file."""
    path = tmp_path / "large.db"
    ingest(path, LARGE)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


def sessions(service: Service) -> list[str]:
    return [s.session_id for s in service.sessions().sessions]


def test_one_reading_after_the_other_has_the_same_connection(db: Path) -> None:
    snapshots = Snapshots(db)
    with snapshots.read() as first:
        pass
    with snapshots.read() as second, snapshots.read() as inner:
        assert first is second is inner


def test_readings_at_once_have_a_connection_each_and_few_stay_open(db: Path) -> None:
    readers = Readers(db)
    taken = [readers.take() for _ in range(MOST_IDLE + 2)]
    assert len({id(reader.connection) for reader in taken}) == len(taken)
    for reader in taken:
        readers.give_back(reader)
    still_open = [reader for reader in taken if _is_open(reader.connection)]
    assert len(still_open) == MOST_IDLE


def _is_open(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("SELECT 1")
    except sqlite3.ProgrammingError:
        return False
    return True


def test_an_idle_connection_holds_no_snapshot(db: Path) -> None:
    service = Service(db)
    sessions(service)
    with closing(sqlite3.connect(db, isolation_level=None)) as writer:
        writer.execute("UPDATE counters SET value = value + 1")
        busy, *_ = writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    assert busy == 0


def test_a_reading_sees_what_was_stored_after_the_one_before(db: Path) -> None:
    service = Service(db)
    before = sessions(service)
    ingest(db, LARGE)
    assert len(sessions(service)) > len(before)


def test_a_replaced_database_is_read_anew(db: Path, large: Path) -> None:
    service = Service(db)
    before = sessions(service)
    large.replace(db)
    assert sessions(service) == sessions(Service(db)) != before


def test_a_database_that_was_written_over_by_a_shorter_one_is_read_anew(
    db: Path, large: Path, tmp_path: Path
) -> None:
    shrunk = tmp_path / "shrunk.db"
    shutil.copy(large, shrunk)
    service = Service(shrunk)
    before = sessions(service)
    with closing(sqlite3.connect(db)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert db.stat().st_size < shrunk.stat().st_size
    shutil.copyfile(db, shrunk)  # into the same file
    for name in ("shrunk.db-wal", "shrunk.db-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    assert sessions(service) == sessions(Service(db)) != before


def test_a_database_that_is_gone_is_named_and_found_when_it_is_back(db: Path) -> None:
    service, away = Service(db), db.with_name("away.db")
    before = sessions(service)
    db.rename(away)
    with pytest.raises(StoreError, match="no database"):
        sessions(service)
    away.rename(db)
    assert sessions(service) == before


def test_a_database_that_a_newer_version_took_over_is_refused(db: Path) -> None:
    service = Service(db)
    sessions(service)
    with closing(sqlite3.connect(db)) as connection, connection:
        connection.execute(
            f"INSERT INTO {migrations.migrations_table} (migration_set, name, applied_at) "
            "VALUES (?, 'm999_later', '')",
            (migrations.name,),
        )
    with pytest.raises(NewerStoreError):
        sessions(service)
