"""Killed processes, and several at the same time: nothing lost, nothing double."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
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
from tracer.model.views import Progress
from tracer.service import Service
from tracer.store import transactions
from tracer.store.transactions import TURN_S
from tracer.store.writer import Writer

# ---- killed -----------------------------------------------------------------------------------

_SCRIPT = """
import sys
from pathlib import Path
from tracer.ingest import IngestOptions, Ingestor
from tracer.ingest import run
run.BATCH_BYTES = 60_000  # many small batches: more moments to be killed in
ingestor = Ingestor(Path(sys.argv[1]), IngestOptions(count_tokens=False))
print("ready", flush=True)
report = lambda progress: print(progress.records, flush=True)
ingestor.ingest([Path(name) for name in sys.argv[2:]], report)
ingestor.close()
"""


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
def reading(db: Path, files: list[Path]) -> Iterator["subprocess.Popen[bytes]"]:
    """A process that reads the files, and says after each batch how many records are stored."""
    process = subprocess.Popen(
        [sys.executable, "-c", _SCRIPT, str(db), *map(str, files)],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
    )
    try:
        assert next_line(process) == b"ready\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def next_line(process: "subprocess.Popen[bytes]") -> bytes:
    assert process.stdout is not None
    return process.stdout.readline()


def finish(process: "subprocess.Popen[bytes]") -> int:
    process.communicate(timeout=60)
    return process.returncode


def test_a_killed_ingest_loses_and_doubles_nothing(
    db: Path, big_files: list[Path], undisturbed: dict[str, Any]
) -> None:
    rng = random.Random(time.time_ns())
    records, before = "SELECT (SELECT count(*) FROM log_events) + count(*) FROM requests", 0
    for _ in range(5):
        with reading(db, big_files) as process:
            reported = [int(next_line(process)) for _ in range(rng.randint(1, 3))]
            time.sleep(rng.uniform(0, 0.01))
            os.kill(process.pid, signal.SIGKILL)
            assert finish(process) == -signal.SIGKILL
        # What it has reported as stored is there, and readable at once.
        ((stored,),) = rows(db, records)
        assert before + reported[-1] <= stored < len(undisturbed["requests"]) * 3
        assert rows(db, "PRAGMA integrity_check") == [("ok",)]
        before = stored
    ingest(db, *big_files)
    assert contents(db) == undisturbed
    assert rows(db, "PRAGMA integrity_check") == [("ok",)]


def test_a_process_that_goes_on_after_a_kill_reads_the_rest(
    db: Path, big_files: list[Path], undisturbed: dict[str, Any]
) -> None:
    """The size and the time of the file are the same: only the offset tells that there is more."""
    with reading(db, big_files) as process:
        next_line(process)
        process.kill()
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
            [sys.executable, "-c", _SCRIPT, str(db), str(rollout)],
            cwd=Path(__file__).parents[2],
            stdout=subprocess.DEVNULL,
        )
        for _ in range(3)
    ]
    assert [process.wait(timeout=60) for process in processes] == [0, 0, 0]
    assert [r.request_id for r in Service(db).requests(SESSION)] == ["req-1"]
    assert segments(db) == [(1, "current", 1, 0)]


def test_a_second_writer_gets_its_turn_between_two_batches(db: Path, rollout: Path) -> None:
    """SQLite's own waiting would miss every pause of a busy writer, and give up after a while."""
    write(rollout, call("req-1"))
    ingest(db, rollout)
    append(rollout, call("req-2", at=2000))
    stop = threading.Event()

    def busy() -> None:
        connection = sqlite3.connect(db, isolation_level=None)
        while not stop.is_set():
            connection.execute("BEGIN IMMEDIATE")
            time.sleep(0.3)
            connection.execute("COMMIT")
            time.sleep(TURN_S)
        connection.close()

    other = threading.Thread(target=busy)
    other.start()
    time.sleep(0.1)
    started = time.monotonic()
    try:
        assert ingest(db, rollout).new_records == 1
        waited = time.monotonic() - started
    finally:
        stop.set()
        other.join()
    assert waited < 2


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


def test_readers_are_never_blocked_by_a_batch(db: Path, rollout: Path) -> None:
    write(rollout, call("req-1"))
    ingest(db, rollout)
    writer = sqlite3.connect(db, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("UPDATE requests SET status = 'failed'")
    started = time.monotonic()
    found = only_request(db)
    assert Service(db).timeline(SESSION).columns
    assert Service(db).request(found.key).blocks
    assert time.monotonic() - started < 2
    assert found.status is Status.COMPLETED  # what was stored, not what is being written
    writer.execute("ROLLBACK")
    writer.close()


def test_pages_can_be_read_while_a_large_file_is_ingested(db: Path, big_files: list[Path]) -> None:
    ingest(db, big_files[1])
    sizes = []
    with reading(db, big_files) as process:
        while process.poll() is None:
            started = time.monotonic()
            requests = Service(db).requests(SESSION)
            assert time.monotonic() - started < 2
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
