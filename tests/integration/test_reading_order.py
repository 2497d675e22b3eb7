"""What is shown does not depend on which file was read first."""

import json
from itertools import permutations
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.checks.breakers import BREAKERS
from tests.traces import built, line, said, write
from tracer import service
from tracer.cli import main
from tracer.service import Service

STARTED, STOPPED = "subagent.started", "subagent.stopped"


def parent_of(db: Path, *paths: Path) -> str:
    for path in paths:
        service.ingest(db, [str(path)], count_tokens=False)
    return Service(db).session("child").parent_session_id


@pytest.mark.parametrize(
    ("claims", "parent"),
    [
        ([(STARTED, 3, "a"), (STARTED, 2, "b"), (STARTED, 4, "c")], "b"),
        ([(STARTED, 3, "b"), (STARTED, 3, "a")], "a"),
        ([(STOPPED, 1, "a"), (STARTED, 9, "b")], "b"),
        ([(STARTED, 5, "a"), (STARTED, 3, "b"), (STARTED, 1, "a")], "a"),
    ],
)
def test_the_parent_is_the_session_that_first_told_of_the_start(
    tmp_path: Path, claims: list[tuple[str, float, str]], parent: str
) -> None:
    files = [
        write(tmp_path / f"{n}.jsonl", line(event, second, session, childSessionId="child"))
        for n, (event, second, session) in enumerate(claims)
    ]
    files.append(write(tmp_path / "child.jsonl", built(6, "q1", [said("m1")], session="child")))
    for n, order in enumerate(permutations(files)):
        assert parent_of(tmp_path / f"{n}.db", *order) == parent


def test_findings_of_sessions_of_one_moment_stand_in_one_order(tmp_path: Path) -> None:
    files = []
    for name in ("sess_b", "sess_a"):
        run = BREAKERS["zcode/conversation-marker"]().run
        run.count()
        text = json.dumps([run.records, run.log])
        for record in run.records:
            text = text.replace(record["requestId"], f"{record['requestId']}-{name}")
        run.records, run.log = json.loads(text.replace(run.records[0]["sessionId"], name))
        files.append(run.write(tmp_path / name))
    outputs = []
    for n, order in enumerate((files, files[::-1])):
        db = tmp_path / f"{n}.db"
        for paths in order:
            service.ingest(db, paths, count_tokens=False)
        value = json.loads(CliRunner().invoke(main, ["check", "--json", "--db", str(db)]).stdout)
        outputs.append([(f["session_id"], f["rule"], f["message"]) for f in value["findings"]])
    assert outputs[0] == outputs[1]
    assert [session for session, *_ in outputs[0]] == sorted(s for s, *_ in outputs[0])
