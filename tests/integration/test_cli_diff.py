"""`tracer diff` on the sample logs, and its text on stand-ins."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.contract.test_json_contract import PAGE, Page
from tests.helpers import SAMPLES, ingest
from tests.integration import test_cli_fakes as fakes
from tracer import service
from tracer.cli import main
from tracer.cli.diffview import marked
from tracer.cli.exits import ExitCode
from tracer.model.comparison import Invisible, Line

LONG = "sess_32d58b9a"


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The long session and the Chinese one."""
    path = tmp_path_factory.mktemp("diff") / "x.db"
    ingest(path, SAMPLES / "windowed-long", SAMPLES / "chinese")
    return path


def run(database: Path, *arguments: str) -> Result:
    return CliRunner(env={"TRACER_DB": str(database)}).invoke(main, ["diff", *arguments])


def shown(database: Path, *arguments: str) -> str:
    result = run(database, *arguments)
    assert result.exit_code == ExitCode.FINE, result.stderr
    return result.stdout


def document(database: Path, *arguments: str) -> Any:
    value = json.loads(shown(database, *arguments, "--json"))
    assert list(Page(PAGE.read_text(encoding="utf-8")).problems(value, "diff")) == []
    return value


def test_the_answer_comes_first_then_the_place_then_the_blocks(database: Path) -> None:
    text = shown(database, f"{LONG}:29", f"{LONG}:30")
    pieces = [
        "A  request 29 of sess_32d58b9a",
        "They part at system block 2: its text differs from character 512 on.",
        "1 changed, 0 moved, 2 added, 0 removed · prefix ",
        "First difference\nsystem block 2, character 512; token ",
        "  - Model: builtin:zai-coding-plan/glm-[-4.7-]\n",
        "  + Model: builtin:zai-coding-plan/glm-{+5+}\n",
        "They ask different models.",
        "= 5 equal blocks: tools 0 to 4",
        "~ changed system block 2",
        "    @@ -9,7 +9,7 @@\n",
        "+ added message 61 · user text",
    ]
    places = [text.index(piece) for piece in pieces]
    assert places == sorted(places)


def test_one_request_is_compared_with_its_baseline(database: Path) -> None:
    assert document(database, f"{LONG}:31") == document(database, f"{LONG}:30", f"{LONG}:31")
    result = run(database, f"{LONG}:2")
    assert result.exit_code == ExitCode.USAGE
    assert "has no baseline" in result.stderr and "Name two requests." in result.stderr


def test_a_beginning_of_a_key_is_enough(database: Path) -> None:
    value = document(database, f"{LONG}:29", f"{LONG}:30")
    assert document(database, value["a"][:10], value["b"][:10]) == value
    for given in ("zzz", "", "sess_32:99", f"{LONG}:0"):
        assert run(database, f"{LONG}:29", given).exit_code == ExitCode.USAGE


def test_json_has_the_place_and_the_words(database: Path) -> None:
    value = document(database, f"{LONG}:29", f"{LONG}:30")
    assert value["relation"] == "diverged" and value["common"]["blocks"] == 7
    place = value["first_divergence"]
    assert (place["tier"], place["index"], place["char_offset"]) == ("system", 7, 512)
    changed = next(change for change in value["changes"] if change["op"] == "changed")
    lines = [line for hunk in changed["hunks"] for line in hunk["lines"] if line["op"] != " "]
    assert [line["text"][slice(*line["spans"][0])] for line in lines] == ["4.7", "5"]
    assert all(change["hunks"] == [] for change in value["changes"] if change["op"] == "equal")


def test_context_widens_the_hunks(database: Path) -> None:
    narrow = document(database, f"{LONG}:29", f"{LONG}:30", "--context", "0")
    wide = document(database, f"{LONG}:29", f"{LONG}:30", "--context", "500")
    sizes = [
        [len(c["hunks"][0]["lines"]) for c in value["changes"] if c["op"] == "changed"]
        for value in (narrow, wide)
    ]
    assert sizes[0] == [2] and sizes[1][0] > 20
    assert run(database, f"{LONG}:29", "--context", "-1").exit_code == ExitCode.USAGE


def test_long_stretches_are_only_named_unless_everything_is_wanted(database: Path) -> None:
    short = shown(database, f"{LONG}:62", f"{LONG}:64")
    assert "- 130 more removed: --all" in short and len(short.splitlines()) < 60
    everything = shown(database, f"{LONG}:62", f"{LONG}:64", "--all")
    assert "--all" not in everything and everything.count("\n- removed ") == 140


def test_carried_blocks_are_told(database: Path) -> None:
    text = shown(database, f"{LONG}:41", f"{LONG}:42")
    assert "As far as the logs show, B is A and 2 blocks more." in text
    assert "messages 3 to 21, not proven" in text
    assert "22 equal blocks not proven. messages 3 to 21: a record shows only" in text


def test_every_pair_of_neighbours_of_the_samples_is_printed_and_documented(database: Path) -> None:
    requests = service.Service(database).requests("sess_f6b4c592-769d-4777-81da-31321548b833")
    for a, b in zip(requests, requests[1:], strict=False):
        document(database, a.key, b.key, "--all")
        assert "Blocks" in shown(database, a.key, b.key)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    made = fakes.FakeService()
    monkeypatch.setattr(service, "Service", lambda db_path: made)
    (tmp_path / "x.db").touch()
    return tmp_path / "x.db"


def test_what_the_logs_hide_is_unknown_in_words(fake: Path) -> None:
    text = shown(fake, "sess_demo-1", "sess_demo-2")
    assert "? unknown 2 messages that the log did not show" in text
    assert "Messages that were never logged: 2 of A, 3 of B." in text
    assert "same meaning" in text and "    shape: 'string' -> 'array'" in text


def test_nothing_to_compare_is_said_and_is_no_failure(fake: Path) -> None:
    text = shown(fake, "sess_bare-1", "sess_demo-2")
    assert "Nothing can be compared: the log holds no prompt of A." in text
    value = document(fake, "sess_bare-1", "sess_demo-2")
    assert value["common"] is None and value["changes"] == []


def test_marks_and_hidden_characters_of_a_line() -> None:
    hidden = (Invisible(8, "U+200B ZERO WIDTH SPACE"),)
    line = Line("+", None, 1, "a\x1b[31m b\u200bc\td", ((0, 1), (8, 10)), hidden)
    assert marked(line) == "+ {+a+}␛[31m b{+<U+200B>c+}\td"
    cut = Line("-", 1, None, "middle", (), (), 1200, 30)
    assert marked(cut) == "- … 1,200 characters … middle … 30 characters"
