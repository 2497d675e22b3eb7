"""Verdicts in the database: given once, again when something changes, the same in any order."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.cache_logs import SESSION, CacheLog, prose, tool, verdict_on
from tests.helpers import SAMPLES, append, assistant, ingest, reader, rows, system, user
from tracer import service
from tracer.cache import explain
from tracer.model.verdict import Result
from tracer.service import Service
from tracer.service.judging import judge, storing
from tracer.service.judging.storing import judge_all
from tracer.store.connect import open_writer

WINDOWED = SAMPLES / "windowed-long"
TOOLS = [tool(f"Tool{i}") for i in range(4)]
START = [system("You are an agent. " + prose(1_500)), user("Begin. " + prose(900, 40))]


def talk(count: int) -> list[dict[str, Any]]:
    """The conversation up to its message `count`."""
    return [*START, *(assistant(f"Step {n}. {prose(400, n)}") for n in range(count))]


def conversation(requests: int) -> CacheLog:
    """Requests that only append; the third reads nothing."""
    log = CacheLog()
    for n in range(requests):
        log.ask(f"r{n}", talk(n), at_s=9 * n, tools=TOOLS, read=0 if n == 2 else None)
    return log


def stored(db: Path) -> dict[str, str]:
    """The verdicts by request key, as they are stored."""
    found = rows(
        db, "SELECT r.key, v.verdict_json FROM verdicts v JOIN requests r ON r.id = v.request_id"
    )
    return dict(found)


@pytest.fixture(scope="module")
def windowed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample of 72 requests, with counted tokens."""
    db = tmp_path_factory.mktemp("windowed") / "tracer.db"
    service.ingest(db, [str(WINDOWED)])
    return db


def test_the_windowed_sample(windowed: Path) -> None:
    """A switched model, an edited AGENTS.md that the windows hide, a long break, a compaction."""
    reading = Service(windowed)
    (session,) = reading.sessions().sessions
    lost = [
        r.verdict
        for r in reading.requests(session.session_id)
        if r.verdict and r.verdict.result not in (Result.FIRST, Result.HIT)
    ]
    assert [(v.result, v.code, v.subtype) for v in lost] == [
        (Result.EXPECTED_REBUILD, "MODEL_CHANGED", "switched"),
        (Result.PARTIAL, "SYSTEM_CHANGED", "instructions"),
        (Result.MISS, "TTL_EXPIRED", ""),
        (Result.EXPECTED_REBUILD, "HISTORY_REWRITTEN", "COMPACTION"),
    ]
    assert session.misses == 2 and session.rebilled_tokens == sum(
        v.rebilled_tokens for v in lost if v.is_miss
    )
    (edit, _) = sorted(reading.misses(session.session_id).misses, key=lambda m: m.brief.code)
    assert (edit.section, edit.message_index) == ("request_user_context", 3)
    view = reading.explain(edit.key)
    assert view.verdict.causes[0].certainty == "high"
    assert "New functions get a type" in view.verdict.causes[0].after
    assert any("a window" in item for item in view.verdict.causes[0].evidence)


def test_a_session_is_judged_by_ingest_and_its_lists_say_so(tmp_path: Path) -> None:
    db = tmp_path / "tracer.db"
    result = service.ingest(db, [str(p) for p in conversation(4).files(tmp_path)])
    assert result.verdicts == 4
    reading = Service(db)
    briefs = [r.verdict for r in reading.requests(SESSION)]
    assert [b.result for b in briefs if b] == [Result.FIRST, Result.HIT, Result.MISS, Result.HIT]
    assert briefs[2] is not None and briefs[2].code == "SERVER_SIDE"
    assert briefs[2].expected_read_tokens and not briefs[2].actual_read_tokens
    columns = reading.timeline(SESSION).columns
    assert [c.request.verdict for c in columns] == briefs
    summary = reading.session(SESSION)
    assert (summary.misses, summary.avoidable_tokens) == (1, 0)
    assert summary.missed_tokens == briefs[2].missed_tokens
    assert summary.corrected_rate is not None and summary.corrected_rate < 0.9
    again = service.ingest(db, [str(tmp_path)])
    assert again.verdicts == 0


def test_the_order_of_reading_does_not_matter(tmp_path: Path) -> None:
    samples = [SAMPLES / name for name in ("windowed-long", "retries-failures", "mcs-on")]
    found = []
    for n, folders in enumerate((samples, samples[::-1])):
        db = tmp_path / f"{n}.db"
        for folder in folders:
            parts = sorted(p for p in folder.rglob("*.jsonl"))
            for path in parts if n else parts[::-1]:
                service.ingest(db, [str(path)], count_tokens=False)
        found.append(stored(db))
    assert found[0] == found[1] and len(found[0]) > 80


def test_a_growing_file_gives_what_the_whole_gives(tmp_path: Path) -> None:
    log = conversation(14)
    whole, live = tmp_path / "whole.db", tmp_path / "live.db"
    files = [str(p) for p in log.files(tmp_path / "a")]
    service.ingest(whole, files, count_tokens=False)
    path = tmp_path / "b" / f"model-io-{SESSION}.jsonl"
    path.parent.mkdir()
    path.touch()
    given = []
    for record in log.records:
        append(path, record)
        given.append(service.ingest(live, [str(path)], count_tokens=False).verdicts)
    assert stored(live) == stored(whole)
    # The last verdict of a lane is given anew once a later request tells more; older ones stay.
    assert given[0] == 1 and max(given[8:]) <= 3


