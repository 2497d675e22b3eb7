"""The commands on stand-ins for the use cases: options, output, exit codes."""

import json
import signal
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.helpers import HANG_S
from tests.integration import test_cli_fakes as fakes
from tracer import service
from tracer.cli import main
from tracer.cli.exits import ExitCode
from tracer.errors import InputError, NewerStoreError, TracerError, UsageError
from tracer.ingest.run import IngestOptions, Ingestor
from tracer.model.ingest_views import FileResult, IngestResult
from tracer.model.views import SessionPage

Run = Callable[..., Result]


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> fakes.FakeService:
    """The service that commands get, whatever the database."""
    made = fakes.FakeService()
    monkeypatch.setattr(service, "Service", lambda db_path: made)
    return made


@pytest.fixture
def run(tmp_path: Path, fake: fakes.FakeService) -> Run:
    """Runs a command on an existing database."""
    database = tmp_path / "x.db"
    database.touch()

    def invoke(*arguments: str) -> Result:
        return CliRunner(env={"TRACER_DB": str(database)}).invoke(main, arguments)

    return invoke


def test_sessions_as_table(run: Run) -> None:
    result = run("sessions")
    assert result.exit_code == ExitCode.FINE
    header, known, bare = result.stdout.splitlines()
    assert header.split()[:3] == ["session", "started", "(UTC)"]
    assert "120,000" in known and "75.0 %" in known and "2026-03-01 09:15:02" in known
    assert bare.split()[:12] == ["sess_bare", "-", "2", "1", *["-"] * 8]
    assert bare.endswith("removed from the agent's database)")
    assert header.index("requests") + len("requests") == known.index(" 2 ") + 2


def test_sessions_are_filtered_and_limited(run: Run, fake: fakes.FakeService) -> None:
    result = run("sessions", "--text", "sess", "--limit", "1")
    assert fake.asked == [("sessions", ("sess", 1))]
    assert "1 of 2 sessions" in result.stdout
    assert run("sessions", "--text", "zzz").stdout == "No session matches.\n"
    assert run("sessions", "--limit", "0").exit_code == ExitCode.USAGE


@pytest.mark.parametrize("given", ["sess_demo", "sess_d"])
def test_requests_of_a_session_or_a_unique_beginning(run: Run, given: str) -> None:
    document = json.loads(run("requests", given, "--json").stdout)
    assert document["session_id"] == "sess_demo"
    assert [r["seq"] for r in document["requests"]] == [1, 2]
    table = run("requests", given).stdout.splitlines()
    assert len(table) == 3 and "completed (attempt 1 of 2)" in table[1]


def test_an_ambiguous_beginning_names_the_candidates(run: Run) -> None:
    result = run("requests", "sess_")
    assert result.exit_code == ExitCode.USAGE
    assert "sess_bare, sess_demo" in result.stderr and result.stdout == ""


@pytest.mark.parametrize("given", ["nothing", "", "demo"])
def test_an_unknown_session_is_wrong_use(run: Run, given: str) -> None:
    result = run("requests", given)
    assert result.exit_code == ExitCode.USAGE
    assert result.stderr == f"Error: There is no session {given}.\n"


def test_show_for_people(run: Run, fake: fakes.FakeService) -> None:
    result = run("show", "sess_demo-2")
    assert result.exit_code == ExitCode.FINE
    assert fake.asked == [("request", ("sess_demo-2", 0, 200, False))]
    for expected in (
        "Blocks (2)",
        "80.0 %",
        "identity",
        "clock",
        "Windowed:",
        "not proven",
        "~103",
    ):
        assert expected in result.stdout


