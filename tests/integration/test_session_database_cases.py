"""The edge cases of session databases, helpers' folders and transcripts (formats/zcode.md 14)."""

import json
import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.homes import Store, minimal_session, minimal_usage, read
from tracer.formats import active_branch


def rows(db: Path, sql: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(db)) as connection:
        return connection.execute(sql).fetchall()


def message(name: str, **data: Any) -> dict[str, Any]:
    row = {"id": name, "session_id": "sess_1", "time_created": 1_000, "time_updated": 1_000}
    return row | {"data": json.dumps({"role": "user", **data})}


def text_part(name: str, of: str, text: str, **more: Any) -> dict[str, Any]:
    row = {"id": name, "message_id": of, "session_id": "sess_1", "time_created": 1_000}
    return row | {"time_updated": 1_000, "data": json.dumps({"type": "text", "text": text})} | more


@pytest.fixture
def paths(tmp_path: Path) -> tuple[Path, Path]:
    """The agent's database and ours."""
    return tmp_path / "db" / "db.sqlite", tmp_path / "tracer.db"


def test_case_33_a_database_that_nobody_may_write_is_read(paths: tuple[Path, Path]) -> None:
    """What a writer's locks and logs do is in test_session_database_live."""
    path, db = paths
    Store(path).add("session", minimal_session()).close()
    os.chmod(path, stat.S_IRUSR)
    os.chmod(path.parent, stat.S_IRUSR | stat.S_IXUSR)
    try:
        (file,) = read(db, [path]).files
    finally:
        os.chmod(path.parent, stat.S_IRWXU)
    assert (file.status, file.records) == ("read", 1)
    assert os.listdir(path.parent) == ["db.sqlite"]


def test_case_34_missing_columns_tables_and_null_sequences_and_extras_of_forks(
    paths: tuple[Path, Path],
) -> None:
    path, db = paths
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as fork:
        fork.executescript(
            """CREATE TABLE session (id text primary key, title text, directory text, mood text);
            CREATE TABLE message (id text primary key, session_id text, data text, sequence int);
            CREATE TABLE model_usage (id text primary key, session_id text, query_source text,
              started_at int, input_tokens int, weather text) WITHOUT ROWID;
            CREATE TABLE dreams (a, b);
            INSERT INTO session VALUES ('sess_1', 'T', '/w', 'calm');
            INSERT INTO message VALUES ('m2', 'sess_1', '{"role":"user"}', NULL);
            INSERT INTO message VALUES ('m1', 'sess_1', '{"role":"user"}', 7);
            INSERT INTO model_usage VALUES ('u', 'sess_1', 'main_turn', 5000, 10, 'rain');"""
        )
    (file,) = read(db, [path]).files
    assert (file.status, file.records, file.skipped_total) == ("read", 4, 0)
    assert rows(db, "SELECT title, project FROM sessions") == [("T", "/w")]
    assert rows(db, "SELECT extra_json FROM session_facts") == [('{"mood":"calm"}',)]
    assert rows(db, "SELECT extra_json, input_tokens FROM usage_rows") == [
        ('{"weather":"rain"}', 10)
    ]
    order = "SELECT message_id FROM messages ORDER BY sequence IS NULL, sequence"
    assert rows(db, order) == [("m1",), ("m2",)]