def test_another_version_of_the_rules_judges_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = tmp_path / "tracer.db"
    paths = [str(p) for p in conversation(4).files(tmp_path)]
    service.ingest(db, paths, count_tokens=False)
    before = stored(db)
    for module in (storing, judge):
        monkeypatch.setattr(module, "RULES_VERSION", 99)
    plain = explain

    def stricter(*facts: Any) -> Any:
        return replace(plain(*facts), method="by the new rules")

    monkeypatch.setattr(judge, "explain", stricter)
    assert service.ingest(db, paths, count_tokens=False).verdicts == 4
    after = stored(db)
    assert after.keys() == before.keys()
    assert all("by the new rules" in text for text in after.values())
    assert rows(db, "SELECT DISTINCT rules_version FROM verdicts") == [(99,)]


def test_without_stored_verdicts_a_reader_works_them_out(tmp_path: Path) -> None:
    db, judged = tmp_path / "tracer.db", tmp_path / "judged.db"
    paths = conversation(4).files(tmp_path)
    ingest(db, *paths)
    service.ingest(judged, [str(p) for p in paths], count_tokens=False)
    assert stored(db) == {}
    reading = Service(db)
    assert [r.verdict and r.verdict.result for r in reading.requests(SESSION)] == [
        r.verdict and r.verdict.result for r in Service(judged).requests(SESSION)
    ]
    assert reading.misses(SESSION).total == reading.session_cache(SESSION).misses == 1
    assert reading.session(SESSION).misses is None  # a list does not work for it
    assert reading.misses().unjudged_sessions == 1
    view = verdict_on(db, "r2")
    assert view.verdict.causes == verdict_on(judged, "r2").verdict.causes
    assert stored(db) == {}


def test_judging_that_is_cut_short_goes_on(tmp_path: Path) -> None:
    db, whole = tmp_path / "tracer.db", tmp_path / "whole.db"
    paths = [str(p) for p in conversation(4).files(tmp_path)]
    other = CacheLog(session="sess_0002")
    other.ask("x", talk(1), at_s=0, tools=TOOLS)
    paths += [str(p) for p in other.files(tmp_path)]
    service.ingest(whole, paths, count_tokens=False)
    ingest(db, *map(Path, paths))
    with closing(open_writer(db)) as writer:
        assert judge_all(writer, until=0.0) == 1
        assert 0 < len(stored(db)) < 5
        assert judge_all(writer) == 0
    assert stored(db) == stored(whole)


def test_what_was_stored_meanwhile_is_judged_again(tmp_path: Path) -> None:
    """Somebody stores a record of the session between the verdicts and the mark."""
    db = tmp_path / "tracer.db"
    (path,) = conversation(3).files(tmp_path)
    ingest(db, path)
    more = conversation(4).records[-1]

    def interrupted(done: int, left: int) -> None:
        append(path, more)
        ingest(db, path)

    with closing(open_writer(db)) as writer:
        judge_all(writer, report=interrupted)
        assert rows(db, "SELECT count(*) FROM verdicts") >= [(3,)]
        judge_all(writer)
    assert len(stored(db)) == 4
    assert rows(db, "SELECT judged FROM sessions") != [(0,)]


def test_counting_later_judges_again_by_the_counts(tmp_path: Path) -> None:
    db = tmp_path / "tracer.db"
    paths = [str(p) for p in conversation(4).files(tmp_path)]
    service.ingest(db, paths, count_tokens=False)
    with reader(db) as connection:
        assert connection.execute("SELECT judged FROM sessions").fetchone()[0] < 0
    assert service.ingest(db, paths).verdicts == 4
    with reader(db) as connection:
        assert connection.execute("SELECT judged FROM sessions").fetchone()[0] > 0


def test_a_request_that_gives_way_takes_its_verdict_along(tmp_path: Path) -> None:
    db = tmp_path / "tracer.db"
    service.ingest(db, [str(p) for p in conversation(2).files(tmp_path)], count_tokens=False)
    with closing(sqlite3.connect(db)) as connection:
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert connection.execute("SELECT count(*) FROM v_verdicts").fetchone() == (2,)


def test_the_whole_verdict_is_stored_as_json(windowed: Path) -> None:
    for text in list(stored(windowed).values())[:5]:
        assert {"result", "one_line", "causes", "method"} <= set(json.loads(text))


def test_a_session_that_cannot_be_judged_keeps_no_other_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = tmp_path / "tracer.db"
    other = CacheLog(session="sess_0002")
    other.ask("x", talk(1), at_s=0, tools=TOOLS)
    paths = [str(p) for log in (conversation(2), other) for p in log.files(tmp_path)]

    def broken(*facts: Any) -> Any:
        if facts[0].session_id == SESSION:
            raise ZeroDivisionError("of all things")
        return explain(*facts)

    monkeypatch.setattr(judge, "explain", broken)
    result = service.ingest(db, paths, count_tokens=False)
    assert result.verdicts == 1 and result.new_records == 3
    assert result.verdict_errors == (f"{SESSION}: ZeroDivisionError: of all things",)
    assert service.ingest(db, paths, count_tokens=False).verdict_errors == ()
    assert Service(db).session(SESSION).misses is None


def test_a_session_is_judged_in_slices_however_long_what_is_known_takes_to_look_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each slice gives a verdict at least: one that only looks at known ones would never end."""
    db = tmp_path / "tracer.db"
    ingest(db, *conversation(9).files(tmp_path))
    monkeypatch.setattr(storing, "BATCH_SECONDS", 0.0)
    with closing(open_writer(db)) as writer:
        counts = []
        while judge_all(writer, until=0.0):
            counts.append(len(stored(db)))
            assert len(counts) < 20, counts
    assert counts == sorted(set(counts)) and len(stored(db)) == 9
