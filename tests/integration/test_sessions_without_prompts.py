"""Sessions of which only usage is known: their verdicts, and what the doctor says of them."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.homes import Store, minimal_session, minimal_usage
from tracer import service
from tracer.cli import main
from tracer.ingest import readonly
from tracer.model.doctor_views import SessionEvidence
from tracer.service.judging import rounds

SESSIONS = 4


@pytest.fixture
def usage_only(tmp_path: Path) -> Path:
    """A session database with a few calls a session, the last of which read nothing."""
    store = Store(tmp_path / "db.sqlite")
    for number in range(SESSIONS):
        store.add("session", minimal_session(f"sess_{number}"))
        for step, read in enumerate((0, 19_000, 0)):
            start = 1_768_200_000_000 + number * 100_000 + step * 5_000
            usage = minimal_usage(
                f"u{number}_{step}", session_id=f"sess_{number}", started_at=start,
                completed_at=start + 2_000, input_tokens=20_000 + step * 500, output_tokens=50,
                cache_read_input_tokens=read, computed_total_tokens=20_050 + step * 500,
            )  # fmt: skip
            store.add("model_usage", usage)
    store.close()
    return store.path


def test_they_are_judged_when_one_is_opened(
    usage_only: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine may hold thousands of them: reading does not wait for their verdicts."""
    monkeypatch.setattr(rounds, "PROMPTLESS_SECONDS", 1e-9)
    db = tmp_path / "tracer.db"
    result = service.ingest(db, [str(usage_only)])
    assert result.unjudged_sessions == SESSIONS - 1
    reading = service.Service(db)
    assert reading.misses().unjudged_sessions == SESSIONS - 1
    session = reading.sessions().sessions[-1].session_id
    key = reading.requests(session)[-1].key
    assert reading.explain(key).verdict.is_miss
    assert reading.requests(session)[-1].verdict is not None


@pytest.mark.parametrize("racy_ns", [0, 10**18], ids=["settled", "written just now"])
def test_a_database_that_says_nothing_new_leaves_the_verdicts(
    usage_only: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, racy_ns: int
) -> None:
    """One that was written a moment ago is read again, as a write may have left the same time."""
    monkeypatch.setattr(readonly, "_RACY_NS", racy_ns)
    db = tmp_path / "tracer.db"
    service.ingest(db, [str(usage_only)])
    revision = service.Service(db).revision()
    again = service.ingest(db, [str(usage_only)])
    assert (again.new_records, again.verdicts, again.unjudged_sessions) == (0, 0, 0)
    assert service.Service(db).revision() == revision


def test_all_of_them_are_judged_when_asked_for(
    usage_only: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds, "PROMPTLESS_SECONDS", 1e-9)
    monkeypatch.setattr(readonly, "_RACY_NS", 10**18)
    db = tmp_path / "tracer.db"
    run = CliRunner().invoke
    told = run(main, ["ingest", str(usage_only), "--db", str(db)]).stdout
    assert "3 sessions without prompts have no verdicts yet" in told
    assert "--all-verdicts" in told
    assert "3 sessions" in run(main, ["ingest", str(usage_only), "--db", str(db)]).stdout
    result = run(main, ["ingest", str(usage_only), "--db", str(db), "--all-verdicts", "--json"])
    assert json.loads(result.stdout)["totals"]["unjudged_sessions"] == 0
    assert service.Service(db).misses().unjudged_sessions == 0


def test_the_doctor_says_of_each_session_what_is_gone(usage_only: Path, tmp_path: Path) -> None:
    db = tmp_path / "tracer.db"
    service.ingest(db, [str(usage_only)])
    report = service.doctor(tmp_path / "nothing", db)
    assert report.session_total == SESSIONS
    assert {known(session) for session in report.sessions} == {(3, 0, 3)}
    result = CliRunner().invoke(main, ["doctor", "--session", "sess_2", "--db", str(db)])
    assert "No prompts" in result.stdout
    assert "sess_3" not in result.stdout
    assert "To do:" in result.stdout


def known(session: SessionEvidence) -> tuple[int, int, int]:
    """Requests, prompts and usage rows of a session."""
    return (session.requests, session.prompts, session.usage_rows)
