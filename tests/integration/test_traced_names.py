"""What stands in a traced prompt is named as its trace names it, in every layout."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from tests.helpers import SESSION, ingest
from tests.traces import built, completed, laid_out, ref, said, write
from tracer.cli import main
from tracer.service import Service
from web.app import create_app

RULES = said("rules", role="system", kind="rules")
GUIDE = said("guide", role="system", kind="capability_guide")
WORLD = said("world", role="system", kind="world_state", scope="session", mode="full", state={})
RUN = said("run", role="system", kind="world_state", scope="run", mode="full", state={"a": 1})
OFF = said("off", role="system", kind="world_state", scope="session", mode="diff", patch={})
STEPS = said("todo", role="system", kind="todo_reminder")
STEP = said("a1", role="assistant", kind="assistant")
NAMES = {"rules", "world_state (session)", "world_state (run)", "todo_reminder"}


def rows(db: Path) -> dict[tuple[str, str], list[str]]:
    """The cells of each row of the matrix, run by run."""
    (lane,) = Service(db).presence(SESSION).lanes
    return {(row.group, row.name): [run.cell for run in row.runs] for row in lane.rows}


def stored(folder: Path, *lines: bytes) -> Path:
    ingest(folder / "t.db", write(folder / "t.jsonl", *lines))
    return folder / "t.db"


def test_a_message_that_only_moved_is_never_marked_as_changed(tmp_path: Path) -> None:
    first: dict[int, list[dict[str, Any]]] = {1: [RULES], 4: [GUIDE], 5: [WORLD]}
    first |= {8: [said("m1", kind="user_input")], 10: [RUN], 11: [OFF], 12: [STEPS]}
    second = {1: [ref("rules")], 5: [ref("world")], 8: [ref("m1")], 10: [ref("run")]}
    second |= {11: [ref("off"), STEP], 12: [ref("todo")]}
    third = {1: [ref("rules")], 5: [ref("world")], 7: [*second[8], ref("run"), ref("off")]}
    third |= {8: [said("m2", kind="user_input")], 12: [ref("todo")]}
    db = stored(
        tmp_path,
        *(laid_out(1, "q1", first), completed(2, "q1")),
        *(laid_out(3, "q2", second), completed(4, "q2")),
        *(laid_out(5, "q3", third, runId="r2"), completed(6, "q3")),
    )
    assert rows(db) == {
        ("section", "rules"): ["appeared", "same"],
        ("section", "capability_guide"): ["appeared", "gone"],
        ("section", "world_state (session)"): ["appeared", "same"],
        ("reminder", "world_state (run)"): ["appeared", "same", "moved"],
        ("reminder", "world_state (session, diff)"): ["appeared", "same", "moved"],
        ("reminder", "todo_reminder"): ["appeared", "same"],
    }


def test_a_note_that_reads_otherwise_is_changed(tmp_path: Path) -> None:
    first = {8: [said("m1", kind="user_input")], 12: [STEPS]}
    db = stored(
        tmp_path,
        *(laid_out(1, "q1", first), completed(2, "q1")),
        laid_out(3, "q2", first | {12: [STEPS | {"content": "another one"}]}),
    )
    assert rows(db)["reminder", "todo_reminder"] == ["appeared", "changed"]


@pytest.mark.parametrize("form", ["segments-14", "another-layout", "messages"])
def test_no_page_speaks_of_another_agents_layouts(tmp_path: Path, form: str) -> None:
    segments = {1: [RULES], 5: [WORLD], 8: [said("m1", kind="user_input")], 10: [RUN], 12: [STEPS]}
    nameless = said("odd", role="system")
    if form == "messages":
        messages = [message for own in segments.values() for message in own]
        prompt = built(1, "q1", [*messages, nameless])
    else:
        prompt = laid_out(1, "q1", segments | {14: [nameless]}, layout=form)
    db = stored(tmp_path, prompt, completed(2, "q1"))
    assert {name for _, name in rows(db)} == NAMES | {"odd"}
    key = Service(db).requests(SESSION)[0].key
    with TestClient(create_app(Service(db)), base_url="http://127.0.0.1") as client:
        page = client.get(f"/requests/{key}").text
        session = client.get(f"/sessions/{SESSION}?r={key}").text
    for text in (page, session, CliRunner().invoke(main, ["show", key, "--db", str(db)]).stdout):
        assert "world_state (run)" in text
        for word in ("MCS unknown", "no known layout", "no section recognised", "reminder unknown"):
            assert word not in text
        assert "<dt>MCS" not in text and '<th scope="row">MCS' not in text
