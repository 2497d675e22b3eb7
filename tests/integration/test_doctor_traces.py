"""`tracer doctor FILE`: problems with file, line and place, exit codes, JSON."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.samples import SAMPLES
from tests.traces import built, completed, ref, said, write
from tracer.cli import main


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["doctor", *arguments], catch_exceptions=False)
    return result.exit_code, result.output


def as_json(*arguments: str) -> tuple[int, list[dict[str, Any]]]:
    code, output = run(*arguments, "--json")
    return code, json.loads(output)["traces"]


def test_a_valid_trace_is_called_one(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", built(1, "q1", [said("m1")]), completed(2, "q1"))
    code, output = run(str(path))
    assert code == 0
    assert "2 lines: 2 events, 1 prompt, 1 session\nA valid trace.\n" in output


def test_each_problem_has_its_place_and_what_to_do(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", built(1, "q1", [said("m1")]), built(2, "q2", [ref("m7")]))
    code, output = run(str(path))
    assert code == 1
    assert f"error  {path}:2  messages[0].ref refers to `m7`" in output
    assert "Write the message in full where it is first sent." in output
    code, (file,) = as_json(str(path))
    assert (code, file["errors"], file["notes"]) == (1, 1, 0)
    (problem,) = file["problems"]
    assert problem.keys() == {"level", "line", "where", "what", "fix"}
    assert (problem["level"], problem["line"], problem["where"]) == ("error", 2, "messages[0].ref")


def test_files_are_one_trace_in_their_order(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", built(1, "q1", [said("m1")]))
    write(tmp_path / "b.jsonl", built(2, "q2", [ref("m1")]))
    assert run(str(tmp_path))[0] == 0
    assert run(str(tmp_path / "b.jsonl"))[0] == 1


def test_notes_alone_are_no_failure(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", built(1, "q1", [said("m1", kind="weather")]))
    code, (file,) = as_json(str(path))
    assert (code, file["errors"], file["notes"]) == (0, 0, 1)


def test_a_line_that_is_still_written_is_a_note(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", built(1, "q1", [said("m1")]), b'{"event":"run.sta')
    code, (file,) = as_json(str(path))
    assert (code, file["notes"], file["problems"][0]["line"]) == (0, 1, 2)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "The file is empty"),
        (b"words\nand words\n", "No line of it is a JSON object"),
        (b'{"timestamp":"2026-01-05T09:00:00.000Z","level":"info"}\n', "ZCode structured log"),
    ],
)
def test_what_is_no_trace_is_input_that_cannot_be_read(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    path = write(tmp_path / "t.jsonl", content)
    code, output = run(str(path))
    assert code == 3
    assert reason in output
    code, (file,) = as_json(str(path))
    assert code == 3 and reason in file["failed"]


def test_a_trace_without_a_version_is_told_so(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", b'{"event":"run.started","sessionId":"s","runId":"r"}\n')
    code, (file,) = as_json(str(path))
    assert code == 1
    assert [p["where"] for p in file["problems"]] == ["v", "timestamp"]


def test_no_such_file_is_named() -> None:
    code, output = run("no-such-file.jsonl")
    assert code == 3 and "no-such-file.jsonl" in output


def test_the_cases_have_the_problems_that_they_were_written_for() -> None:
    code, files = as_json(str(SAMPLES / "context-trace" / "cases"))
    assert code == 1
    assert [(file["errors"], file["notes"]) for file in files] == [(0, 0), (4, 4), (0, 1)]


def test_hostile_text_is_made_visible(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", built(1, "q1", [said("m1", kind="\x1b[31mred")]))
    assert "\x1b" not in run(str(path))[1]
