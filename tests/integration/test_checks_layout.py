"""The rules of the 14-segment layout through the product: traces are read, stored and checked."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.checks.score import report_of
from tests.layouts import generator
from tests.samples import SAMPLES
from tracer.model.check_views import CheckReport
from tracer.service import Service

TRACES = SAMPLES / "context-trace"
RUNS = sorted(path.parent.name for path in TRACES.glob("*/expected.json"))
GENERATED = [name for name in RUNS if name != "cases"]
SEEDS = range(200, 216)


def found(report: CheckReport, folder: Path) -> list[dict[str, Any]]:
    """The findings as `expected.json` tells them."""
    service = Service(folder / "checks.db")
    rows = []
    for view in report.findings:
        requests = {r.key: r.request_id for r in service.requests(view.session_id)}
        rows.append(
            {
                "rule": view.finding.rule,
                "request_id": requests[view.finding.key],
                "message_index": view.finding.message_index,
            }
        )
    return rows


def expected(name: str) -> dict[str, Any]:
    truth: dict[str, Any] = json.loads((TRACES / name / "expected.json").read_text("utf-8"))
    return truth


@pytest.mark.parametrize("name", GENERATED)
def test_a_run_has_the_findings_it_was_made_for_and_no_other(name: str, tmp_path: Path) -> None:
    report = report_of([str(TRACES / name)], tmp_path)
    assert found(report, tmp_path) == expected(name)["findings"]
    assert report.undecided == ()
    assert len([rule for rule in report.rules_run if rule.startswith("layout-14/")]) == 19


def test_there_is_a_run_for_every_rule_and_a_healthy_one_for_every_story() -> None:
    rules = [row["rule"] for name in GENERATED for row in expected(name)["findings"]]
    assert len(rules) == len(set(rules)) == 19
    assert len([name for name in GENERATED if not expected(name)["findings"]]) >= 7


@pytest.mark.parametrize("name", GENERATED)
def test_the_requests_of_a_run_are_read_as_they_were_written(name: str, tmp_path: Path) -> None:
    report_of([str(TRACES / name)], tmp_path)
    service = Service(tmp_path / "checks.db")
    for session in expected(name)["sessions"]:
        stored = service.requests(session["session_id"])
        assert [
            (r.request_id, r.attempt, r.turn_id, r.status, r.message_count) for r in stored
        ] == [
            (row["request_id"], row["attempt"], row["run_id"], row["status"], row["message_count"])
            for row in session["requests"]
        ]
        for request, row in zip(stored, session["requests"], strict=True):
            if row.get("usage"):
                assert request.usage is not None
                usage = request.usage
                counts = [usage.input_tokens, usage.cache_read_tokens, usage.output_tokens]
                assert counts == row["usage"]


@pytest.mark.parametrize("name", [n for n in GENERATED if not n.startswith("broken")])
def test_the_world_state_of_a_request_is_what_the_agent_held(name: str, tmp_path: Path) -> None:
    report_of([str(TRACES / name)], tmp_path)
    service = Service(tmp_path / "checks.db")
    for session in expected(name)["sessions"]:
        known: dict[str, Any] = {}
        stored = {(r.request_id, r.attempt): r for r in service.requests(session["session_id"])}
        for row in session["requests"]:
            known = row.get("known", known)
            segments = stored[row["request_id"], row["attempt"]].segments
            assert segments is not None
            if segments.known:
                world = segments.world
                assert world.session is not None and world.run is not None
                assert {"session": world.session.state, "run": world.run.state} == known


def test_healthy_runs_of_many_seeds_have_no_finding(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    for seed in SEEDS:
        trace = generator("seeded").healthy(seed)
        trace.session = f"seeded-{seed}"
        lines = generator("write").Writer().lines(trace)
        (logs / f"{seed}.jsonl").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    report = report_of([str(logs)], tmp_path)
    assert report.sessions == len(SEEDS)
    assert (report.findings, report.undecided) == ((), ())


def test_what_nobody_wrote_is_said_and_no_rule_is_broken_by_it(tmp_path: Path) -> None:
    report = report_of([str(TRACES / "cases")], tmp_path)
    assert report.findings == ()
    rules = {view.rule for view in report.undecided if "refers to" in view.needs}
    assert len(rules) == 19
