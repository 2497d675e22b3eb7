"""Pipes and devices are told apart from logs and never read: a reader could wait for ever."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers import HANG_S


def tracer(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from tracer.cli import main; main()", *arguments],
        capture_output=True,
        text=True,
        timeout=HANG_S,
        check=False,
    )


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    path = tmp_path / "logs" / "pipe.jsonl"
    path.parent.mkdir()
    os.mkfifo(path)
    return path


def test_a_pipe_is_no_trace(pipe: Path) -> None:
    for named in (pipe, pipe.parent):
        result = tracer("doctor", str(named), "--json")
        assert result.returncode == 3
        (file,) = json.loads(result.stdout)["traces"]
        assert file["failed"] == f"It could not be read: {pipe} is not a regular file."


def test_a_device_behind_a_link_is_no_trace(tmp_path: Path) -> None:
    link = tmp_path / "zero.jsonl"
    link.symlink_to("/dev/zero")
    result = tracer("doctor", str(link))
    assert result.returncode == 3 and "is not a regular file" in result.stdout


def test_a_pipe_among_the_agents_logs_is_named(pipe: Path) -> None:
    os.mkfifo(pipe.with_name("model-io-1.jsonl"))
    root = pipe.parent.parent
    pipe.parent.rename(root / "rollout")
    result = tracer("doctor", "--root", str(root), "--db", str(root / "tracer.db"))
    assert result.returncode == 0 and result.stdout.count("is not a regular file") == 2


def test_a_pipe_is_not_ingested_and_the_files_beside_it_are(pipe: Path, tmp_path: Path) -> None:
    line = '{"event":"session.started","v":1,"timestamp":"2026-01-05T09:00:00Z","sessionId":"s"}\n'
    (pipe.parent / "trace.jsonl").write_text(line)
    db = tmp_path / "tracer.db"
    for named in (pipe.parent, pipe):
        result = tracer("ingest", str(named), "--db", str(db), "--json")
        files = {Path(f["path"]).name: f for f in json.loads(result.stdout)["files"]}
        assert "is not a regular file" in files["pipe.jsonl"]["detail"]
    assert '"s"' in tracer("sessions", "--db", str(db), "--json").stdout
