"""The commands on the sample logs and the real store, as a user runs them."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.contract.test_json_contract import PAGE, Page
from tracer.cli import main
from tracer.cli.exits import ExitCode

CHECKOUT = Path(__file__).parents[2]
SAMPLES = CHECKOUT / "sample-logs"
FEW = ("damaged", "subagent", "chinese")


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of some of the sample logs."""
    path = tmp_path_factory.mktemp("cli") / "x.db"
    assert run(path, "ingest", *(str(SAMPLES / "zcode" / name) for name in FEW)).exit_code == 0
    return path


def run(database: Path, *arguments: str) -> Result:
    """The result of a command on a database."""
    return CliRunner(env={"TRACER_DB": str(database)}).invoke(main, arguments)


def test_an_ingest_that_could_not_count_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tracer.tokens_bpe.RANK_FILES", {})
    logs = str(SAMPLES / "zcode" / "damaged")
    told = run(tmp_path / "a.db", "ingest", logs)
    assert told.exit_code == ExitCode.FINE
    assert "Tokens were not counted: no ranks for the encoding" in told.output
    totals = json.loads(run(tmp_path / "b.db", "ingest", logs, "--json").stdout)
    assert totals["count_error"].startswith("Tokens were not counted")
    assert totals["totals"]["counted_blocks"] == 0


def document(database: Path, command: str, *arguments: str) -> Any:
    """The JSON of a command, after a check that all of it is documented."""
    result = run(database, command, *arguments, "--json")
    assert result.exit_code == ExitCode.FINE, result.stderr
    value = json.loads(result.stdout)
    assert list(Page(PAGE.read_text(encoding="utf-8")).problems(value, command)) == []
    return value


def test_json_is_as_documented_for_every_request_of_the_samples(database: Path) -> None:
    document(database, "sources", "--skipped")
    document(database, "doctor", "--root", str(SAMPLES / "zcode" / "damaged"))
    sessions = document(database, "sessions")["sessions"]
    assert len(sessions) >= 5
    for session in sessions:
        requests = document(database, "requests", session["session_id"])["requests"]
        assert len(requests) == session["requests"]
        for request in requests:
            shown = document(database, "show", request["key"], "--text")
            assert {key: shown[key] for key in request} == request
            assert len(shown["blocks"]) == shown["block_total"]


def test_a_second_ingest_finds_nothing_new(database: Path) -> None:
    again = document(database, "ingest", str(SAMPLES / "zcode" / "damaged"))
    assert {file["new_records"] for file in again["files"]} == {0}
    assert {file["status"] for file in again["files"]} == {"unchanged"}
    assert again["totals"]["skipped"] > 0


def test_tables_are_printed_for_everything(database: Path) -> None:
    for session in document(database, "sessions")["sessions"]:
        result = run(database, "show", f"{session['session_id']}:1")
        assert result.exit_code == ExitCode.FINE and "Blocks" in result.stdout
    for arguments in (["sessions"], ["sources", "--skipped"], ["doctor"]):
        result = run(database, *arguments)
        assert result.exit_code == ExitCode.FINE and len(result.stdout.splitlines()) > 2


def test_pages_of_blocks(database: Path) -> None:
    session = document(database, "sessions", "--text", "sess_f6b4c592")["sessions"][0]["session_id"]
    requests = document(database, "requests", session)["requests"]
    longest = max(requests, key=lambda request: request["message_count"] or 0)
    key = f"{session}:{longest['seq']}"
    page = document(database, "show", key, "--blocks-from", "2", "--blocks-limit", "3")
    assert page["key"] == longest["key"]
    assert [block["index"] for block in page["blocks"]] == [2, 3, 4]
    assert page["blocks_from"] == 2 and page["block_total"] > 5


