"""Subagents' folders: merged over rewrites, half-written files refused."""

import json
from typing import Any

import pytest

from tracer.formats import file_formats
from tracer.formats.zcode_agents import FILE_FORMAT
from tracer.model.conversation import AgentRun
from tracer.model.source import SkipKind, Skipped

FORMATS = file_formats()
FOLDER = ("home", "agents", "sess_parent", "agent_1")
STARTED = {
    "agentId": "agent_1", "childSessionId": "child", "createdAt": 1_000, "cwd": "/w",
    "description": "Look", "parentSessionId": "sess_parent", "parentToolUseId": "call_1",
    "profileId": "Explore", "profileSnapshot": {"id": "Explore"}, "prompt": "Look around.",
    "status": "running", "updatedAt": 1_000, "workspaceRoot": "/w",
}  # fmt: skip


def run(value: Any, **files: bytes) -> AgentRun:
    content = {"metadata.json": json.dumps(value, indent=2).encode()}
    content |= {name.replace("_", "."): data for name, data in files.items()}
    found = FILE_FORMAT.parse(content, FOLDER)
    assert isinstance(found, AgentRun)
    return found


def test_the_format_is_found_and_recognises_its_file() -> None:
    assert [f.name for f in FORMATS] == ["zcode-agent"]
    assert FILE_FORMAT.sniff(json.dumps(STARTED, indent=2).encode()) == 0.9
    assert FILE_FORMAT.sniff(b'{"name": "a package"}') == 0
    assert FILE_FORMAT.sniff(b"") == 0


def test_a_run_is_read_with_its_output() -> None:
    found = run(STARTED, output_txt="Fünf.".encode())
    assert (found.parent_session_id, found.agent_id, found.parent_call_id) == FOLDER[2:] + (
        "call_1",
    )
    assert (found.agent_type, found.status, found.output) == ("Explore", "running", "Fünf.")
    assert json.loads(found.extra_json)["workspaceRoot"] == "/w"
    assert run(STARTED, task_output=b"from the task").output == "from the task"


def test_names_of_the_folder_stand_in_for_missing_keys() -> None:
    found = run({"status": "stopped"})
    assert (found.parent_session_id, found.agent_id) == ("sess_parent", "agent_1")


@pytest.mark.parametrize("data", [b"", b"{", b'{"agentId": "a', b"[]", b"null", b"\xff\xfe"])
def test_a_half_written_file_gives_the_reason(data: bytes) -> None:
    found = FILE_FORMAT.parse({"metadata.json": data}, FOLDER)
    assert isinstance(found, Skipped)
    assert found.kind is SkipKind.TORN and "read again" in found.reason


def test_a_later_file_adds_and_takes_nothing_away_in_any_order() -> None:
    started = run(STARTED)
    stopped = run(
        {
            "agentId": "agent_1",
            "status": "stopped",
            "updatedAt": 9_000,
            "parentSessionId": "sess_parent",
        }
    )
    merged = FILE_FORMAT.merge(started, stopped)
    assert (merged.status, merged.prompt, merged.created_at_ms) == (
        "stopped",
        "Look around.",
        1_000,
    )
    assert FILE_FORMAT.merge(stopped, started) == merged
    assert FILE_FORMAT.merge(merged, merged) == merged
    assert FILE_FORMAT.merge(None, started) == started


def test_an_end_at_the_same_time_wins_over_running() -> None:
    started = run(STARTED)
    failed = run(STARTED | {"status": "failed", "error": {"message": "no"}})
    assert FILE_FORMAT.merge(failed, started).status == "failed"
    assert FILE_FORMAT.merge(started, failed).error == '{"message":"no"}'
