"""Another file under the same name, the same file touched or edited, no file any more."""

import json
import shutil
from pathlib import Path

import pytest

from tests.helpers import (
    SAMPLES,
    SESSION,
    append,
    call,
    contents,
    encode,
    ingest,
    ingest_one,
    joined,
    later,
    messages_of,
    request,
    rows,
    segments,
    talk,
    user,
    write,
)
from tracer import service
from tracer.service import Service


def test_a_shrunken_file_is_a_new_segment(db: Path, rollout: Path) -> None:
    write(rollout, call("req-1"), call("req-2", at=2000))
    ingest(db, rollout)
    write(rollout, call("req-3", at=3000))
    result = ingest_one(db, rollout)
    assert (result.new_records, result.records) == (1, 1)
    assert segments(db) == [(1, "replaced", 2, 0), (2, "current", 1, 0)]
    assert [r.request_id for r in Service(db).requests(SESSION)] == ["req-1", "req-2", "req-3"]


@pytest.mark.parametrize("grown", [False, True])
def test_a_file_that_was_created_again_is_a_new_segment(
    db: Path, rollout: Path, grown: bool
) -> None:
    write(rollout, call("req-1"))
    ingest(db, rollout)
    other = rollout.with_suffix(".new")
    write(other, *(call(f"req-{n}", at=n * 1000) for n in range(2, 5 if grown else 3)))
    other.replace(rollout)
    result = ingest_one(db, rollout)
    assert result.new_records == (3 if grown else 1)
    assert segments(db)[0] == (1, "replaced", 1, 0)
    assert len(Service(db).requests(SESSION)) == (4 if grown else 2)


def test_an_overwritten_file_that_grew_beyond_the_old_one_is_a_new_segment(
    db: Path, rollout: Path
) -> None:
    write(rollout, call("req-1"))
    ingest(db, rollout)
    inode = rollout.stat().st_ino
    write(rollout, *(call(f"req-{n}", at=n * 1000) for n in range(2, 6)))
    assert rollout.stat().st_ino == inode
    assert ingest_one(db, rollout).new_records == 4
    assert len(Service(db).requests(SESSION)) == 5


@pytest.mark.parametrize("torn", [b"", b'{"completedAt":"2026'])
def test_an_edit_in_place_of_the_same_size_is_seen(db: Path, rollout: Path, torn: bytes) -> None:
    """Also where the file ends in a line that is not complete, so that it is longer than read."""
    filler = [call(f"filler-{n}", [user("x" * 3000)], at=n * 1000) for n in range(10)]
    rollout.write_bytes(joined(*filler[:5], call("req-1", [user("before")]), *filler[5:]) + torn)
    ingest(db, rollout)
    size = rollout.stat().st_size
    rollout.write_bytes(rollout.read_bytes().replace(b"before", b"after!"))
    later(rollout)
    assert rollout.stat().st_size == size
    result = ingest_one(db, rollout)
    assert (result.status, result.new_records, result.duplicates) == ("read", 1, 10)
    assert messages_of(db, "req-1") == [user("after!")]
    assert len(Service(db).requests(SESSION)) == 11
    (place,) = rows(db, "SELECT max(segment) FROM sources")
    assert place == (2,)


@pytest.mark.parametrize("name", ["size-reset", "windowed-long", "mcs-on", "older-build"])
def test_a_file_that_was_only_touched_says_nothing_new(db: Path, tmp_path: Path, name: str) -> None:
    """Whatever its windows are relative to: it is read again as it was read first."""
    folder = tmp_path / name
    shutil.copytree(SAMPLES / name, folder)
    ingest(db, folder)
    before = contents(db)
    for _ in range(2):
        for path in folder.rglob("*.jsonl"):
            later(path)
        result = ingest(db, folder)
        assert {f.status for f in result.files} == {"read"}
        assert result.new_records == 0
        after = contents(db)
        for part in before.keys() - {"sources", "skipped"}:
            assert after[part] == before[part], part


@pytest.mark.parametrize("body", [None, {"system": [{"type": "text", "text": "rules"}]}])
def test_a_touched_file_whose_first_window_was_lost_stays_lost(
    db: Path, rollout: Path, body: object
) -> None:
    """Also where the wire body shows the system prompt, so that a part of the list is known."""
    write(
        rollout,
        call("req-1", talk(12, 8), kind="tail", offset=8, body=body),
        call("req-2", talk(12, 8), at=1000, kind="tail", offset=8, body=body),
        call("req-3", talk(14, 10), at=2000, kind="tail", offset=10, body=body),
    )
    ingest(db, rollout)
    before = contents(db)
    assert request(db, "req-1").carry == "lost"
    for _ in range(2):
        later(rollout)
        assert ingest(db, rollout).new_records == 0
        assert contents(db)["requests"] == before["requests"]


