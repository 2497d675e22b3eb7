"""The trace writer: what it writes is valid, short, and whole after a crash."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tracer.emit import Trace, message
from tracer.formats.trace_validation import TraceValidator

Json = dict[str, Any]


def ticking() -> Iterator[datetime]:
    moment = datetime(2026, 1, 5, 10, 0, tzinfo=UTC)
    while True:
        yield moment
        moment += timedelta(milliseconds=1500)


def opened(path: Path, **options: Any) -> Trace:
    clock = ticking()
    return Trace(path, "s1", agent="Tester", clock=lambda: next(clock), **options)


def lines(path: Path) -> list[Json]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def problems(path: Path) -> list[tuple[int, str, str]]:
    validator = TraceValidator()
    return [
        (p.line, p.where, p.what)
        for number, line in enumerate(path.read_bytes().split(b"\n"), 1)
        for p in validator.line(number, line)
    ]


RULES = message("m1", "system", "Be brief.", "rules")
ASK = message("m2", "user", "What is in a.txt?", "user_input")


def test_every_event_is_valid(tmp_path: Path) -> None:
    path = tmp_path / "new" / "trace.jsonl"
    with opened(path, title="A try", project="/w") as trace:
        trace.run_started("r1")
        trace.built(
            "q1",
            model_id="model-a",
            provider_id="example",
            run_id="r1",
            segments={1: [RULES], 8: [ASK], 12: []},
            stable_tools=[{"name": "b"}],
            dynamic_tools=[{"name": "a", "capability": "web"}],
            tool_order=["a", "b"],
            parameters={"temperature": 0},
        )
        trace.usage_snapshot("q1", [{"name": "rules", "chars": 9}], context_window=8000)
        trace.completed("q1", status="failed", error={"name": "Busy", "message": "later"})
        trace.completed("q1", attempt=2, usage={"inputTokens": 9, "outputTokens": 1})
        trace.event("capability.changed", name="web", enabled=False)
        trace.run_completed("r1")
    assert problems(path) == []
    written = lines(path)
    assert [line["event"] for line in written][:3] == [
        "session.started", "run.started", "context.built"
    ]  # fmt: skip
    assert written[2]["timestamp"] == "2026-01-05T10:00:03.000Z"
    assert [segment["n"] for segment in written[2]["segments"]] == [1, 8]
    assert "usage" not in written[4] and "runId" not in written[4]


def test_a_message_is_written_once_and_then_referred_to(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    marker = {"cacheControl": {"type": "ephemeral"}}
    with opened(path) as trace:
        trace.built(
            "q1", model_id="a", messages=[RULES | marker, ASK, {"role": "user", "content": ""}]
        )
        trace.built("q2", model_id="a", messages=[RULES, ASK | marker])
        trace.built("q3", model_id="a", messages=[RULES | {"content": "Be long."}, ASK])
        trace.built("q4", model_id="a", messages=[RULES | {"content": "Be long."}])
    built = [line["messages"] for line in lines(path)[1:]]
    assert built[1] == [{"ref": "m1"}, {"ref": "m2"} | marker]
    assert built[2] == [RULES | {"content": "Be long."}, {"ref": "m2"}]
    assert built[3] == [{"ref": "m1"}]
    assert problems(path) == []


def test_a_new_process_writes_in_full_and_begins_a_line_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with opened(path) as trace:
        trace.built("q1", model_id="a", messages=[RULES])
    path.write_bytes(path.read_bytes()[:-20])  # killed while it wrote
    with opened(path) as trace:
        trace.built("q2", model_id="a", messages=[RULES])
    whole = path.read_bytes().split(b"\n")
    assert json.loads(whole[3])["messages"] == [RULES]
    assert [where for _, where, _ in problems(path)] == [""]  # the half line, and nothing else


def test_a_line_is_in_the_file_at_once(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    trace = opened(path)
    trace.run_started("r1")
    assert lines(path)[1]["runId"] == "r1"
    trace.close()


def test_text_that_is_none_becomes_a_question_mark(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with opened(path) as trace:
        trace.built("q1", model_id="a", messages=[message("m", "user", "half \ud83d of it, 深い")])
    assert lines(path)[1]["messages"][0]["content"] == "half ? of it, 深い"


def test_what_cannot_be_a_trace_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path / "t.jsonl") as trace:
        with pytest.raises(ValueError, match="either segments or messages"):
            trace.built("q1", model_id="a")
        with pytest.raises(ValueError, match="JSON compliant"):
            trace.event("odd", number=float("nan"))
    assert [line["event"] for line in lines(tmp_path / "t.jsonl")] == ["session.started"]
