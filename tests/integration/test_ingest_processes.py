"""Killed processes, and several at the same time: nothing lost, nothing double."""

import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import (
    SESSION,
    append,
    assistant,
    call,
    contents,
    event,
    ingest,
    only_request,
    row_counts,
    rows,
    segments,
    system,
    user,
    write,
)
from tracer import service
from tracer.errors import StoreError
from tracer.ingest import IngestOptions, Ingestor
from tracer.model.events import Status
from tracer.model.ingest_views import Progress
from tracer.service import Service
from tracer.store import connect, transactions
from tracer.store.connect import open_writer
from tracer.store.transactions import TURN_S
from tracer.store.writer import Writer

# ---- killed -----------------------------------------------------------------------------------

_SCRIPT = """
import os, signal, sys
from pathlib import Path
from tracer.ingest import IngestOptions, Ingestor
from tracer.ingest import run
db, batches, steps, *names = sys.argv[1:]
run.BATCH_BYTES = 60_000  # many small batches: more moments to be killed in
ingestor = Ingestor(Path(db), IngestOptions(count_tokens=False))
print("ready", flush=True)
reported = []
die = lambda: os.kill(os.getpid(), signal.SIGKILL)
def report(progress):
    reported.append(progress.records)
    print(progress.records, flush=True)
    if len(reported) == int(batches):
        ingestor.connection.set_progress_handler(die, int(steps))
ingestor.ingest([Path(name) for name in names], report)
ingestor.close()
"""
LIVES = (0, 0)


@pytest.fixture(scope="module")
def big_files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A model I/O file of some 9 MB with windows of all kinds, and its log."""
    folder = tmp_path_factory.mktemp("big")
    rng = random.Random(7)
    lines: list[dict[str, Any]] = []
    log: list[dict[str, Any]] = []
    history: list[dict[str, Any]] = [system("rules"), user("start")]
    tools = [{"name": f"Tool{n}", "description": "what it does " * 20} for n in range(20)]
    for n in range(400):
        at = n * 5000
        kind, offset = "full", 0
        if n % 5 == 3:
            kind, offset = "delta", len(history)
        history = [*history, assistant(f"answer {n} " + "word " * 40), user(f"ask {n}")]
        if kind == "full" and len(history) > 64:
            kind, offset = "tail", len(history) - 64
        if n % 97 == 96:
            history = [system("rules"), user(f"summary {n}")]
            kind, offset = "full", 0
        body = {"system": [{"type": "text", "text": "rules"}], "tools": tools}
        lines.append(call(f"req-{n}", history[offset:], at=at, kind=kind, offset=offset, body=body))
        if rng.random() < 0.1:
            lines.append(call(f"title-{n}", [user(f"title {n}")], at=at, source="session_title"))
        ids = {"requestId": f"req-{n}", "attempt": 1}
        log.append(event("model.request.started", at=at, level="debug", context=ids))
        log.append(event("model.request.completed", at=at + 900, durationMs=900, context=ids))
    return [
        write(folder / "rollout" / "model-io-sess_0001.jsonl", *lines),
        write(folder / "log" / "zcode-2026-01-05.jsonl", *log),
    ]


@pytest.fixture(scope="module")
def undisturbed(big_files: list[Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What an ingest finds that nobody disturbs."""
    db = tmp_path_factory.mktemp("undisturbed") / "tracer.db"
    ingest(db, *big_files)
    return contents(db)


