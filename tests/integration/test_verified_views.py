"""The views of the database say which parts of a prompt a request's own record proves."""

from contextlib import closing
from pathlib import Path

from tests.helpers import SAMPLES, ingest
from tracer.service import Service
from tracer.store.connect import open_reader

LONG = "sess_32d58b9a-db43-405d-a639-d6b90877abb3"


def test_the_views_say_what_a_record_proves(tmp_path: Path) -> None:
    db = tmp_path / "x.db"
    ingest(db, SAMPLES / "windowed-long")
    requests = {r.seq: r for r in Service(db).requests(LONG)}
    seen = set()
    with closing(open_reader(db)) as connection:
        for seq in (31, 42, 53, 64):
            key = requests[seq].key
            notes = connection.execute(
                "SELECT message_index, verified FROM v_reminders WHERE key = ?", (key,)
            ).fetchall()
            told = sorted((r.message_index, int(r.verified)) for r in requests[seq].reminders)
            assert sorted(notes) == told
            seen |= {verified for _, verified in notes}
            kinds = connection.execute(
                "SELECT kind, min(verified) FROM v_presence WHERE key = ? AND kind <> 'reminder' "
                "GROUP BY kind",
                (key,),
            ).fetchall()
            assert dict(kinds) == {"tool": 1, "system": 1}, "every body holds them"
    assert seen == {0, 1}
