"""Reading again, reading on, reading in any order: nothing lost, nothing double."""

import itertools
import random
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from tests.helpers import (
    SAMPLES,
    append,
    call,
    contents,
    detail,
    encode,
    event,
    ingest,
    ingest_one,
    joined,
    messages_of,
    only_request,
    request,
    row_counts,
    rows,
    talk,
    user,
    v_requests,
    write,
)
from tracer.ingest import IngestOptions, Ingestor
from tracer.ingest.lines import Line, read_lines
from tracer.model.events import Status
from tracer.service import Service

_opened: list[str] = []
_watching = threading.Event()


def _note_open(event_name: str, args: tuple[Any, ...]) -> None:
    if event_name == "open" and _watching.is_set():
        _opened.append(str(args[0]))


sys.addaudithook(_note_open)


@contextmanager
def opened_files() -> Iterator[list[str]]:
    """The paths that are opened meanwhile."""
    _opened.clear()
    _watching.set()
    try:
        yield _opened
    finally:
        _watching.clear()


# ---- again ------------------------------------------------------------------------------------


def test_the_same_files_again_are_a_stat_each(db: Path) -> None:
    first = ingest(db, SAMPLES)
    counts, stored = row_counts(db), contents(db)
    with opened_files() as opened:
        second = ingest(db, SAMPLES)
    assert not [path for path in opened if path.startswith(str(SAMPLES))]
    assert {f.status for f in second.files} == {"unchanged"}
    assert sum(f.new_records for f in second.files) == second.new_records == 0
    assert second.read_bytes == 0
    assert row_counts(db) == counts
    assert contents(db) == stored
    again = {f.path: (f.format, f.bytes, f.records, f.skipped) for f in second.files}
    assert again == {f.path: (f.format, f.bytes, f.records, f.skipped) for f in first.files}


def test_a_copy_of_a_folder_is_recognised(db: Path, tmp_path: Path) -> None:
    first = ingest(db, SAMPLES / "windowed-long", SAMPLES / "older-build")
    before = contents(db)
    copy = tmp_path / "copy"
    shutil.copytree(SAMPLES / "windowed-long", copy / "windowed-long")
    shutil.copytree(SAMPLES / "older-build", copy / "older-build")
    second = ingest(db, copy)
    assert second.new_records == 0
    assert sum(f.duplicates for f in second.files) == sum(f.records for f in first.files)
    after = contents(db)
    for part in ("requests", "sessions", "log", "sections", "blocks", "nodes", "markers"):
        assert after[part] == before[part]
    # Both places of a record can be looked up.
    places = rows(db, "SELECT count(*) FROM request_sources GROUP BY request_id")
    assert set(places) == {(2,)}


def test_a_copy_with_other_line_ends_is_recognised(db: Path, logs: Path) -> None:
    lines = [call("req-1"), call(..., at=2000), event("turn.started", at=10)]  # type: ignore[arg-type]
    write(logs / "rollout" / "a.jsonl", *lines[:2])
    write(logs / "log" / "a.jsonl", lines[2])
    first = ingest(db, logs)
    write(logs / "rollout" / "b.jsonl", *lines[:2], end=b"  \r\n")
    write(logs / "log" / "b.jsonl", lines[2], end=b"\r\n")
    second = ingest(db, logs)
    assert (first.new_records, second.new_records) == (3, 0)


def test_the_order_of_the_files_does_not_matter(tmp_path: Path) -> None:
    names = ("mcs-on", "subagent", "retries-failures", "size-reset")
    files = sorted(path for name in names for path in (SAMPLES / name).rglob("*.jsonl"))
    orders = [files, files[::-1]]
    for seed in range(2):
        shuffled = files.copy()
        random.Random(seed).shuffle(shuffled)
        orders.append(shuffled)
    seen = []
    for number, order in enumerate(orders):
        db = tmp_path / f"{number}.db"
        ingestor = Ingestor(db, IngestOptions(count_tokens=False))
        assert {f.status for f in ingestor.ingest(order).files} == {"read"}
        ingestor.close()
        seen.append({"view": v_requests(db), **contents(db)})
    for other in seen[1:]:
        # Two samples share a log line: it is a duplicate in the file that is read later.
        for part in other.keys() - {"sources"}:
            assert other[part] == seen[0][part], part