@contextmanager
def reading(
    db: Path, files: list[Path], dies: tuple[int, int] = LIVES
) -> Iterator["subprocess.Popen[bytes]"]:
    """A process that reads the files, and says after each batch how many records are stored. It is
    killed after some batches, so many steps of the database into the next one: a kill from outside
    would come too late where the killer has to wait for the processor."""
    process = subprocess.Popen(
        [sys.executable, "-c", _SCRIPT, str(db), *map(str, dies), *map(str, files)],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        yield process
    finally:
        process.kill()
        finish(process)


def finish(process: "subprocess.Popen[bytes]") -> int:
    assert process.stdout is not None
    if not process.stdout.closed:
        with process.stdout:
            process.stdout.read()
    return process.wait()


def killed(db: Path, files: list[Path], dies: tuple[int, int]) -> list[int]:
    """Read files until the process is killed; what it had reported as stored."""
    with reading(db, files, dies) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        assert process.wait() == -signal.SIGKILL, dies
    return [int(line) for line in output.split()]


def test_a_killed_ingest_loses_and_doubles_nothing(
    db: Path, big_files: list[Path], undisturbed: dict[str, Any]
) -> None:
    seed = time.time_ns()
    rng = random.Random(seed)
    records, before = "SELECT (SELECT count(*) FROM log_events) + count(*) FROM requests", 0
    for _ in range(5):
        reported = killed(db, big_files, (rng.randint(1, 3), rng.randint(1, 2_000)))
        # What it has reported as stored is there, and readable at once.
        ((stored,),) = rows(db, records)
        assert before + reported[-1] <= stored < len(undisturbed["requests"]) * 3, seed
        assert rows(db, "PRAGMA integrity_check") == [("ok",)]
        before = stored
    ingest(db, *big_files)
    assert contents(db) == undisturbed
    assert rows(db, "PRAGMA integrity_check") == [("ok",)]


def test_a_process_that_goes_on_after_a_kill_reads_the_rest(
    db: Path, big_files: list[Path], undisturbed: dict[str, Any]
) -> None:
    """The size and the time of the file are the same: only the offset tells that there is more."""
    killed(db, big_files, (1, 1))
    (first, *_) = Service(db).sources()
    assert first.offset_bytes < big_files[0].stat().st_size
    result = ingest(db, *big_files)
    assert [f.status for f in result.files] == ["read", "read"]
    assert contents(db) == undisturbed


def test_a_process_that_dies_after_its_last_batch_has_read_the_file(
    db: Path, rollout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All lines are stored, and only the note that this was the end of the file is not."""
    monkeypatch.setattr("tracer.ingest.run.BATCH_BYTES", 1)
    write(rollout, *(call(f"req-{n}", at=n * 1000) for n in range(3)))

    def die(progress: Progress) -> None:
        if progress.records == 3:
            raise KeyboardInterrupt

    ingestor = Ingestor(db, IngestOptions(count_tokens=False))
    with pytest.raises(KeyboardInterrupt):
        ingestor.ingest([rollout], die)
    ingestor.close()
    assert ingest(db, rollout).new_records == 0
    assert segments(db) == [(1, "current", 3, 0)]


def test_a_killed_ingest_counts_the_rest_of_its_tokens_later(db: Path, rollout: Path) -> None:
    write(rollout, *(call(f"req-{n}", [user(f"text {n}")], at=n * 1000) for n in range(5)))
    with reading(db, [rollout]) as process:  # it stores, and does not count
        assert finish(process) == 0
    assert rows(db, "SELECT count(*) FROM block_tokens") == [(0,)]
    assert ingest(db, rollout, count_tokens=True).counted_blocks == 10
    counted = rows(db, "SELECT count(*) FROM block_tokens")
    assert counted == [(row_counts(db)["blocks"],)]


# ---- at the same time -------------------------------------------------------------------------


def test_two_ingests_at_the_same_time_share_the_work(
    db: Path, big_files: list[Path], undisturbed: dict[str, Any]
) -> None:
    with (
        reading(db, big_files) as one,
        reading(db, big_files) as two,
        reading(db, big_files[::-1]) as three,
    ):
        assert [finish(process) for process in (one, two, three)] == [0, 0, 0]
    found = contents(db)
    for part in undisturbed:
        assert found[part] == undisturbed[part], part


def test_three_processes_can_create_one_database_at_the_same_time(db: Path, rollout: Path) -> None:
    write(rollout, call("req-1"))
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", _SCRIPT, str(db), *map(str, LIVES), str(rollout)],
            cwd=Path(__file__).parents[2],
            stdout=subprocess.DEVNULL,
        )
        for _ in range(3)
    ]
    assert [process.wait() for process in processes] == [0, 0, 0]
    assert [r.request_id for r in Service(db).requests(SESSION)] == ["req-1"]
    assert segments(db) == [(1, "current", 1, 0)]


def test_a_step_that_two_found_missing_is_taken_once(
    db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_wal = connect._set_wal

    def overtaken(connection: sqlite3.Connection) -> None:
        monkeypatch.undo()
        open_writer(db).close()
        set_wal(connection)

    monkeypatch.setattr(connect, "_set_wal", overtaken)
    open_writer(db).close()
    steps = [name for (name,) in rows(db, "SELECT name FROM _sqlite_migrations")]
    assert len(steps) == len(set(steps)) > 1


def test_a_second_writer_gets_its_turn_between_two_batches(
    db: Path, rollout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite's own waiting would miss every pause of a busy writer, and give up after a while: a
    writer asks several times in the time for which another one lets go."""
    write(rollout, call("req-1"))
    ingest(db, rollout)
    append(rollout, call("req-2", at=2000))
    other = sqlite3.connect(db, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    naps: list[float] = []

    def nap(seconds: float) -> None:
        naps.append(seconds)
        if len(naps) == 3:
            other.execute("COMMIT")  # its pause begins; it would be over after TURN_S

    monkeypatch.setattr("tracer.store.transactions.time.sleep", nap)
    assert ingest(db, rollout).new_records == 1
    other.close()
    assert len(naps) == 3 and max(naps) * 2 < TURN_S


def test_a_writer_lets_others_in_between_two_batches(
    db: Path, rollout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(rollout, *(call(f"req-{n}", at=n * 1000) for n in range(3)))
    monkeypatch.setattr("tracer.ingest.run.BATCH_BYTES", 1)
    monkeypatch.setattr(transactions, "WRITE_TIMEOUT_S", 0)
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        other = open_writer(db)  # an error where the lock is held
        transactions.begin_writing(other)
        other.execute("COMMIT")
        other.close()

    monkeypatch.setattr("tracer.ingest.run.time.sleep", pause)
    assert ingest(db, rollout).new_records == 3
    assert pauses == [TURN_S] * 3


def test_a_writer_that_never_lets_go_is_named(
    db: Path, rollout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(rollout, call("req-1"))
    ingest(db, rollout)
    append(rollout, call("req-2", at=2000))
    monkeypatch.setattr(transactions, "WRITE_TIMEOUT_S", 0.05)
    writer = sqlite3.connect(db, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="Another process"):
        ingest(db, rollout)
    writer.execute("ROLLBACK")
    writer.close()
    assert ingest(db, rollout).new_records == 1


def test_readers_are_never_blocked_by_a_batch(
    db: Path, rollout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tracer.store.connect.BUSY_TIMEOUT_MS", 0)  # to wait for a lock is an error
    write(rollout, call("req-1"))
    ingest(db, rollout)
    writer = sqlite3.connect(db, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("UPDATE requests SET status = 'failed'")
    found = only_request(db)
    assert Service(db).timeline(SESSION).columns
    assert Service(db).request(found.key).blocks
    assert found.status is Status.COMPLETED  # what was stored, not what is being written
    writer.execute("ROLLBACK")
    writer.close()


def test_pages_can_be_read_while_a_large_file_is_ingested(db: Path, big_files: list[Path]) -> None:
    ingest(db, big_files[1])
    sizes = []
    with reading(db, big_files) as process:
        while process.poll() is None:
            requests = Service(db).requests(SESSION)
            sizes.append(sum(r.message_count is not None for r in requests))
        assert finish(process) == 0
    assert sizes == sorted(sizes)


def test_a_full_disk_is_said_and_what_was_stored_is_kept(
    db: Path, rollout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(rollout, call("req-1"))
    ingest(db, rollout)
    append(rollout, call("req-2", at=2000))

    def full(writer: Writer) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Writer, "commit", full)
        with pytest.raises(StoreError, match="disk is full.*is kept"):
            service.ingest(db, [str(rollout)], count_tokens=False)
    assert ingest(db, rollout).new_records == 1


def test_a_damaged_database_is_said(db: Path, rollout: Path) -> None:
    write(rollout, call("req-1"))
    ingest(db, rollout)
    # The journal is folded in: the first page names the tables, in bytes that are no UTF-8 now.
    data = db.read_bytes()
    assert b"skipped_lines" in data
    db.write_bytes(data.replace(b"skipped_lines", b"skipped\xfflines"))
    with pytest.raises(StoreError, match="cannot be used"):
        ingest(db, rollout)
    with pytest.raises(StoreError, match="cannot be read"):
        Service(db).sessions()
