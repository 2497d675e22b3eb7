"""References between the records of an open trace, and lines that only look like records
(docs/formats/context-trace.md)."""

from pathlib import Path

import pytest

from tests.helpers import ingest, ingest_one, messages_of, request
from tests.traces import Json, built, ref, said, write


def texts(db: Path, request_id: str) -> list[str | None]:
    return [m["content"] if m else None for m in messages_of(db, request_id)]


def test_a_reference_behind_a_message_that_is_written_again_means_the_new_one(
    tmp_path: Path,
) -> None:
    path = write(
        tmp_path / "t.jsonl",
        built(1, "q1", [said("m1", "old"), said("m2")]),
        built(2, "q2", [ref("m1"), ref("m2")]),
        built(3, "q3", [ref("m1"), said("m1", "new"), ref("m2"), ref("m1")]),
        built(4, "q4", [ref("m1"), ref("m2")]),
    )
    db = tmp_path / "t.db"
    ingest(db, path)
    assert texts(db, "q2") == ["old", "text of m2"]
    assert texts(db, "q3") == ["old", "new", "text of m2", "new"]
    assert texts(db, "q4") == ["new", "text of m2"]


def test_a_reference_that_was_missing_is_found_as_soon_as_it_is_written(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.jsonl",
        built(1, "q1", [said("m1"), ref("m2")]),
        built(2, "q2", [ref("m1"), said("m2")]),
        built(3, "q3", [ref("m1"), ref("m2")]),
    )
    db = tmp_path / "t.db"
    ingest(db, path)
    assert texts(db, "q3") == ["text of m1", "text of m2"]
    assert request(db, "q3").observed == "full"
    assert request(db, "q1").observed == "windowed"


def test_a_reference_with_a_marker_has_it_in_its_own_request_only(tmp_path: Path) -> None:
    marker: Json = {"cacheControl": {"type": "ephemeral", "ttl": "5m"}}
    path = write(
        tmp_path / "t.jsonl",
        built(1, "q1", [said("m1"), said("m2")]),
        built(2, "q2", [ref("m1"), ref("m2", **marker)]),
        built(3, "q3", [ref("m1"), ref("m2"), said("m3", **marker)]),
        built(4, "q4", [ref("m1"), ref("m2", **marker), ref("m3")]),
    )
    db = tmp_path / "t.db"
    ingest(db, path)
    marked = {r: [m.message_index for m in request(db, r).markers] for r in ("q2", "q3", "q4")}
    assert marked == {"q2": [1], "q3": [2], "q4": [1]}


@pytest.mark.parametrize(
    "broken",
    [b'"\xff"', b'"\\ud800x', b'"\x01"', b"01", b"[1,]"],
    ids=repr,
)
def test_a_prompt_with_anything_that_is_no_json_in_it_is_a_skipped_line(
    tmp_path: Path, broken: bytes
) -> None:
    whole = built(1, "q1", [said("m1"), said("m2", "PLACE")])
    path = write(tmp_path / "t.jsonl", whole.replace(b'"PLACE"', broken), built(2, "q2", []))
    db = tmp_path / "t.db"
    report = ingest_one(db, path)
    assert [skip.line for skip in report.skipped] == [1]