def test_the_order_of_log_files_does_not_matter_for_a_request_that_only_they_know(
    tmp_path: Path,
) -> None:
    """An attempt around midnight: its start, a retry note and its end are in two files."""
    fields = {"requestId": "req-1", "attempt": 1, "providerId": "p", "modelId": "m"}
    files = [
        write(
            tmp_path / "one.jsonl",
            event(
                "model.request.started",
                at=1000,
                level="debug",
                context={**fields, "querySource": "main_turn"},
            ),
        ),
        write(
            tmp_path / "two.jsonl",
            event(
                "model.request.failed", at=4001, durationMs=3002, context=fields, status="failed"
            ),
        ),
        write(
            tmp_path / "three.jsonl",
            event("model.request.completed", at=6000, durationMs=1500, context=fields),
        ),
    ]
    seen = []
    for number, order in enumerate(itertools.permutations(files)):
        db = tmp_path / f"{number}.db"
        for path in order:
            ingest(db, path)
        seen.append((v_requests(db), only_request(db)))
    assert all(rows_and_request == seen[0] for rows_and_request in seen)
    found = seen[0][1]
    assert (found.status, found.query_source, found.model_id) == ("completed", "main_turn", "m")
    assert found.started_at_ms is not None and found.completed_at_ms is not None
    assert found.completed_at_ms - found.started_at_ms == 5001


# ---- on ---------------------------------------------------------------------------------------


