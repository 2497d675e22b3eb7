"""A database path and a folder for logs, fresh for each test."""

from pathlib import Path

import pytest


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """The path of a database that does not exist yet."""
    return tmp_path / "tracer.db"


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A folder laid out as the agent's own: `log`, `rollout`, `debug`."""
    root = tmp_path / "cli"
    for name in ("log", "rollout", "debug"):
        (root / name).mkdir(parents=True)
    return root


@pytest.fixture
def rollout(logs: Path) -> Path:
    """The path of a model I/O file that does not exist yet."""
    return logs / "rollout" / "model-io-sess_0001.jsonl"


@pytest.fixture
def log(logs: Path) -> Path:
    """The path of a structured log that does not exist yet."""
    return logs / "log" / "zcode-2026-01-05.jsonl"