def test_show_whole_texts_with_nothing_raw(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    block = fakes.a_block(0, "one\n\x1b[31mtwo\x07")
    detail = replace(fakes.a_detail(), blocks=(block,), block_from=4, block_total=9)
    monkeypatch.setattr(fakes.FakeService, "request", lambda *a, **k: detail)
    result = run("show", "k", "--text", "--blocks-from", "4", "--blocks-limit", "1")
    assert "\none\n␛[31mtwo␇\n" in result.stdout
    assert "Blocks (9, 4 to 4)" in result.stdout
    assert "4 more blocks: --blocks-from 5" in result.stdout
    assert "\x1b" not in result.stdout


def test_show_json_gives_all_blocks_unless_told_otherwise(
    run: Run, fake: fakes.FakeService
) -> None:
    document = json.loads(run("show", "sess_demo-2", "--json", "--text").stdout)
    assert document["key"] == "sess_demo-2" and len(document["blocks"]) == 2
    run("show", "sess_demo-2", "--json", "--blocks-from", "7", "--blocks-limit", "3")
    assert [asked for _, asked in fake.asked] == [
        ("sess_demo-2", 0, None, True),
        ("sess_demo-2", 7, 3, False),
    ]


def test_show_by_session_and_number(run: Run, fake: fakes.FakeService) -> None:
    assert run("show", "sess_d:2").exit_code == ExitCode.FINE
    assert fake.asked[-1] == ("request", ("sess_demo-2", 0, 200, False))
    missing = run("show", "sess_d:41")
    assert missing.exit_code == ExitCode.USAGE
    assert "no request 41: its requests are numbered 1 to 2" in missing.stderr
    assert "There is no request sess_d:x" in run("show", "sess_d:x").stderr


def test_show_by_the_beginning_of_a_key(run: Run, fake: fakes.FakeService) -> None:
    assert run("show", "sess_b").exit_code == ExitCode.FINE
    assert fake.asked[-1] == ("request", ("sess_bare-1", 0, 200, False))
    ambiguous = run("show", "sess_d")
    assert ambiguous.exit_code == ExitCode.USAGE
    assert "sess_demo-1, sess_demo-2" in ambiguous.stderr
    assert run("show", "").stderr == "Error: There is no request .\n"


def test_a_request_of_which_nothing_is_known_is_shown(run: Run) -> None:
    result = run("show", "sess_bare-1")
    assert result.exit_code == ExitCode.FINE
    assert "metadata" in result.stdout and "Blocks" not in result.stdout


def test_sources(run: Run) -> None:
    assert "--skipped" in run("sources").stdout
    result = run("sources", "--skipped")
    assert "logs/demo-1.jsonl: 2 skipped lines" in result.stdout
    assert result.stdout.count("not-json") == 2
    shown = json.loads(run("sources", "--skipped", "--json").stdout)["sources"][0]["skipped"]
    assert [skipped["line"] for skipped in shown] == [7, 9]


def test_doctor(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[Path | None] = []

    def doctor(root: Path | None, db_path: Path | None, session: str) -> object:
        asked.append(root)
        return fakes.a_report()

    monkeypatch.setattr(service, "doctor", doctor)
    result = run("doctor", "--root", str(tmp_path))
    assert asked == [tmp_path]
    assert "missing  No model I/O log" in result.stdout
    assert "To do: Switch it on." in result.stdout
    rows = [line.split() for line in result.stdout.splitlines() if line.startswith("sess_")]
    assert [row[:2] for row in rows] == [["sess_demo", "4"], ["sess_other", "4"]]
    assert json.loads(run("doctor", "--json").stdout)["schema"] == 1


@pytest.fixture
def ingested(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[dict[str, Any]]]:
    """Makes `service.ingest` give these files; the calls it gets."""

    def prepare(*files: FileResult) -> list[dict[str, Any]]:
        calls: list[dict[str, Any]] = []

        def ingest(db_path: Path, paths: tuple[str, ...], **options: Any) -> IngestResult:
            calls.append({"db_path": db_path, "paths": paths, **options})
            return fakes.an_ingest(*files)

        monkeypatch.setattr(service, "ingest", ingest)
        return calls

    return prepare


def test_ingest_passes_its_options(run: Run, ingested: Any, tmp_path: Path) -> None:
    calls = ingested(fakes.a_file())
    options = ("--format", "zcode-log", "--no-count-tokens", "--max-line-mb", "2")
    named = ("logs", "logs/demo.jsonl")
    result = run("ingest", *named, "--root", str(tmp_path), *options, "--json")
    assert result.exit_code == ExitCode.FINE
    assert calls == [
        {
            "db_path": tmp_path / "x.db",
            "paths": named,
            "root": tmp_path,
            "format_name": "zcode-log",
            "count_tokens": False,
            "max_line_bytes": 2 << 20,
            "all_verdicts": False,
            "progress": None,
        }
    ]
    assert json.loads(result.stdout)["totals"]["new_records"] == 12


def test_ingest_tells_everything_it_skipped(run: Run, ingested: Any) -> None:
    unread = fakes.a_file("b\x1b.txt", "not-read", "No format recognises it.")
    ingested(fakes.a_file(), fakes.a_file("logs/old.jsonl", "unchanged"), unread)
    result = run("ingest", ".")
    assert result.exit_code == ExitCode.FINE
    for expected in (
        "Read 48.2 KB of 1 file in 240 ms, 200.9 KB/s: 12 new records; tokens of 31 blocks",
        "Unchanged since the last time: 1 file.",
        "b␛.txt: No format recognises it.",
        "Skipped: 2 lines",
        "demo.jsonl:7",
        "not listed here",
    ):
        assert expected in result.stdout
    assert result.stderr == ""


@pytest.mark.parametrize("named", ["dir", "dir/a.txt", "dir/*.txt", "./dir/", "d*", "empty"])
def test_ingest_fails_where_nothing_of_a_named_path_could_be_read(
    run: Run, ingested: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("dir", "empty", "logs"):
        (tmp_path / folder).mkdir()
    unread = tmp_path / "dir" / "a.txt"
    unread.touch()
    good = fakes.a_file(str(tmp_path / "logs" / "demo.jsonl"))
    ingested(good, fakes.a_file(str(unread), "not-read", "No format recognises it."))
    result = run("ingest", "logs", named, "--json")
    assert result.exit_code == ExitCode.INPUT
    assert result.stderr == f"Error: nothing could be read of {named}\n"
    assert json.loads(result.stdout)["files"][1]["status"] == "not-read"
    for fine in (["logs"], ["log?"], ["."], [str(tmp_path)], []):
        assert run("ingest", *fine).exit_code == ExitCode.FINE


def test_ingest_of_nothing_points_to_the_doctor(run: Run, ingested: Any) -> None:
    ingested()
    assert "tracer doctor" in run("ingest").stdout


def test_watch_prints_a_line_of_json_for_each_round(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def follow(*args: object, stop: threading.Event, on_result: Any, **options: object) -> None:
        on_result(fakes.an_ingest(fakes.a_file("x", "unchanged")))
        on_result(fakes.an_ingest(fakes.a_file()))
        signal.raise_signal(signal.SIGINT)
        assert stop.wait(HANG_S)

    monkeypatch.setattr(service, "follow", follow)
    before = signal.getsignal(signal.SIGINT)
    result = run("ingest", "x", "--watch", "--json")
    assert result.exit_code == ExitCode.FINE
    (line,) = result.stdout.splitlines()
    assert json.loads(line)["files"][0]["new_records"] == 12
    assert signal.getsignal(signal.SIGINT) is before
    text = run("ingest", "x", "--watch").stdout
    assert text.endswith(
        "Watching. Ctrl-C ends.\n12 new records, 2 lines skipped  logs/demo.jsonl\n"
    )


def test_watch_tells_what_could_not_be_judged(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def follow(*args: object, on_result: Any, **options: object) -> None:
        on_result(fakes.an_ingest(fakes.a_file()))
        broken = fakes.an_ingest(fakes.a_file())
        on_result(replace(broken, verdict_errors=("sess_1: ZeroDivisionError: of all things",)))

    monkeypatch.setattr(service, "follow", follow)
    text = run("ingest", "x", "--watch").stdout
    assert text.endswith("worth a report: sess_1: ZeroDivisionError: of all things\n")
    lines = run("ingest", "x", "--watch", "--json").stdout.splitlines()
    assert json.loads(lines[-1])["verdict_errors"] == ["sess_1: ZeroDivisionError: of all things"]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("zcode-db", "--format zcode-db is not needed: a database of that format is recognised"),
        ("zcode-agent", "--format zcode-agent is not needed: a folder of that format"),
        ("nothing", "Databases and folders (zcode-db, zcode-agent) are recognised"),
    ],
)
def test_a_format_that_lines_do_not_have(tmp_path: Path, name: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        Ingestor(tmp_path / "x.db", IngestOptions(format_name=name))
    assert says in str(caught.value) and "zcode-model-io" in str(caught.value)


def raising(error: BaseException) -> Callable[..., object]:
    """A function that only raises."""

    def fail(*args: object, **options: object) -> object:
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (UsageError("Odd\nformat \x1b."), 2, "Error: Odd␊format ␛.\n"),
        (InputError("No such file."), 3, "Error: No such file.\n"),
        (NewerStoreError("Too new."), 3, "Error: Too new.\n"),
        (TracerError("Something."), 3, "Error: Something.\n"),
        (OSError(28, "No space left"), 3, "Error: [Errno 28] No space left\n"),
        (KeyboardInterrupt(), 130, "\nStopped.\n"),
        (BrokenPipeError(), 141, ""),
    ],
)
def test_failures_are_one_line_and_an_exit_code(
    run: Run, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, message: str
) -> None:
    monkeypatch.setattr(service, "ingest", raising(error))
    result = run("ingest")
    assert (result.exit_code, result.stdout, result.stderr) == (code, "", message)


def test_a_fault_of_our_own_is_no_finding(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "ingest", raising(ZeroDivisionError("oops")))
    result = run("ingest")
    assert result.exit_code == ExitCode.FAULT
    assert "Traceback" in result.stderr and "oops" in result.stderr


def test_a_missing_database_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "default_db_path", lambda: tmp_path / "none.db")
    for arguments in (["sessions"], ["sessions", "--db", str(tmp_path / "other.db")]):
        result = CliRunner(env={"TRACER_DB": ""}).invoke(main, arguments)
        assert result.exit_code == ExitCode.INPUT
        assert "Run `tracer ingest` first" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_no_log_text_reaches_the_terminal_raw(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    evil = "a\x1b]0;x\x07\x9b\u202e\nb"
    session = replace(fakes.a_session(), title=evil, project=evil, models=(evil,), agent=evil)
    monkeypatch.setattr(fakes.FakeService, "sessions", lambda *a, **k: SessionPage((session,), 1))
    for arguments in (["sessions"], ["sessions", "--json"]):
        output = run(*arguments).stdout
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(output)
    assert json.loads(output)["sessions"][0]["title"] == evil
