"""Numbers of the open trace format that cannot be true: durations, counts, declarations."""

from pathlib import Path

from tests.helpers import SESSION, ingest, only_request
from tests.traces import built, completed, said, write
from tracer.service import Service

USAGE = {"inputTokens": 100, "outputTokens": 7, "cacheReadTokens": 64, "inclusive": True}


def test_a_duration_never_moves_an_attempt_before_its_prompt_or_the_attempt_before_it(
    tmp_path: Path,
) -> None:
    """A stand-in for a model answers at once and claims 900 ms: all stands in one millisecond."""
    lines: list[bytes] = []
    for number, asked in enumerate(("q1", "q2", "q3"), 1):
        lines.append(built(9, asked, [said(f"m{n}") for n in range(number)]))
        lines.append(completed(9, asked, status="failed", durationMs=300))
        lines.append(completed(9, asked, 2, usage=USAGE, durationMs=900))
    wanted = [(name, attempt) for name in ("q1", "q2", "q3") for attempt in (1, 2)]
    for name, order in (("forth", lines), ("apart", [*lines[1::3], *lines[::3], *lines[2::3]])):
        db = tmp_path / f"{name}.db"
        ingest(db, write(tmp_path / f"{name}.jsonl", *order))
        found = Service(db).requests(SESSION)
        assert {(r.started_at_ms, r.completed_at_ms) for r in found} == {
            (found[0].completed_at_ms, found[0].completed_at_ms)
        }
        if name == "forth":
            assert [(r.request_id, r.attempt) for r in found] == wanted


def test_numbers_that_count_nothing_are_unknown_and_named(tmp_path: Path) -> None:
    usage = {"inputTokens": -5, "outputTokens": 10**30, "cacheReadTokens": 64, "inclusive": True}
    db = tmp_path / "t.db"
    path = write(
        tmp_path / "t.jsonl",
        built(1, "q1", [said("m1")]), completed(3, "q1", usage=usage, durationMs=-7),
    )  # fmt: skip
    ingest(db, path)
    found = only_request(db)
    assert found.usage is not None and found.duration_ms is None
    assert (found.usage.input_tokens, found.usage.output_tokens) == (None, None)
    assert (found.usage.fresh_tokens, found.usage.cache_read_tokens) == (None, 64)
    assert found.usage.reason.endswith("; left out as no count: inputTokens, outputTokens")


def test_a_declaration_that_the_numbers_overrule_is_told(tmp_path: Path) -> None:
    usage = USAGE | {"cacheWriteTokens": 64}
    db = tmp_path / "t.db"
    ingest(db, write(tmp_path / "t.jsonl", built(1, "q1", [said("m1")]),
                     completed(3, "q1", usage=usage)))  # fmt: skip
    found = only_request(db).usage
    assert found is not None and (found.input_tokens, found.fresh_tokens) == (228, 100)
    assert found.reason.endswith(
        "; the log's own word, that input includes the cache counts, was overruled"
    )


def test_a_retry_starts_no_earlier_than_the_attempt_before_it_ended(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.jsonl",
        built(1, "q1", [said("m1")]),
        completed(3, "q1", status="failed"),
        completed(4, "q1", 2, status="failed", durationMs=60_000),
        completed(5, "lost", status="failed", durationMs=100),
        completed(6, "lost", 2, usage=USAGE, durationMs=9_000),
    )
    db = tmp_path / "t.db"
    ingest(db, path)
    found = Service(db).requests(SESSION)
    first = found[0].started_at_ms or 0
    assert [(r.request_id, r.attempt, (r.started_at_ms or 0) - first) for r in found] == [
        ("q1", 1, 0), ("q1", 2, 2000), ("lost", 1, 3900), ("lost", 2, 4000)
    ]  # fmt: skip
