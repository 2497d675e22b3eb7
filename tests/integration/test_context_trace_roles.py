"""Roles of the open trace format that it does not know."""

from pathlib import Path

from tests.helpers import evidence_codes, ingest
from tests.traces import built, completed, said, write

USAGE = {"inputTokens": 100, "outputTokens": 7, "cacheReadTokens": 64, "inclusive": True}


def test_a_role_that_the_format_does_not_know_is_told_of_the_request(tmp_path: Path) -> None:
    db = tmp_path / "t.db"
    known = [said(f"m-{role}", role=role) for role in ("system", "user", "assistant")]
    path = write(
        tmp_path / "t.jsonl",
        built(1, "q1", [*known, said("m1", role="developer")]),
        completed(2, "q1", usage=USAGE),
        built(3, "q2", known),
        completed(4, "q2", usage=USAGE),
    )
    ingest(db, path)
    assert "unknown-role" in evidence_codes(db, "q1")
    assert "unknown-role" not in evidence_codes(db, "q2")
