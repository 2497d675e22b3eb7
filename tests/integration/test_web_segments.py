"""A laid-out prompt on the pages, in the JSON, and on the timeline."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.helpers import SAMPLES, SESSION, ingest
from tests.traces import completed, laid_out, line, ref, said, write
from tracer.model.prompt import Part
from tracer.model.segment_views import RequestSegments
from tracer.service import Service
from web.app import create_app

RULES = said("rules", "Be brief, and name the file. " * 9, role="system", kind="rules")
GUIDE = said("guide", "Search first.", role="system", kind="capability_guide", capability="web")
WORLD: dict[str, Any] = {"id": "world", "role": "system", "kind": "world_state", "mode": "full"}
WORLD |= {"scope": "session", "state": {"cwd": "/w", "capabilities": {"web": True}}}
RUN: dict[str, Any] = {"id": "run", "role": "system", "kind": "world_state", "mode": "full"}
RUN |= {"scope": "run", "state": {"skills": ["review"]}}
OFF: dict[str, Any] = {"id": "off", "role": "system", "kind": "world_state", "mode": "diff"}
OFF |= {"scope": "session", "patch": {"capabilities": {"web": False}}, "reason": "by the user"}
SKILL = said("skill", "Read every line.", kind="skill_body", skill="review")
STEPS = said("todo", "1. <b>look</b>", role="system", kind="todo_reminder")
STEP: dict[str, Any] = {"id": "tx", "role": "system", "kind": "transaction_snapshot"}
STEP |= {"state": {"transactionId": "t1", "status": "open"}}
TOOLS = {"stable": [{"name": "read"}], "dynamic": [{"name": "search", "capability": "web"}]}
SUMMARY = said("sum", "It was said.", role="system", kind="summary", covers=["m1", "m2", "m3"])
USAGE = {"inputTokens": 500, "outputTokens": 7, "cacheReadTokens": 64, "inclusive": True}


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("segments")
    first = {1: [RULES], 4: [GUIDE], 5: [WORLD], 8: [said("m1", kind="user_input")]}
    first |= {9: [SKILL], 10: [RUN], 12: [STEPS]}
    second = {1: [ref("rules")], 5: [ref("world")], 6: [SUMMARY], 7: [OFF]}
    second |= {8: [said("m4", kind="weather")], 10: [ref("run")], 11: [ref("lost")], 14: [STEP]}
    path = write(
        folder / "t.jsonl",
        line("session.started", 0, agent="Gardener", title="Roses"),
        laid_out(1, "q1", first, tools=TOOLS),
        completed(2, "q1", usage=USAGE, durationMs=900),
        line("compaction.completed", 3, covers=["m1", "m2", "m3"], summaryId="sum"),
        line("capability.changed", 3, name="web", enabled=False, reason="by the user"),
        laid_out(4, "q2", second, runId="r2", tools={"stable": [{"name": "read"}]}),
        line(
            "context_usage_snapshot", 4, requestId="q2", contextWindow=900, outputReserve=300,
            totalTokens=700, categories=[],
        ),
        completed(5, "q2", usage=USAGE, durationMs=900),
    )  # fmt: skip
    found = folder / "t.db"
    ingest(found, path, count_tokens=True)
    return found


@pytest.fixture
def client(db: Path) -> Iterator[TestClient]:
    with TestClient(create_app(Service(db)), base_url="http://127.0.0.1") as found:
        yield found


def segments(db: Path, number: int) -> RequestSegments:
    found = Service(db).requests(SESSION)[number - 1].segments
    assert found is not None
    return found


def page(client: TestClient, db: Path, number: int) -> str:
    key = Service(db).requests(SESSION)[number - 1].key
    answer = client.get(f"/requests/{key}")
    assert answer.status_code == 200
    return answer.text


def test_segments_have_names_groups_and_sizes(db: Path) -> None:
    first = segments(db, 1)
    assert [(s.n, s.group, s.first_message, s.messages) for s in first.segments] == [
        (1, "prefix", 0, 1), (4, "prefix", 1, 1), (5, "prefix", 2, 1), (8, "history", 3, 1),
        (9, "history", 4, 1), (10, "history", 5, 1), (12, "tail", 6, 1),
    ]  # fmt: skip
    assert {s.change for s in first.segments} == {"first"}
    assert [g.group for g in first.groups] == ["tools", "prefix", "history", "tail"]
    assert all(s.counted and s.tokens > 0 for s in first.segments)
    prompt = Service(db).timeline(SESSION).columns[0].prompt_tokens
    assert sum(g.tokens for g in first.groups) == prompt


def test_what_became_of_a_segment_is_told(db: Path) -> None:
    changes = {s.n: s.change for s in segments(db, 2).segments}
    assert changes == {
        1: "same", 5: "same", 6: "new", 7: "new", 8: "changed", 10: "same", 11: "new", 14: "new"
    }  # fmt: skip


def test_the_world_is_what_the_model_knew(db: Path) -> None:
    world = segments(db, 2).world
    assert world.session is not None and world.run is not None
    assert world.session.state == {"cwd": "/w", "capabilities": {"web": False}}
    assert (world.session.full_message, world.session.diffs) == (1, 1)
    assert [(c.scope, c.path, c.before, c.after) for c in world.changes] == [
        ("session", ("capabilities", "web"), "true", "false")
    ]
    assert segments(db, 1).world.since_seq is None and world.since_seq == 1


def test_capabilities_skills_summary_and_transaction(db: Path) -> None:
    first, second = segments(db, 1), segments(db, 2)
    assert [(c.name, c.tools, c.guide, c.state) for c in first.capabilities] == [
        ("web", 1, True, True)
    ]
    assert [(c.tools, c.guide, c.state) for c in second.capabilities] == [(0, False, False)]
    assert [(s.name, s.where) for s in first.skills] == [("review", "start")]
    assert second.summary is not None
    assert (second.summary.covers, second.summary.first) == (3, "m1")
    assert [(v.path, v.json) for v in second.transaction] == [
        (("transactionId",), '"t1"'), (("status",), '"open"')
    ]  # fmt: skip
    assert second.unresolved == ("lost",)


def test_the_timeline_stacks_the_groups(db: Path) -> None:
    first, second = Service(db).timeline(SESSION).columns
    assert [p.part for p in first.parts] == [
        Part.TOOLS, Part.SYSTEM, Part.HISTORY, Part.REMINDER
    ]  # fmt: skip
    for column in (first, second):
        assert sum(p.tokens for p in column.parts) == column.prompt_tokens
        assert 0 <= sum(p.new_tokens for p in column.parts) <= column.prompt_tokens
    assert sum(p.new_tokens for p in first.parts) == first.prompt_tokens


def test_the_request_page_shows_the_outline(client: TestClient, db: Path) -> None:
    text = page(client, db, 2)
    assert "segments-14" in text and "Timeline of this run" in text
    assert "1 message not defined" in text and "<code>lost</code>" in text
    assert "700 input (the agent&#39;s estimate) + 300 output reserve = 1,000 of 900" in text
    assert "100 more than the context window holds" in text
    assert "weather" in text
    assert "capabilities › web" in text and "File transaction" in text
    assert "stands for 3 messages" in text
    first = page(client, db, 1)
    assert "stable 1:" in first and "search (web)" in first
    assert "<b>look</b>" not in first  # hostile text stays text


def test_the_session_page_names_the_groups(client: TestClient) -> None:
    text = client.get(f"/sessions/{SESSION}").text
    assert "Colours of the groups of a prompt" in text
    assert "Capability web switched off: by the user" in text


def test_a_prompt_of_another_format_has_no_outline(tmp_path: Path) -> None:
    db = tmp_path / "t.db"
    ingest(db, SAMPLES / "mcs-on" / "rollout")
    reading = Service(db)
    (session,) = reading.sessions().sessions
    assert all(r.segments is None for r in reading.requests(session.session_id))


def test_the_session_of_segments(client: TestClient, db: Path) -> None:
    story = Service(db).segment_story(SESSION)
    (web,) = story.capabilities
    assert [(r.first_seq, r.last_seq, r.view.state) for r in web.runs] == [
        (1, 1, True),
        (2, 2, False),
    ]
    assert [(s.after_seq, s.enabled, s.reason) for s in web.switches] == [(1, False, "by the user")]
    assert web.disagreed == ()
    (skill,) = story.skills
    assert (skill.name, skill.first_seq, skill.last_seq, skill.how) == ("review", 1, 1, "start")
    (compaction,) = story.compactions
    assert (compaction.what, compaction.covers, compaction.first) == ("completed", 3, "m1")
    (transaction,) = story.transactions
    assert (transaction.snapshot_seqs, transaction.closed) == ((2,), False)
    assert [r.changed_prefix for r in story.requests] == [(), ("Summary",)]
    text = client.get(f"/sessions/{SESSION}/segments").text
    assert "Switched off after request 1: by the user<" in text
    assert "not closed" in text and "1 message not defined" in text
    assert 'aria-current="page">Segments' in text


def test_a_session_without_a_trace_says_so(tmp_path: Path) -> None:
    db = tmp_path / "t.db"
    ingest(db, SAMPLES / "mcs-on" / "rollout")
    (session,) = Service(db).sessions().sessions
    with TestClient(create_app(Service(db)), base_url="http://127.0.0.1") as client:
        page = client.get(f"/sessions/{session.session_id}/segments")
        assert page.status_code == 200 and "No laid-out prompt" in page.text
        assert client.get("/sessions/nobody/segments").status_code == 404


def test_sections_and_reminders_are_named_by_their_kinds(client: TestClient, db: Path) -> None:
    first, second = Service(db).requests(SESSION)
    assert [(s.source, s.message_index, s.cache_hint) for s in first.sections] == [
        ("rules", 0, "stable"),
        ("capability_guide", 1, "dynamic"),
        ("world_state (session)", 2, "dynamic"),
    ]
    assert [(r.source, r.via) for r in first.reminders] == [
        ("skill_body", "inline"), ("world_state (run)", "mcs"), ("todo_reminder", "mcs")
    ]  # fmt: skip
    assert [(m.message_index, m.sources) for m in first.mcs] == [
        (5, ("world_state (run)",)), (6, ("todo_reminder",))
    ]  # fmt: skip
    assert "summary" in [s.source for s in second.sections]
    assert "weather" in [r.source for r in second.reminders]
    rows = {(r.group, r.name): r for lane in Service(db).presence(SESSION).lanes for r in lane.rows}
    cells = [run.cell for run in rows["reminder", "todo_reminder"].runs]
    assert cells == ["appeared", "unseen"]  # the second prompt has a gap, which may hide it
    assert [run.cell for run in rows["section", "rules"].runs] == ["appeared", "same"]
    assert "todo_reminder" in client.get(f"/sessions/{SESSION}").text
    text = page(client, db, 1)
    assert "no section recognised" not in text and "as the trace lays it out" in text


def test_a_change_is_marked_however_deep_it_stands(tmp_path: Path) -> None:
    def nested(value: int) -> dict[str, Any]:
        state: dict[str, Any] = {"lamp": value}
        for name in "jihgfedcba":
            state = {name: state}
        return state

    change = OFF | {"patch": nested(2)}
    path = write(
        tmp_path / "t.jsonl",
        line("session.started", 0, agent="Gardener"),
        laid_out(1, "q1", {5: [WORLD | {"state": nested(1)}], 8: [said("m1")]}),
        completed(2, "q1", usage=USAGE),
        laid_out(3, "q2", {5: [ref("world")], 8: [ref("m1")], 11: [change]}),
        completed(4, "q2", usage=USAGE),
    )
    ingest(tmp_path / "t.db", path)
    with TestClient(create_app(Service(tmp_path / "t.db")), base_url="http://127.0.0.1") as client:
        shown = page(client, tmp_path / "t.db", 2)
    keys = "a › b › c › d › e › f › g › h › i › j › lamp"
    assert f'<tr class="now"><th scope="row"><bdi>{keys}</bdi>' in shown
