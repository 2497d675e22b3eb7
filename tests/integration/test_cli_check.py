"""`tracer check`: what it lists, when it fails, and what the settings switch off."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.checks.breakers import BREAKERS
from tests.checks.stories import plain
from tracer import service
from tracer.cli import main

MARKER, FROZEN = "zcode/conversation-marker", "zcode/frozen-snapshot"


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session with an error, one with a warning, and a healthy one."""
    folder = tmp_path_factory.mktemp("check")
    path = folder / "tracer.db"
    for name in (MARKER, FROZEN):
        run = BREAKERS[name]().run
        run.count()
        text = json.dumps([run.records, run.log])
        for record in run.records:
            text = text.replace(record["requestId"], f"{record['requestId']}-{name[6:]}")
        session = run.records[0]["sessionId"]
        run.records, run.log = json.loads(text.replace(session, f"sess_{name[6:]}"))
        service.ingest(path, run.write(folder / name[6:]), count_tokens=False)
    healthy = plain(name="healthy")
    service.ingest(path, healthy.write(folder / "healthy"), count_tokens=False)
    return path


def check(database: Path, *arguments: str, **env: str) -> Result:
    return CliRunner().invoke(main, ["check", *arguments], env={"TRACER_DB": str(database)} | env)


def found(database: Path, *arguments: str) -> list[dict[str, Any]]:
    value = json.loads(check(database, *arguments, "--json").stdout)
    findings: list[dict[str, Any]] = value["findings"]
    return findings


def test_an_error_fails_and_a_warning_fails_where_it_is_asked_for(database: Path) -> None:
    assert check(database).exit_code == 1
    warned = "sess_frozen-snapshot"
    assert check(database, warned).exit_code == 0
    assert check(database, warned, "--fail-on", "warning").exit_code == 1
    assert check(database, "--fail-on", "never").exit_code == 0
    assert check(database, "--fail-on", "worst").exit_code == 2


def test_a_session_a_request_or_everything(database: Path) -> None:
    assert {f["rule"] for f in found(database)} == {FROZEN, MARKER}
    (one,) = found(database, "sess_conversation-marker")
    assert one["rule"] == MARKER and one["evidence"]["marked"]
    assert found(database, one["key"]) == [one]
    assert found(database, one["key"][:7]) == [one], "a beginning of the key"
    assert found(database, f"sess_conversation-marker:{one['seq']}") == [one]
    assert found(database, f"sess_conversation-marker:{one['seq'] + 1}") == []
    unknown = check(database, "sess_of_nobody")
    assert unknown.exit_code == 2 and "no session and no request" in unknown.output


def test_levels_and_rules_leave_findings_out_before_they_count(database: Path) -> None:
    assert {f["rule"] for f in found(database, "--level", "error")} == {MARKER}
    assert check(database, "--rule", FROZEN).exit_code == 0
    value = json.loads(check(database, "--rule", FROZEN, "--json").stdout)
    assert value["rules_run"] == [FROZEN] and {f["rule"] for f in value["findings"]} == {FROZEN}
    assert len(json.loads(check(database, "--rule", "zcode/*", "--json").stdout)["rules_run"]) > 30
    misspelt = check(database, "--rule", "zcode/frozen-snapshots")
    assert misspelt.exit_code == 2 and FROZEN in misspelt.output


def test_what_a_log_cannot_decide_is_printed(database: Path) -> None:
    text = check(database, "sess_frozen-snapshot").stdout
    assert "Not applicable" in text and "a context usage snapshot" in text
    value = json.loads(check(database, "sess_frozen-snapshot", "--json").stdout)
    undecided = {row["rule"] for row in value["not_applicable"]}
    assert "zcode/usage-estimates" in undecided and undecided <= set(value["rules_run"])


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_settings_switch_rules_off(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    off = write(tmp_path / "tracer.toml", f'[checks]\noff = ["{MARKER}"]\n')
    named = check(database, "--config", str(off), "--json")
    value = json.loads(named.stdout)
    assert named.exit_code == 0 and MARKER not in value["rules_run"] and value["off"] == [MARKER]
    assert check(database, TRACER_CONFIG=str(off)).exit_code == 0
    monkeypatch.chdir(tmp_path)
    assert check(database).exit_code == 0, "tracer.toml in the working directory"
    listed = CliRunner().invoke(main, ["sessions", "--json"], env={"TRACER_DB": str(database)})
    counts = {s["session_id"]: s["findings"] for s in json.loads(listed.stdout)["sessions"]}
    assert counts["sess_conversation-marker"] == 0 and counts["sess_frozen-snapshot"] == 1


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ('[checks]\noff = ["zcode/conversation-markers"]\n', 2, MARKER),
        ("[checks]\noff = 1\n", 2, "list"),
        ("[check]\noff = []\n", 2, "[checks]"),
        ("[checks\n", 3, "not TOML"),
        (f"a = {'[' * 50_000}", 3, "nested too deep"),
    ],
)
def test_settings_that_say_nothing_known_are_refused(
    database: Path, tmp_path: Path, text: str, code: int, said: str
) -> None:
    path = write(tmp_path / "other.toml", text)
    result = check(database, "--config", str(path))
    assert result.exit_code == code and said in result.output
    assert check(database, "--config", str(tmp_path / "none.toml")).exit_code == 3


def test_a_family_can_be_off(database: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "all.toml", '[checks]\noff = ["zcode/*"]\n')
    text = check(database, "--config", str(path)).stdout
    assert "No rule was run" in text
