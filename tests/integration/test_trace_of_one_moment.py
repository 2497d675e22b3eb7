"""A trace whose stand-in for a model answers at once and claims a duration: every line has the same
time, so that only the order of the lines tells what came first."""

from datetime import UTC, datetime
from pathlib import Path

from tests.checks.score import report_of
from tracer.emit import Trace, message
from tracer.model.verdict import Result
from tracer.service import Service

MOMENT = datetime(2026, 1, 5, 10, 0, tzinfo=UTC)
RULES = message("rules", "system", "Be exact and brief, and think first. " * 400, "rules")
GUIDE = message("web", "system", "Search briefly.", "capability_guide", capability="web")
WORLD = message(
    "world", "system", kind="world_state", scope="session", mode="full",
    state={"capabilities": {"web": True}},
)  # fmt: skip
WEB = [{"name": "search", "capability": "web", "inputSchema": {"type": "object"}}]


def test_order_rules_and_verdicts_follow_the_lines(tmp_path: Path) -> None:
    ask = message("in", "user", "Why is the hive quiet?", "user_input")
    task = message("task", "system", kind="world_state", scope="run", mode="full", state={})
    steps = []
    with Trace(tmp_path / "t.jsonl", "s1", agent="Bee", clock=lambda: MOMENT) as trace:
        trace.run_started("r1")
        read = 0
        for number in range(8):
            online = number < 6
            if number == 6:
                trace.event("capability.changed", name="web", enabled=False, reason="offline")
                steps.append(
                    message(
                        "off", "system", kind="world_state", scope="session", mode="diff",
                        patch={"capabilities": {"web": False}}, reason="offline",
                    )
                )  # fmt: skip
                read = 0
            guides = {4: [GUIDE]} if online else {}
            segments = {1: [RULES]} | guides | {5: [WORLD], 8: [ask], 10: [task], 11: steps}
            trace.built(
                f"q{number}", run_id="r1", model_id="m", segments=segments,
                dynamic_tools=WEB if online else (),
            )  # fmt: skip
            trace.completed(f"q{number}", status="failed", duration_ms=300)
            size = 4_000 + number * 1_200
            usage = {"inputTokens": size, "outputTokens": 9, "cacheReadTokens": read}
            usage["inclusive"] = True
            trace.completed(f"q{number}", attempt=2, usage=usage, duration_ms=900)
            read = size // 64 * 64
            steps.append(message(f"a{number}", "assistant", "I look. " * 400, "assistant"))
        trace.run_completed("r1")
    report = report_of([str(tmp_path / "t.jsonl")], tmp_path)
    assert [(f.finding.rule, f.finding.message) for f in report.findings] == []
    service = Service(tmp_path / "checks.db")
    found = service.requests("s1")
    assert [(r.request_id, r.attempt) for r in found] == [
        (f"q{number}", attempt) for number in range(8) for attempt in (1, 2)
    ]
    misses = service.misses("s1")
    assert misses.unjudged_sessions == 0
    assert misses.misses == ()
    (switched,) = (r for r in found if (r.request_id, r.attempt) == ("q6", 2))
    assert service.explain(switched.key).verdict.result is Result.EXPECTED_REBUILD