def test_case_35_rows_updated_in_place_are_picked_up_and_removed_sessions_stay(
    paths: tuple[Path, Path],
) -> None:
    path, db = paths
    store = Store(path).add("session", minimal_session(), minimal_session("sess_2"))
    store.add("model_usage", minimal_usage(status="running", completed_at=None, input_tokens=0,
                                           output_tokens=0, cache_read_input_tokens=0))  # fmt: skip
    store.add("message", message("m1", time={"created": 1}))
    tool = {"type": "tool", "callID": "c", "tool": "Bash", "state": {"status": "running"}}
    store.add("part", text_part("p1", "m1", "", data=json.dumps(tool)))
    read(db, [path])
    assert rows(db, "SELECT status, input_tokens FROM requests") == [("unknown", None)]
    store.execute(
        "UPDATE model_usage SET status = 'completed', completed_at = 12000, input_tokens = 100"
    )
    tool["state"] = {"status": "completed", "output": "done", "time": {"start": 1, "end": 9}}
    store.execute("UPDATE part SET data = ?, time_updated = 500000", json.dumps(tool))
    store.execute("UPDATE session SET title = 'New', time_updated = 600000 WHERE id = 'sess_1'")
    (file,) = read(db, [path]).files
    assert file.new_records == 3
    assert rows(db, "SELECT status, input_tokens FROM requests") == [("completed", 100)]
    assert rows(db, "SELECT state, text FROM parts") == [("completed", "done")]
    assert rows(db, "SELECT title FROM sessions WHERE session_id = 'sess_1'") == [("New",)]
    store.execute("DELETE FROM session WHERE id = 'sess_1'")  # cascades to all of its rows
    store.execute("INSERT INTO session_entry VALUES ('e', 'sess_2', 'x', 700000, 700000, '{}')")
    store.close()
    read(db, [path])
    removed = "SELECT session_id, removed_at IS NOT NULL FROM v_session_database ORDER BY 1"
    assert rows(db, removed) == [("sess_1", 1), ("sess_2", 0)]
    assert rows(db, "SELECT count(*) FROM usage_rows") == [(1,)]
    assert rows(db, "SELECT status, input_tokens FROM requests") == [("completed", 100)]


def test_case_36_data_that_is_not_json_is_kept_raw(paths: tuple[Path, Path]) -> None:
    path, db = paths
    store = Store(path).add("session", minimal_session())
    store.add("message", message("m1") | {"data": '{"role":"user", torn'})
    store.add("part", text_part("p1", "m1", "", data="[1, 2]"), text_part("p2", "m1", "fine"))
    store.add("part", text_part("p3", "m1", "", data='{"type":"text","text":"\\ud83d half"}'))
    store.close()
    (file,) = read(db, [path]).files
    assert file.skipped_total == 0
    assert rows(db, "SELECT role, raw FROM messages") == [("", '{"role":"user", torn')]
    assert rows(db, "SELECT kind, text, raw FROM parts ORDER BY part_id") == [
        ("", "", "[1, 2]"),
        ("text", "fine", ""),
        ("text", "\ufffd half", ""),
    ]


def test_case_37_rewound_branches_and_copies_of_a_fork_stay_apart(paths: tuple[Path, Path]) -> None:
    path, db = paths
    revert = {"messageID": "m2", "keptMessageIDs": ["m1"], "branchCutAfterMessageID": "m3"}
    store = Store(path).add("session", minimal_session(revert=json.dumps(revert)))
    store.add("session", minimal_session("sess_2", parent_id="sess_1", task_type="fork"))
    for number, name in enumerate(("m1", "m2", "m3", "m4")):
        store.add("message", message(name) | {"sequence": number})
        store.add("part", text_part(f"p{name}", name, "the same words"))
    copy = message("m1_copy") | {"session_id": "sess_2"}
    store.add("message", copy)
    store.add("part", text_part("p_copy", "m1_copy", "the same words", session_id="sess_2"))
    store.close()
    read(db, [path])
    stored = rows(db, "SELECT revert_json FROM session_facts WHERE revert_json <> ''")
    branch = active_branch(["m1", "m2", "m3", "m4"], stored[0][0])
    assert (branch.active, branch.abandoned) == (("m1", "m4"), ("m2", "m3"))
    assert rows(db, "SELECT count(*) FROM parts") == [(5,)]
    parents = rows(db, "SELECT session_id, parent_session_id FROM sessions ORDER BY 1")
    assert parents == [("sess_1", ""), ("sess_2", "sess_1")]