def test_a_grown_file_is_read_from_where_it_ended(
    db: Path, rollout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(rollout, *(call(f"req-{n}", at=n * 1000) for n in range(30)))
    ingest(db, rollout)
    size = rollout.stat().st_size
    offsets = []

    def noted(file: BinaryIO, offset: int, limit: int) -> Iterator[Line]:
        offsets.append(offset)
        return read_lines(file, offset, limit)

    monkeypatch.setattr("tracer.ingest.run.read_lines", noted)
    append(rollout, call("req-30", at=30_000))
    result = ingest(db, rollout)
    assert offsets == [size]
    assert result.read_bytes == rollout.stat().st_size - size
    assert (result.new_records, result.files[0].records, result.files[0].status) == (1, 31, "read")
    assert [s.segment for s in Service(db).sources()] == [1]


@pytest.mark.parametrize("new_process", [False, True])
def test_a_torn_last_line_waits_for_its_rest(db: Path, rollout: Path, new_process: bool) -> None:
    line = encode(call("req-2", [user("中文 in the middle")], at=2000))
    cut = line.index("文".encode()) + 1  # inside of a character
    ingestor = Ingestor(db, IngestOptions(count_tokens=False))
    write(rollout, call("req-1"), line[:cut], end=b"\n")
    rollout.write_bytes(rollout.read_bytes()[:-1])
    (first,) = ingestor.ingest([rollout]).files
    assert [(s.line, s.kind) for s in first.skipped] == [(2, "torn")]
    assert (first.records, first.skipped_total) == (1, 1)
    assert Service(db).sources()[0].pending_bytes == cut
    if new_process:
        ingestor.close()
        ingestor = Ingestor(db, IngestOptions(count_tokens=False))
    append(rollout, line[cut:])
    (second,) = ingestor.ingest([rollout]).files
    ingestor.close()
    assert (second.new_records, second.records, second.skipped_total) == (1, 2, 0)
    assert second.skipped == ()
    assert request(db, "req-2").source.line == 2
    assert messages_of(db, "req-2") == [user("中文 in the middle")]


def test_a_torn_line_that_stays_torn_is_named_once(db: Path, rollout: Path) -> None:
    line = encode(call("req-1"))
    write(rollout, call("req-0"))
    for end in range(10, 60, 10):
        with rollout.open("ab") as file:
            file.write(line[end - 10 : end])
        result = ingest_one(db, rollout)
        assert [(s.line, s.kind) for s in result.skipped] == [(2, "torn")]
        assert result.skipped_total == 1


def test_a_torn_line_is_named_however_many_lines_were_skipped_before(
    db: Path, rollout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tracer.ingest.taking.MAX_STORED_SKIPS", 2)
    rollout.write_bytes(joined(call("req-1"), *[b"bad"] * 5) + b'{"completed')
    for more in (b"At", b'":'):
        (source,) = ingest(db, rollout).files
        assert (source.skipped_total, source.records) == (6, 1)
        stored = rows(db, "SELECT line, kind FROM skipped_lines ORDER BY line")
        assert stored == [(2, "not-json"), (3, "not-json"), (7, "torn")]
        with rollout.open("ab") as file:
            file.write(more)


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_file_without_a_final_newline_is_read_to_its_end(
    db: Path, rollout: Path, end: bytes
) -> None:
    rollout.write_bytes(joined(call("req-1")) + encode(call("req-2", at=2000)))
    first = ingest_one(db, rollout)
    assert (first.new_records, first.skipped_total) == (2, 0)
    assert ingest_one(db, rollout).status == "unchanged"
    rollout.write_bytes(rollout.read_bytes() + end + joined(call("req-3", at=3000)))
    second = ingest_one(db, rollout)
    assert (second.new_records, second.records, second.skipped_total) == (1, 3, 0)
    assert [request(db, f"req-{n}").source.line for n in (1, 2, 3)] == [1, 2, 3]
    assert Service(db).sources()[0].lines == 3


def test_line_ends_that_come_byte_by_byte_are_no_lines(db: Path, rollout: Path) -> None:
    for piece in (b"\xef\xbb", b"\xbf", encode(call("req-1")), b"\r", b"\n", b" ", b" \n"):
        with rollout.open("ab") as file:
            file.write(piece)
        ingest(db, rollout)
    append(rollout, call("req-2", at=2000))
    result = ingest_one(db, rollout)
    assert (result.records, result.skipped_total) == (2, 0)
    assert [request(db, f"req-{n}").source.line for n in (1, 2)] == [1, 3]


def test_a_file_is_read_on_by_another_process_with_what_the_first_one_knew(
    db: Path, rollout: Path
) -> None:
    """A state that was kept in memory is not used where somebody else has read on since."""
    follower = Ingestor(db, IngestOptions(count_tokens=False))
    write(rollout, call("req-1", talk(3)))
    follower.ingest([rollout])
    append(rollout, call("req-2", [*talk(2), user("another"), *talk(6, 3)], at=2000))
    ingest(db, rollout)
    append(rollout, call("req-3", talk(7, 6), at=3000, kind="delta", offset=6))
    result = follower.ingest([rollout])
    follower.close()
    assert result.new_records == 1
    found = request(db, "req-3")
    assert (found.carry, found.verified_from) == ("sequence", 6)
    assert messages_of(db, "req-3")[2] == user("another")


# ---- two kinds of files tell of one request ----------------------------------------------------


def tell_of_one_request(rollout: Path, log: Path) -> list[Path]:
    ids = {"requestId": "req-1", "attempt": 1, "modelId": "model-y", "providerId": "provider-x"}
    write(rollout, call("req-1", at=1000))
    write(
        log,
        event("turn.started", at=0, context={"inputLength": 5}),
        event("model.request.started", at=1001, level="debug", context=ids),
        event("model.request.completed", at=1899, durationMs=898, context=ids),
        event("turn.completed", at=1950, durationMs=1950),
    )
    return [rollout, log]


def test_log_lines_and_model_io_give_the_same_in_either_order(
    tmp_path: Path, rollout: Path, log: Path
) -> None:
    files = tell_of_one_request(rollout, log)
    seen = []
    for number, order in enumerate((files, files[::-1])):
        db = tmp_path / f"{number}.db"
        for path in order:
            ingest(db, path)
        found = detail(db, "req-1")
        joins = [(line.event, line.strength) for line in found.log]
        assert joins == [("model.request.started", "exact"), ("model.request.completed", "exact")]
        seen.append((contents(db), found.request, found.blocks, found.log, found.evidence))
    ours, theirs = seen
    assert {**ours[0], "sources": ()} == {**theirs[0], "sources": ()}
    assert ours[1:2] + ours[3:] == theirs[1:2] + theirs[3:]


def test_a_request_known_from_the_log_becomes_one_request_when_its_record_arrives(
    db: Path, rollout: Path, log: Path
) -> None:
    tell_of_one_request(rollout, log)
    ingest(db, log)
    before = only_request(db)
    assert (before.observed, before.usage, before.message_count) == ("metadata", None, None)
    assert (before.status, before.model_id) == (Status.COMPLETED, "model-y")
    assert [e.code for e in detail(db, "req-1").evidence][0] == "log-only"
    assert ingest(db, rollout).new_records == 1
    after = only_request(db)
    assert after.key == before.key
    assert (after.observed, after.message_count) == ("full", 1)
    assert after.source.path == str(rollout)
    append(log, event("model.request.completed", at=9000, context={"requestId": "req-1"}))
    ingest(db, log)
    assert only_request(db) == after


def test_an_error_inside_a_batch_is_told_as_itself(tmp_path: Path) -> None:
    ingestor = Ingestor(tmp_path / "tracer.db", IngestOptions())
    with pytest.raises(RuntimeError, match="the real error"), closing(ingestor):
        ingestor.connection.execute("BEGIN IMMEDIATE")
        ingestor.connection.execute("INSERT INTO counters VALUES ('test', 1)")
        list(ingestor.connection.execute("SELECT * FROM counters"))
        raise RuntimeError("the real error")
    again = Ingestor(tmp_path / "tracer.db", IngestOptions())
    with closing(again):
        rows = again.connection.execute("SELECT count(*) FROM counters WHERE name = 'test'")
        assert rows.fetchone() == (0,)
