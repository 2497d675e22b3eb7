"""Turns, tool calls and evidence of a session of the open format."""

from html import unescape
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from tests.helpers import SESSION, ingest
from tests.traces import built, completed, laid_out, line, ref, said, write
from tracer.cli import main
from tracer.model.story import SessionStory
from tracer.service import Service
from web.app import create_app

USAGE = {"inputTokens": 50, "outputTokens": 7, "cacheReadTokens": 0, "inclusive": True}


def call(id: str, name: str) -> dict[str, Any]:
    """An assistant message that says something and asks for one tool."""
    calls = [{"id": id, "name": name, "input": {}}]
    return said(f"a-{id}", "I look.", role="assistant", kind="assistant", toolCalls=calls)


def result(id: str, **keys: Any) -> dict[str, Any]:
    """The result of a call."""
    return said(f"t-{id}", role="tool", kind="tool_result", toolCallId=id, **keys)


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs; the second call failed once, the last result is an error."""
    folder = tmp_path_factory.mktemp("story")
    first = {8: [said("m1", "Why?", kind="user_input")]}
    first[8].append(said("note", "a file was attached", kind="attachment_note"))
    second = {8: [ref("m1"), ref("note")], 11: [call("c1", "read"), result("c1")]}
    third = {7: [*second[8], ref("a-c1"), ref("t-c1")]}
    third[8] = [said("m2", "Write it", kind="user_input"), said("m3", "down", kind="user_input")]
    fourth = third | {11: [call("c2", "note"), result("c2", isError=True)]}
    path = write(
        folder / "t.jsonl",
        line("session.started", 0, agent="Gardener", title="Roses"),
        line("run.started", 1, runId="r1"),
        laid_out(2, "q1", first),
        completed(3, "q1", usage=USAGE, durationMs=1000),
        laid_out(4, "q2", second),
        completed(5, "q2", status="failed", durationMs=1000),
        completed(7, "q2", attempt=2, usage=USAGE, durationMs=1000),
        line("run.completed", 8, runId="r1", status="completed"),
        line("run.started", 10, runId="r2"),
        laid_out(11, "q3", third, runId="r2"),
        completed(12, "q3", usage=USAGE, durationMs=1000),
        laid_out(13, "q4", fourth, runId="r2"),
        completed(14, "q4", usage=USAGE, durationMs=1000),
        line("run.completed", 16, runId="r2", status="cancelled"),
    )
    found = folder / "t.db"
    ingest(found, path)
    return found


@pytest.fixture
def story(db: Path) -> SessionStory:
    return Service(db).story(SESSION)


def test_a_run_ends_with_its_line(story: SessionStory) -> None:
    assert [(t.status, t.duration_ms) for t in story.turns] == [
        ("completed", 7_000),
        ("cancelled", 6_000),
    ]


def test_the_words_are_the_inputs_of_the_run(story: SessionStory) -> None:
    assert [t.words for t in story.turns] == ["Why?", "Write it\ndown"]


def test_calls_and_results_are_those_of_the_prompts(db: Path, story: SessionStory) -> None:
    seqs = {r.key: r.seq for r in Service(db).requests(SESSION)}
    assert [
        (c.tool, c.status, c.turn_id, seqs[c.request_key], seqs[c.result_key], c.known_from)
        for c in story.tools
    ] == [
        ("read", "completed", "r1", 1, 2, ("prompt",)),
        ("note", "error", "r2", 4, 5, ("prompt",)),
    ]
    assert [(c.started_at_ms, c.duration_ms) for c in story.tools] == [(None, None)] * 2
    assert [c.strength for c in story.tools] == ["heuristic"] * 2, "no answer is logged"


def test_a_call_of_before_the_trace_was_asked_for_by_no_request(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", built(1, "q1", [call("c0", "read"), said("m1")]))
    ingest(tmp_path / "t.db", path)
    (found,) = Service(tmp_path / "t.db").story(SESSION).tools
    assert (found.tool, found.status, found.request_key, found.result_key) == ("read", "", "", "")


def test_compactions_are_steps_of_the_turn_in_which_they_were(db: Path) -> None:
    path = db.parent / "compacted.jsonl"
    covered = {"covers": ["m1", "m2"], "summaryId": "m9", "beforeTokens": 900, "afterTokens": 40}
    write(
        path,
        line("run.started", 1, "compacted", runId="r1"),
        built(2, "q1", [said("m1"), said("m2")], session="compacted"),
        line("compaction.started", 3, "compacted", reason="window", runId="r1"),
        line("compaction.completed", 4, "compacted", runId="r1", **covered),
        built(5, "q2", [said("m9", kind="summary"), said("m3")], session="compacted"),
        line("compaction.started", 6, "compacted", reason="window", runId="r1"),
        line("compaction.failed", 7, "compacted", reason="it was cut off", runId="r1"),
        line("compaction.started", 8, "compacted", runId="r1"),
    )
    ingest(db, path)
    found = Service(db).story("compacted").compactions
    assert [(c.status, c.reason, c.covers, c.tokens_before, c.tokens_after) for c in found] == [
        ("completed", "window", 2, 900, 40),
        ("failed", "it was cut off", None, None, None),
        ("", "", None, None, None),
    ]
    assert {c.known_from for c in found} == {"event"}
    pages = TestClient(create_app(Service(db)), base_url="http://127.0.0.1:8321")
    page = " ".join(unescape(pages.get("/sessions/compacted/story").text).split())
    assert "window · completed · a summary of 2 messages · 900 tokens became 40" in page
    assert '<b class="bad">failed</b>' in page and page.count("<b>Compaction</b>") == 3


def test_prompts_are_counted_by_call_and_nothing_was_rotated_away(story: SessionStory) -> None:
    found = [(f.level, f.title) for f in story.evidence]
    assert found == [("ok", "Prompts"), ("ok", "Ends and usage"), ("ok", "Runs and tool calls")]
    said = " ".join(f.detail + f.fix for f in story.evidence)
    assert "all model calls: 4." in said
    assert "rotated" not in said and "db.sqlite" not in said and "debug level" not in said


def test_what_the_trace_lacks_is_said_in_words_of_its_format(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.jsonl",
        line("run.started", 0, runId="r1"),
        built(1, "q1", [said("m1"), ref("lost")]),
        completed(4, "q2", runId="r1", usage=USAGE),
    )
    ingest(tmp_path / "t.db", path)
    evidence = Service(tmp_path / "t.db").story(SESSION).evidence
    assert [f.title for f in evidence] == [
        "Some prompts are not in the trace",
        "References without a message",
        "Not every request has an end",
        "Not every run has an end",
    ]
    assert "1 of 2 model calls" in evidence[0].detail
    assert "context.built" in evidence[0].fix


def test_the_page_and_the_doctor_say_the_same(db: Path) -> None:
    with TestClient(create_app(Service(db)), base_url="http://localhost") as client:
        page = client.get(f"/sessions/{SESSION}/story").text
    assert "end not logged" not in page and "none known" in page  # no subagents
    assert "1 error, from the prompts" in page
    assert "result in request 5" in page
    doctor = CliRunner().invoke(main, ["doctor", "--session", SESSION, "--db", str(db)]).stdout
    assert "all model calls: 4." in doctor and "rotated" not in doctor


def test_runs_that_begin_at_once_keep_the_order_of_the_file(tmp_path: Path) -> None:
    """By id the second would come first; it ends first, too."""
    path = write(
        tmp_path / "t.jsonl",
        line("run.started", 1, runId="zebra"),
        line("run.started", 1, runId="ant"),
        built(2, "q-z", [said("m1", "of zebra")], runId="zebra"),
        built(2, "q-a", [said("m2", "of ant")], runId="ant"),
        completed(3, "q-a", runId="ant"),
        completed(4, "q-z", runId="zebra"),
    )
    ingest(tmp_path / "t.db", path)
    service = Service(tmp_path / "t.db")
    assert [(t.number, t.turn_id, t.words) for t in service.story(SESSION).turns] == [
        (1, "zebra", "of zebra"),
        (2, "ant", "of ant"),
    ]
    assert [(r.seq, r.turn_number, r.turn_id) for r in service.requests(SESSION)] == [
        (1, 1, "zebra"),
        (2, 2, "ant"),
    ]