def test_what_is_carried_over_from_nothing_known_is_lost(db: Path, rollout: Path) -> None:
    """A retry of a list whose beginning was lost agrees with it, and yet proves nothing."""
    lost = {"kind": "tail", "offset": 8}
    write(
        rollout,
        call("req-1", talk(12, 8), **lost),  # type: ignore[arg-type]
        call("req-2", talk(12, 8), at=1000, attempt=2, **lost),  # type: ignore[arg-type]
    )
    ingest(db, rollout)
    assert [request(db, f"req-{n}").carry for n in (1, 2)] == ["lost", "lost"]
    assert messages_of(db, "req-2") == [None] * 8 + talk(12, 8)


def test_a_new_segment_is_a_new_segment_for_the_next_process_too(db: Path, rollout: Path) -> None:
    """One process sees that the file is another one, and no record of it; the next goes on."""
    write(rollout, call("req-1", talk(4)))
    ingest(db, rollout)
    line = encode(call("req-2", talk(5, 4), at=1000, kind="delta", offset=4))
    cut = line.index(b'"model"')  # enough to recognise the format
    rollout.write_bytes(line[:cut])
    assert (ingest_one(db, rollout).status, len(segments(db))) == ("read", 2)
    append(rollout, line[cut:])
    ingest(db, rollout)
    assert request(db, "req-2").carry == "lost"


def test_an_edited_file_is_read_on_as_if_it_had_always_been_so(db: Path, rollout: Path) -> None:
    write(rollout, call("req-1", talk(3)), call("req-2", talk(5), at=2000))
    ingest(db, rollout)
    write(rollout, call("req-1", [*talk(2), user("edited")]), call("req-2", talk(5), at=2000))
    later(rollout)
    assert ingest(db, rollout).new_records == 1
    append(rollout, call("req-3", talk(7, 5), at=3000, kind="delta", offset=5))
    ingest(db, rollout)  # a new process: it must know that req-2 was the record before
    assert request(db, "req-3").carry == "sequence"
    assert messages_of(db, "req-3") == talk(7)


def test_a_deleted_file_keeps_its_data_and_is_called_missing(db: Path, logs: Path) -> None:
    one = write(logs / "rollout" / "model-io-one.jsonl", call("req-1"))
    write(logs / "rollout" / "model-io-two.jsonl", call("req-2", at=2000))
    ingest(db, logs)
    kept = one.read_bytes()
    stat = one.stat()
    one.rename(one.with_suffix(".away"))
    ingest(db, logs)
    assert [s.status for s in Service(db).sources()] == ["missing", "current"]
    assert messages_of(db, "req-1") == [user("hello")]
    # It comes back untouched, and later on it goes on.
    one.with_suffix(".away").rename(one)
    assert one.stat().st_mtime_ns == stat.st_mtime_ns
    assert {f.status for f in ingest(db, logs).files} == {"unchanged"}
    assert [s.status for s in Service(db).sources()] == ["current", "current"]
    one.rename(one.with_suffix(".away"))  # which keeps its inode from being used again
    ingest(db, logs)
    one.write_bytes(kept + joined(call("req-3", at=3000)))
    assert ingest(db, logs).new_records == 1
    assert segments(db)[:2] == [(1, "replaced", 1, 0), (2, "current", 2, 1)]


def test_a_line_that_was_torn_when_its_file_was_replaced_will_not_come(
    db: Path, rollout: Path
) -> None:
    rollout.write_bytes(joined(call("req-1")) + b'{"completedAt":')
    ingest(db, rollout)
    write(rollout, call("req-2", at=2000))
    ingest(db, rollout)
    (reason,) = rows(db, "SELECT reason FROM v_skipped")
    assert "its rest was not seen" in reason[0]


def test_tools_and_system_of_the_same_damaged_bytes_stay_what_they_are(tmp_path: Path) -> None:
    """`null` for both once made system blocks of the tools, and the session unreadable."""
    log = tmp_path / "model-io-x.jsonl"
    message = {"role": "user", "content": "hello"}
    for number, body in enumerate(({"tools": 5, "system": 5}, {"tools": 7}, {"system": 7})):
        record = {
            "type": "model_io", "requestId": f"r{number}", "attempt": 1, "sessionId": "s",
            "startedAt": f"2026-01-05T09:00:0{number}.000Z", "model": {"modelId": "m"},
            "request": {"messages": [message], "body": body}, "response": {"usage": {}},
        }  # fmt: skip
        with log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
    db = tmp_path / "x.db"
    service.ingest(db, [str(log)], count_tokens=False)
    reader = service.Service(db)
    assert len(reader.requests("s")) == 3
    reader.presence("s")
    for found in reader.requests("s"):
        tiers = [block.tier for block in reader.request(found.key).blocks]
        assert tiers == sorted(tiers, key=["tools", "system", "messages"].index)
