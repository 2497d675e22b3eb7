"""A page reads the requests that it shows; what it reads is what reading all of them gives."""

from pathlib import Path

import pytest

from tests.helpers import SAMPLES, ingest
from tracer import service
from tracer.service import Service

LONG, FAILING = SAMPLES / "windowed-long", SAMPLES / "retries-failures"


@pytest.fixture(scope="module", params=[True, False], ids=["judged", "not judged"])
def db(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "tracer.db"
    if request.param:
        service.ingest(path, [str(LONG), str(FAILING)])
    else:
        ingest(path, LONG, FAILING)
    return path


def session_ids(db: Path) -> list[str]:
    return [session.session_id for session in Service(db).sessions().sessions]


def test_one_request_at_a_time_is_the_same_as_all(db: Path) -> None:
    for session_id in session_ids(db):
        all_of_them = Service(db).timeline(session_id)
        reading = Service(db)
        with reading.snapshots.one_reading():
            timeline = reading.timeline(session_id)
            backwards = [timeline.columns[at] for at in reversed(range(len(timeline.columns)))]
        assert backwards[::-1] == list(all_of_them.columns)
        assert timeline.events == all_of_them.events
        assert list(timeline.outline) == list(all_of_them.outline)


def test_the_outline_says_what_the_summaries_say(db: Path) -> None:
    for session_id in session_ids(db):
        timeline = Service(db).timeline(session_id)
        for outlined, column in zip(timeline.outline, timeline.columns, strict=True):
            request = column.request
            verdict = request.verdict
            assert outlined.markers == len(request.markers)
            assert outlined.result == (verdict.result if verdict else None)
            assert outlined.baseline_key == (verdict.baseline_key if verdict else "")


def test_a_result_may_be_used_when_its_reading_has_ended(tmp_path: Path) -> None:
    db = tmp_path / "tracer.db"
    ingest(db, LONG)
    reading = Service(db)
    (session_id,) = session_ids(db)
    requests, timeline = reading.requests(session_id), reading.timeline(session_id)
    ingest(db, FAILING)
    assert [r.key for r in requests] == [c.request.key for c in timeline.columns]


def test_nothing_is_mixed_from_two_states_of_the_database(tmp_path: Path) -> None:
    db = tmp_path / "tracer.db"
    ingest(db, LONG)
    reading = Service(db)
    (session_id,) = session_ids(db)
    with reading.snapshots.one_reading():
        columns = reading.timeline(session_id).columns
        ingest(db, FAILING)
        assert columns[-1].request.session_id == session_id
    with pytest.raises(RuntimeError, match="after its reading"):
        columns[0]