def test_case_38_running_forever_and_totals_that_differ_are_shown(
    paths: tuple[Path, Path],
) -> None:
    path, db = paths
    store = Store(path).add("session", minimal_session())
    stuck = {"status": "running", "completed_at": None, "input_tokens": 0, "output_tokens": 0}
    stuck |= {"cache_read_input_tokens": 0, "computed_total_tokens": 0, "started_at": 900_000}
    store.add("model_usage", minimal_usage("u1", **stuck))
    store.add("model_usage", minimal_usage("u2", provider_total_tokens=140))
    store.close()
    read(db, [path])
    read(db, [path])
    found = rows(
        db,
        "SELECT status, input_tokens, fresh_tokens, cache_read_tokens FROM requests ORDER BY "
        "started_at_ms",
    )
    assert found == [("completed", 100, 40, 60), ("unknown", None, None, None)]
    conflicts = rows(db, "SELECT conflicts_json FROM usage_rows ORDER BY usage_id")
    assert conflicts[0] == ("",)
    assert json.loads(conflicts[1][0]) == [{"fact": "total_tokens", "request": "140", "row": "110"}]


def test_case_39_a_row_without_a_trace_is_tied_by_what_it_has(
    paths: tuple[Path, Path], tmp_path: Path
) -> None:
    path, db = paths
    store = Store(path).add("session", minimal_session())
    store.add("model_usage", minimal_usage(trace_id=None)).close()
    record = {
        "completedAt": "1970-01-01T00:00:12.000Z", "requestId": "r1", "attempt": 1,
        "model": {"modelId": "m", "providerId": "p"}, "sessionId": "sess_1", "turnId": "turn_1",
        "querySource": "main_turn", "startedAt": "1970-01-01T00:00:10.100Z", "traceId": "trace_1",
        "request": {"messages": [{"role": "user", "content": "x"}], "messageCount": 1,
                    "messagesKind": "full", "messageOffset": 0},
        "response": {"usage": {"inputTokens": 100, "outputTokens": 10, "cacheReadTokens": 60}},
        "type": "model_io",
    }  # fmt: skip
    file = tmp_path / "model-io-sess_1.jsonl"
    file.write_text(json.dumps(record) + "\n")
    read(db, [path, file])
    ((key, strength, words),) = rows(db, "SELECT request_key, join_strength, join_key FROM v_usage")
    assert (strength, words) == (
        "heuristic", "session, turn, purpose, time; its token counts agree"
    )  # fmt: skip
    assert rows(db, "SELECT key FROM requests") == [(key,)]


def folder(tmp_path: Path, **values: Any) -> Path:
    path = tmp_path / "agents" / "sess_parent" / "agent_1" / "metadata.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values, indent=2))
    return path


WHOLE = {
    "agentId": "agent_1", "childSessionId": "sess_subagent_agent_1", "createdAt": 1_000,
    "parentSessionId": "sess_parent", "parentToolUseId": "call_1", "profileId": "Explore",
    "prompt": "Look.", "status": "running", "updatedAt": 1_000, "cwd": "/w",
}  # fmt: skip


def test_case_40_metadata_half_written_with_fewer_keys_or_running_forever(tmp_path: Path) -> None:
    db = tmp_path / "tracer.db"
    path = folder(tmp_path, **WHOLE)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    (half,) = read(db, [path]).files
    assert (half.status, half.records, half.skipped_total) == ("read", 0, 1)
    assert half.skipped[0].kind == "torn"
    path.write_bytes(b"")
    assert read(db, [path]).files[0].records == 0
    path.write_bytes(whole)
    (file,) = read(db, [tmp_path / "agents"]).files
    assert (file.format, file.records, file.skipped_total) == ("zcode-agent", 1, 0)
    assert rows(db, "SELECT status FROM agent_runs") == [("running",)]
    fewer = {k: v for k, v in WHOLE.items() if k not in ("createdAt", "cwd", "prompt")}
    folder(tmp_path, **fewer | {"status": "stopped", "updatedAt": 9_000})
    path.with_name("output.txt").write_text("stopped here")
    read(db, [path])
    found = "SELECT status, prompt, cwd, created_at_ms, updated_at_ms, output FROM agent_runs"
    assert rows(db, found) == [("stopped", "Look.", "/w", 1_000, 9_000, "stopped here")]
    child = "SELECT parent_session_id FROM sessions WHERE session_id = 'sess_subagent_agent_1'"
    assert rows(db, child) == [("sess_parent",)]


