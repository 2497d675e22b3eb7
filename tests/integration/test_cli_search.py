"""`tracer search`: what it prints, its JSON, its options, and what goes wrong."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.helpers import call, ingest, user, write
from tests.search_factories import a_bare_search_page, a_search_page, a_use
from tracer.cli import main
from tracer.cli.commands.search import place_words, use_words
from tracer.cli.exits import ExitCode


@pytest.fixture
def filled(db: Path, rollout: Path) -> Path:
    talk = [user("rename the 函数"), user("nothing here\x1b[31m rename")]
    write(rollout, call("r1", talk[:1]), call("r2", talk, at=1_000))
    ingest(db, rollout)
    return db


def run(db: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["search", *arguments, "--db", str(db)])


def as_json(db: Path, *arguments: str) -> Any:
    result = run(db, *arguments, "--json")
    assert result.exit_code == ExitCode.FINE, result.output
    return json.loads(result.output)


def test_hits_say_where_and_who_sent_them(filled: Path) -> None:
    result = run(filled, "RENAME the", "--kind", "user")
    assert result.exit_code == ExitCode.FINE
    assert "1 text found." in result.output
    assert "user, message 0, block 0" in result.output
    assert "sent 2 times:" in result.output and "(#1) to " in result.output
    assert "model-io-sess_0001.jsonl:1" in result.output


def test_nothing_from_a_log_reaches_the_terminal_unseen(filled: Path) -> None:
    assert "\x1b" not in run(filled, "nothing here").output


def test_json_has_a_hit_for_each_session(filled: Path) -> None:
    found = as_json(filled, "函", "--kind", "user")
    (hit,) = found["hits"]
    assert hit["times_sent"] == 2
    assert hit["where"] == {
        "kind": "user", "tier": "messages", "role": "user", "message_index": 0, "block_index": 0,
        "index": 0, "section": None, "reminder": None, "name": None,
    }  # fmt: skip
    start, end = hit["snippet_matches"][0]
    assert hit["snippet"][start:end] == "函"
    assert hit["source_ref"]["line"] == 1


def test_limit_offset_and_exact(filled: Path) -> None:
    assert as_json(filled, "rename", "--kind", "user")["texts"] == 2
    first, second = (
        as_json(filled, "rename", "--kind", "user", "--limit", "1", "--offset", n)["hits"]
        for n in ("0", "1")
    )
    assert len(first) == len(second) == 1 and first != second
    assert as_json(filled, "RENAME", "--exact")["hits"] == []


def test_a_session_may_be_named_by_its_beginning(filled: Path) -> None:
    assert as_json(filled, "rename", "--session", "sess_0")["session_id"] == "sess_0001"
    assert run(filled, "rename", "--session", "nowhere").exit_code == ExitCode.USAGE


@pytest.mark.parametrize("arguments", [[" "], ["x", "--kind", "nonsense"], ["x", "--limit", "0"]])
def test_wrong_use(filled: Path, arguments: list[str]) -> None:
    assert run(filled, *arguments).exit_code == ExitCode.USAGE


def test_no_database_is_said(tmp_path: Path) -> None:
    assert run(tmp_path / "none.db", "x").exit_code == ExitCode.INPUT


def test_words_for_places_and_uses() -> None:
    (text,) = a_search_page().texts
    assert place_words(text.place) == (
        "tool-result of Bash, message 5, block 7, section env_info, reminder todo_reminder"
    )
    assert use_words(text.uses[0]) == (
        "Rename a function  sent 3 times: c0ffee000001 (#1) to c0ffee000003 (#3)"
    )
    once = a_use(times_sent=1, last_key="c0ffee000001")
    assert use_words(once) == "Rename a function  sent 1 time: c0ffee000001 (#1)"
    answered = a_use(times_sent=0, first_key="", session_title="")
    assert use_words(answered) == "sess_demo  answered by c0ffee000002"
    (bare,) = a_bare_search_page().texts
    assert use_words(bare.uses[0]) == "no session  -"