def test_wrong_use_and_missing_input(tmp_path: Path, database: Path) -> None:
    assert run(database, "ingest", "--format", "no-such").exit_code == ExitCode.USAGE
    assert run(database, "requests", "no-such").exit_code == ExitCode.USAGE
    assert run(database, "show", "no-such").exit_code == ExitCode.USAGE
    for name, content in (("no.db", b"This is not a database. " * 99), ("none.db", None)):
        if content is not None:
            (tmp_path / name).write_bytes(content)
        result = run(tmp_path / name, "sessions")
        assert result.exit_code == ExitCode.INPUT
        assert result.stderr.startswith("Error: ") and result.stderr.count("\n") == 1
    missing = run(tmp_path / "new.db", "ingest", "--root", str(tmp_path / "none"))
    assert missing.exit_code == ExitCode.INPUT
    assert run(tmp_path / "new.db", "ingest", "--root", str(tmp_path)).exit_code == ExitCode.FINE
    for odd in (["requests", "\udcff"], ["show", "\udcff"], ["sessions", "--text", "\udcff"]):
        result = run(database, *odd)
        assert result.exit_code == ExitCode.USAGE and "not valid UTF-8" in result.stderr
    (tmp_path / "notes.txt").write_text("Only notes.\n")
    for name in ("notes.txt", "not-there.jsonl"):
        result = run(tmp_path / "new.db", "ingest", str(tmp_path / name))
        assert result.exit_code == ExitCode.INPUT, name


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_watch_follows_a_growing_file_and_ends_with_an_interrupt(tmp_path: Path) -> None:
    sample = next((SAMPLES / "zcode" / "chinese").rglob("model-io-*.jsonl"))
    first, second, *_ = sample.read_bytes().splitlines(keepends=True)
    log = tmp_path / sample.name
    log.write_bytes(first)
    process = subprocess.Popen(
        [sys.executable, "-m", "tracer", "ingest", str(log), "--watch", "--json"],
        env={**os.environ, "TRACER_DB": str(tmp_path / "x.db")},
        cwd=CHECKOUT,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        started = json.loads(process.stdout.readline())
        with log.open("ab") as file:
            file.write(second)
        grown = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        assert process.stdout.read() == ""
        assert process.wait() == ExitCode.FINE
    assert [r["totals"]["new_records"] for r in (started, grown)] == [1, 1]


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_has_enough_ends_the_command_quietly(database: Path, unbuffered: str) -> None:
    session = document(database, "sessions")["sessions"][0]["session_id"]
    process = subprocess.Popen(
        [sys.executable, "-m", "tracer", "requests", session, "--json"],
        env={**os.environ, "TRACER_DB": str(database), "PYTHONUNBUFFERED": unbuffered},
        cwd=CHECKOUT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == ExitCode.BROKEN_PIPE


def test_ingest_names_the_files_that_it_leaves_out(tmp_path: Path) -> None:
    result = run(tmp_path / "x.db", "ingest", str(SAMPLES / "zcode" / "subagent"), "--json")
    found = json.loads(result.stdout)
    reasons = {Path(one["path"]).name: one["reason"] for one in found["left_out"]}
    assert "not one of a log" in reasons["expected.json"]
    if "output.txt" in reasons:
        assert "read with the metadata.json beside it" in reasons["output.txt"]
    assert found["left_out_total"] == len(found["left_out"]) and found["verdict_errors"] == []
    read = {one["path"] for one in found["files"]}
    assert read.isdisjoint(one["path"] for one in found["left_out"])
    everything = {str(p) for p in (SAMPLES / "zcode" / "subagent").rglob("*") if p.is_file()}
    assert everything == read | {one["path"] for one in found["left_out"]}


def test_a_session_in_the_place_of_a_request_says_how_to_name_one(database: Path) -> None:
    session = document(database, "sessions")["sessions"][0]["session_id"]
    for arguments in (["show", session], ["explain", session], ["diff", session]):
        refused = run(database, *arguments)
        assert refused.exit_code == ExitCode.USAGE
        assert f"name a request of it, as in {session}:1" in refused.stderr


def test_a_command_that_is_nearly_one_is_named(database: Path) -> None:
    assert "Did you mean `tracer show`?" in run(database, "shwo", "x").stderr
    assert "Did you mean" not in run(database, "qqqq").stderr
