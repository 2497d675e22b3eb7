"""What `tracer show` and `tracer presence` tell people of a prompt's anatomy."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.helpers import SAMPLES, SESSION, call, ingest, write
from tracer.cli import main
from tracer.cli.exits import ExitCode

LONG = "sess_32d58b9a"


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cli") / "tracer.db"
    ingest(path, SAMPLES / "windowed-long", SAMPLES / "anatomy-on", SAMPLES / "development-debug")
    return path


def run(db: Path, *arguments: str) -> str:
    result = CliRunner(env={"TRACER_DB": str(db)}).invoke(main, arguments)
    assert result.exit_code == ExitCode.FINE, result.output
    return result.stdout


def document(db: Path, *arguments: str) -> Any:
    return json.loads(run(db, *arguments, "--json"))


def test_show_tells_where_each_section_stands_and_since_when(db: Path) -> None:
    text = run(db, "show", f"{LONG}:31", "--blocks-limit", "0")
    assert "prefix            main" in text
    assert "mid-conversation  off. Message 27 is a note in a tag of its own" in text
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "2 env_info system dynamic 164 heading request 30" in lines
    assert "1 identity system stable 793 heading request 2" in lines
    assert "Instruction files" in lines and "Context usage, as the agent counts it" in lines
    assert any(line.startswith("In no category: runtime reminders: 112 chars") for line in lines)
    changed = run(db, "show", f"{LONG}:30", "--blocks-limit", "0")
    assert "heading changed here" in " ".join(changed.split())


def test_show_tells_messages_with_their_sources_and_doubtful_tags(db: Path) -> None:
    for session in document(db, "sessions", "--limit", "50")["sessions"]:
        for request in document(db, "requests", session["session_id"])["requests"]:
            if len(request["mcs"]) > 1 and request["observed"] == "full":
                text = run(db, "show", request["key"], "--blocks-limit", "0")
                assert "Mid-conversation system messages" in text
                assert ", ".join(request["mcs"][0]["sources"][:2]) in text
                if "Unverified origin" in text:
                    return
    raise AssertionError("no request with messages and look-alike tags")


def test_json_of_requests_and_show_agree(db: Path) -> None:
    requests = document(db, "requests", LONG)["requests"]
    for request in (requests[1], requests[29], requests[-1]):
        shown = document(db, "show", request["key"])
        for key in ("sections", "reminders", "mcs", "mcs_state", "variant"):
            assert shown[key] == request[key]
        for section in shown["sections"]:
            block = shown["blocks"][section["prompt_index"]]
            assert block["message_index"] == section["message_index"]
            assert section["source"] in block["sections"]
        assert shown["anatomy"]["variant"] == request["variant"]


def test_presence_lists_what_happened(db: Path) -> None:
    text = run(db, "presence", LONG)
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "main_turn@builtin:zai-coding-plan/glm-5, 42 requests" in lines
    assert "section env_info system, dynamic 42 changed 30" in lines
    assert "section identity system, stable 42" in lines
    assert "Nothing that is known by name stands in its prompts, or the log shows none." in lines
    whole = document(db, "presence", LONG)
    assert whole["session_id"].startswith(LONG) and whole["lanes"][0]["rows"]


def test_presence_of_an_unknown_session_says_so(db: Path) -> None:
    result = CliRunner(env={"TRACER_DB": str(db)}).invoke(main, ["presence", "nobody"])
    assert result.exit_code != ExitCode.FINE and "nobody" in result.output


def test_a_heading_sends_nothing_raw_to_the_terminal(tmp_path: Path) -> None:
    write(tmp_path / "model-io-x.jsonl", call("req-1", querySource="a\x1b]0;x\x07\u202e"))
    ingest(tmp_path / "x.db", tmp_path / "model-io-x.jsonl")
    text = run(tmp_path / "x.db", "presence", SESSION)
    assert "a␛]0;x" in text
    assert not {"\x1b", "\x07", "\u202e"} & set(text)
