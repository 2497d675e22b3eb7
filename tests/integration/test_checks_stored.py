"""Findings are kept with the session that they belong to, and made again when it grows."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.checks.breakers import BREAKERS
from tests.checks.stories import plain
from tests.helpers import SAMPLES
from tracer import service
from tracer.checks.zcode._requests import LOG
from tracer.service import Service
from tracer.service.checking import keeping
from tracer.service.checking.cases import SessionCase, session_case
from tracer.service.checking.keeping import FollowedChecks
from tracer.store.connect import open_writer

MARKER = "zcode/conversation-marker"
FROZEN = "zcode/frozen-snapshot"


def rows(database: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute(query).fetchall()


def a_file(folder: Path) -> tuple[Path, list[str]]:
    """A run that breaks a rule, as one file, and its lines."""
    run = BREAKERS[MARKER]().run
    path = Path(run.write(folder)[0])
    return path, path.read_text("utf-8").splitlines(keepends=True)


def test_findings_are_stored_by_ingest_and_are_those_that_are_shown(tmp_path: Path) -> None:
    path, _ = a_file(tmp_path)
    database = tmp_path / "tracer.db"
    service.ingest(database, [str(path)], count_tokens=False)
    stored = rows(database, "SELECT rule, key, message_index, message, outdated FROM v_findings")
    (view,) = Service(database).check().findings
    f = view.finding
    assert stored == [(f.rule, f.key, f.message_index, f.message, 0)]
    assert Service(database).sessions().sessions[0].findings == 1


def test_a_session_that_grows_is_checked_again(tmp_path: Path) -> None:
    path, lines = a_file(tmp_path)
    database = tmp_path / "tracer.db"
    path.write_text("".join(lines[:2]), "utf-8")
    service.ingest(database, [str(path)], count_tokens=False)
    assert Service(database).sessions().sessions[0].findings == 0
    path.write_text("".join(lines), "utf-8")
    service.ingest(database, [str(path)], count_tokens=False)
    assert Service(database).sessions().sessions[0].findings == 1
    assert len(rows(database, "SELECT * FROM v_findings")) == 1


def test_a_line_without_a_time_checks_its_session_again(tmp_path: Path) -> None:
    folder = SAMPLES / "anatomy-on" / "rollout"
    database, at_once = tmp_path / "tracer.db", tmp_path / "at-once.db"
    service.ingest(database, [str(folder)], count_tokens=False)
    undecided = [u for u in Service(database).check().undecided if u.rule == FROZEN]
    assert undecided and LOG in {u.needs for u in undecided}
    (session,) = {u.session_id for u in undecided if u.needs == LOG}
    events = tmp_path / "events.jsonl"
    events.write_text(json.dumps({"id": "e", "sessionId": session, "type": "turn_started"}))
    service.ingest(database, [str(events)], count_tokens=False)
    service.ingest(at_once, [str(folder), str(events)], count_tokens=False)
    now = Service(database).check()
    assert now.undecided == Service(at_once).check().undecided
    assert LOG not in {u.needs for u in now.undecided if u.rule == FROZEN}


def test_reading_the_same_again_checks_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = a_file(tmp_path)
    database = tmp_path / "tracer.db"
    service.ingest(database, [str(path)], count_tokens=False)
    asked: list[int] = []
    monkeypatch.setattr(keeping, "session_case", lambda connection, row: asked.append(row))
    service.ingest(database, [str(path)], count_tokens=False)
    assert asked == []


def test_other_rules_than_those_that_checked_are_asked_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = a_file(tmp_path)
    database = tmp_path / "tracer.db"
    service.ingest(database, [str(path)], count_tokens=False)
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE sessions SET checked = '0:older'")
        connection.execute("DELETE FROM findings")
    assert len(Service(database).check().findings) == 1, "worked out, and not written"
    assert rows(database, "SELECT * FROM findings") == []
    assert Service(database).check_overview().outdated == 1
    (session,) = Service(database).sessions().sessions
    assert Service(database).check(session.session_id, now=False).outdated == 1
    service.ingest(database, [str(path)], count_tokens=False)
    assert len(rows(database, "SELECT * FROM findings")) == 1


def test_a_fault_in_a_rule_is_told_and_keeps_nobody_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = plain(name="one"), plain(name="two")
    paths = [*first.write(tmp_path / "one"), *second.write(tmp_path / "two")]
    bad = first.records[0]["sessionId"]

    def fails(connection: sqlite3.Connection, row_id: int) -> SessionCase:
        made = session_case(connection, row_id)
        if made.checked.session_id == bad:
            raise RuntimeError("a rule has a fault")
        return made

    monkeypatch.setattr(keeping, "session_case", fails)
    database = tmp_path / "tracer.db"
    result = service.ingest(database, paths, count_tokens=False)
    assert [p for p in result.verdict_errors if bad in p and "a rule has a fault" in p]
    counts = {s.session_id: s.findings for s in Service(database).sessions().sessions}
    assert counts == {bad: None, second.records[0]["sessionId"]: 0}


def test_whoever_stores_while_a_session_is_checked_has_it_checked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = a_file(tmp_path)
    database = tmp_path / "tracer.db"

    def disturbed(connection: sqlite3.Connection, row_id: int) -> SessionCase:
        with closing(sqlite3.connect(database)) as other, other:
            other.execute("UPDATE sessions SET checked = ''")
        return session_case(connection, row_id)

    monkeypatch.setattr(keeping, "session_case", disturbed)
    service.ingest(database, [str(path)], count_tokens=False)
    assert rows(database, "SELECT * FROM findings") == []
    monkeypatch.undo()
    service.ingest(database, [str(path)], count_tokens=False)
    assert len(rows(database, "SELECT * FROM findings")) == 1


def test_sessions_that_are_followed_are_not_checked_after_every_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = a_file(tmp_path)
    database = tmp_path / "tracer.db"
    service.ingest(database, [str(path)], count_tokens=False)
    clock = [100.0]
    asked: list[float] = []

    def done(connection: sqlite3.Connection, *, until: float) -> bool:
        asked.append(clock[0])
        return True

    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    monkeypatch.setattr(keeping, "check_all", done)
    with closing(open_writer(database)) as connection:
        checks = FollowedChecks(connection)
        for step in range(20):
            checks.round(1.0, news=step % 2 == 0)
            clock[0] += 1.0
    assert asked == [100.0, 105.0, 110.0, 115.0]


def test_the_sums_of_all_sessions_are_those_of_each(tmp_path: Path) -> None:
    database = tmp_path / "tracer.db"
    for name in (MARKER, "zcode/skills-budget", "zcode/uncounted-notes"):
        folder = tmp_path / name.replace("/", "-")
        service.ingest(database, BREAKERS[name]().run.write(folder), count_tokens=False)
    reader = Service(database)
    whole, sums = reader.check(), reader.check_overview(limit=100)
    assert set(sums.findings) == set(whole.findings)
    assert sums.totals == {r.name: whole.total(r.name) for r in whole.rules if whole.total(r.name)}
    assert sums.rules_run == whole.rules_run and sums.sessions == whole.sessions
    for view in sums.undecided:
        own = [v for v in whole.undecided if (v.rule, v.needs) == (view.rule, view.needs)]
        assert view.requests == sum(v.requests for v in own) and view.sessions == len(own)
        assert (view.session_id, view.key) in {(v.session_id, v.key) for v in own}
    some = reader.check_overview("zcode/skills-budget", limit=1)
    assert len(some.findings) == 1 and some.total(MARKER) == 1


def test_a_page_does_not_wait_for_a_long_session_that_was_never_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = a_file(tmp_path)
    database = tmp_path / "tracer.db"
    service.ingest(database, [str(path)], count_tokens=False)
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE sessions SET checked = ''")
        connection.execute("DELETE FROM findings")
        connection.execute("DELETE FROM session_rules")
    (session,) = Service(database).sessions().sessions
    short = Service(database).check(session.session_id, now=False)
    assert len(short.findings) == 1 and short.outdated == 0
    monkeypatch.setattr("tracer.service.checking.reader.CHECK_AT_ONCE", 3)
    long = Service(database).check(session.session_id, now=False)
    assert (long.findings, long.rules_run, long.outdated) == ((), (), 1)
    assert len(Service(database).check(session.session_id).findings) == 1