def event(kind: str, at: int, **payload: Any) -> str:
    line = {"type": kind, "sessionId": "sess_1", "turnId": "turn_1", "sequenceNumber": 0}
    moment = f"1970-01-01T00:00:{at:02d}.000Z"
    return json.dumps(line | {"occurredAt": moment, "traceId": "t", "payload": payload})


def test_case_41_usage_said_three_times_counts_once_without_ids_and_numbers(
    tmp_path: Path,
) -> None:
    usage = {"inputTokens": 100, "outputTokens": 10, "cacheReadTokens": 60}
    base = {"requestId": "r1", "attempt": 1, "model": {"modelId": "m", "providerId": "p"}}
    lines = [
        event("model_network_status", 10, type="model_request_started", **base),
        event("model_network_status", 12, type="model_request_completed", usage=usage,
              durationMs=2000, querySource="subagent", **base),
        event("model_complete", 12, content="", stopReason="stop", usage=usage),
        event("turn_complete", 13, usage=usage | {"modelRequestCount": 1}, resultType="success"),
    ]  # fmt: skip
    path = tmp_path / "transcript.jsonl"
    path.write_text("\n".join([*lines, "{bad json", ""]))
    db = tmp_path / "tracer.db"
    (file,) = read(db, [path]).files
    assert (file.format, file.records, file.skipped_total) == ("zcode-events", 4, 1)
    counts = "SELECT request_id, status, input_tokens, cache_read_tokens FROM requests"
    assert rows(db, counts) == [("r1", "completed", 100, 60)]
    (join,) = rows(db, "SELECT origin, join_key, request_key IS NOT NULL FROM v_usage")
    assert join == ("event", "session, turn, trace, time; its token counts agree", 1)


def test_case_41_usage_of_model_complete_alone_counts(tmp_path: Path) -> None:
    usage = {"inputTokens": 128, "outputTokens": 32, "totalTokens": 160, "cacheReadTokens": 64}
    path = tmp_path / "events.jsonl"
    path.write_text(
        event("model_request", 1, model="m", messages=[{"role": "user", "content": "x"}])
        + "\n"
        + event("model_complete", 2, usage=usage)
        + "\n"
    )
    db = tmp_path / "tracer.db"
    read(db, [path])
    counts = "SELECT status, observed, input_tokens, fresh_tokens, output_tokens FROM requests"
    assert rows(db, counts) == [("completed", "metadata", 128, 64, 32)]


def test_case_42_the_parent_of_a_child_may_be_a_child(tmp_path: Path) -> None:
    db = tmp_path / "tracer.db"
    for parent, agent in (("sess_main", "agent_a"), ("sess_subagent_agent_a", "agent_b")):
        path = tmp_path / "agents" / parent / agent / "metadata.json"
        path.parent.mkdir(parents=True)
        values = {"agentId": agent, "childSessionId": f"sess_subagent_{agent}"}
        values |= {"parentSessionId": parent, "parentToolUseId": f"call_{agent}"}
        path.write_text(json.dumps(values | {"status": "completed", "createdAt": 1}))
    read(db, [tmp_path])
    parents = rows(db, "SELECT session_id, parent_session_id FROM sessions ORDER BY 1")
    assert parents == [
        ("sess_main", ""),
        ("sess_subagent_agent_a", "sess_main"),
        ("sess_subagent_agent_b", "sess_subagent_agent_a"),
    ]
