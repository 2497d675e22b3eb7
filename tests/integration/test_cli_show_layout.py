"""What `tracer show` tells people of a laid-out prompt, its rules and its verdict."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.helpers import ingest
from tests.samples import SAMPLES
from tracer.cli import main
from tracer.cli.exits import ExitCode


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cli") / "tracer.db"
    names = ("compaction", "capabilities", "skills", "transaction", "broken-usage-reserve")
    ingest(path, *(SAMPLES / "context-trace" / name for name in names))
    return path


def shown(db: Path, key: str) -> list[str]:
    """The lines, with one space where there are several."""
    result = CliRunner(env={"TRACER_DB": str(db)}).invoke(
        main, ["show", key, "--blocks-limit", "0"]
    )
    assert result.exit_code == ExitCode.FINE, result.output
    return [" ".join(line.split()) for line in result.stdout.splitlines()]


def test_segments_stand_in_order_with_what_became_of_them(db: Path) -> None:
    lines = shown(db, "compaction:7")
    assert "Segments (segments-14)" in lines
    (guides,) = (line for line in lines if line.startswith("4 Capability guides prefix 6 1 "))
    assert guides.endswith("the same bytes capability_guide")
    assert any(
        line.startswith("11 Timeline of this run history")
        and "grown: the same bytes, and more assistant × 2, tool_result × 2" in line
        for line in lines
    )
    assert "Tools, dynamic: web_search (web)" in lines
    assert "Message 8 stands for 6 messages, from m2 to m14." in lines


def test_the_world_as_the_model_knew_it_and_what_changed(db: Path) -> None:
    lines = shown(db, "capabilities:4")
    assert "session: full in message 7, 3 diffs applied" in lines
    assert "capabilities › web false" in lines and "browser 1 there on" in lines
    assert "web 0 none off" in lines
    changes = [line for n in range(1, 6) for line in shown(db, f"capabilities:{n}")]
    assert any(line.startswith("session capabilities") and "true" in line for line in changes)


def test_skills_and_an_unfinished_transaction(db: Path) -> None:
    assert any("Skills" in shown(db, f"skills:{n}") for n in range(1, 5))
    lines = shown(db, "transaction:4")
    assert "File transaction, unfinished" in lines
    assert 'filePath "rows/c.csv"' in lines


def test_broken_rules_the_context_window_and_the_verdict(db: Path) -> None:
    lines = shown(db, "broken-usage-reserve:2")
    assert any(line.startswith("warning - layout-14/usage-reserve The prompt") for line in lines)
    assert any(line.endswith("4,630 of 4,629 tokens: 1 more than it holds") for line in lines)
    (cache,) = (line for line in lines if line.startswith("cache Hit: "))
    assert "See `tracer explain " in cache
