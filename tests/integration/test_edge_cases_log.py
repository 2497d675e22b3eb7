"""Edge cases 9 to 15 of formats/zcode.md section 14: the structured log."""

import threading
from pathlib import Path

import pytest

from tests.helpers import (
    HANG_S,
    SESSION,
    append,
    call,
    detail,
    event,
    ingest,
    ingest_one,
    iso,
    messages_of,
    only_request,
    request,
    rows,
    user,
    write,
)
from tracer.model.events import Status
from tracer.service import Service, doctor, follow
from tracer.service import ingest as service_ingest

TURN = {"turnId": "turn_0001"}


def snapshot(tokens: object, at: int = 900) -> dict[str, object]:
    """A context-usage line whose token keys hold `tokens`."""
    category = {"name": "Messages", "source": "messages", "chars": 300, "tokens": tokens}
    return event(
        "context_usage_snapshot",
        at=at,
        level="debug",
        context={
            "model": "provider-x/model-y",
            "totalChars": 300,
            "totalTokens": tokens,
            "categories": [{**category, "percentTokens": tokens}],
        },
    )


@pytest.mark.parametrize(
    "redaction", ["[Redacted]", "[Redacted:Circular]", "[Redacted:DepthLimit]"]
)
def test_case_09_token_keys_may_be_numbers_or_redacted(
    db: Path, rollout: Path, log: Path, redaction: str
) -> None:
    write(rollout, call("req-1", at=1000), call("req-2", at=4000))
    built = {"sectionCount": 1, "sections": redaction, "totalTokens": redaction}
    section = {
        "name": "Skills",
        "source": "skills",
        "chars": 6,
        "tokens": redaction,
        "content": "abcdef",
    }
    write(
        log,
        event("context.built", at=800, level="debug", context={"sections": [section, redaction]}),
        snapshot(redaction),
        event("context.built", at=3700, level="debug", context=built),
        snapshot(100, at=3900),
        event("context_usage_snapshot", at=3910, level="debug", context=redaction, turnId="other"),
        event(
            "compact.auto.skipped", at=3950, level="debug", context={"thresholdTokens": redaction}
        ),
    )
    result = ingest_one(db, log)
    assert (result.records, result.skipped_total) == (6, 0)
    ingest(db, rollout)
    first = detail(db, "req-1")
    assert first.context_usage is not None
    (category,) = first.context_usage.categories
    assert (category.tokens, category.tokens_redacted) == (None, True)
    assert (category.tokens_low, category.tokens_high) == (100, 200)
    assert "redacted" in [e.code for e in first.evidence]
    (skills,) = first.request.sections
    assert (skills.tokens_logged, skills.tokens_estimate) == (None, 2)
    second = detail(db, "req-2")
    assert second.context_usage is not None
    (category,) = second.context_usage.categories
    assert (category.tokens, category.tokens_redacted, category.tokens_low) == (100, False, None)


def test_case_10_a_line_without_event_is_known_by_its_message(
    db: Path, rollout: Path, log: Path
) -> None:
    sections = [{"name": "Skills", "source": "skills", "chars": 3, "content": "abc"}]
    write(
        log,
        event(None, level="debug", message="Context built", context={"sections": sections}),
        event(None, at=10, message="Skills discovered", module="skills"),
        event(
            None, at=20, level="warn", message="v4 background turn failed", context={"error": "x"}
        ),
    )
    write(rollout, call("req-1", at=1000))
    ingest(db, log, rollout)
    assert [s.source for s in only_request(db).sections] == ["skills"]
    messages = rows(db, "SELECT message, event FROM log_events ORDER BY at_ms")
    assert messages == [
        ("Context built", "context.built"),
        ("Skills discovered", ""),
        ("v4 background turn failed", ""),
    ]


def test_case_11_two_producers_write_model_request_started(
    db: Path, rollout: Path, log: Path
) -> None:
    """The core's line has a message count; only the adapter's has a request id."""
    ids = {"requestId": "req-1", "attempt": 1, "modelId": "model-y", "providerId": "provider-x"}
    write(
        log,
        event("model.request.started", at=990, context={"messageCount": 1, "iteration": 0}),
        event("model.request.started", at=1000, level="debug", context=ids, module="zcode"),
    )
    ingest(db, log)
    assert [r.request_id for r in Service(db).requests(SESSION)] == ["req-1"]
    write(rollout, call("req-1", at=1000))
    ingest(db, rollout)
    joins = [
        (line.strength, "messageCount" in line.context_json) for line in detail(db, "req-1").log
    ]
    assert joins == [("heuristic", True), ("exact", False)]


def test_case_12_order_is_by_time_and_not_by_file_or_line(db: Path, logs: Path) -> None:
    """Names are local dates, times are UTC, clocks jump, processes write in between."""
    folder = logs / "log"
    late = [event(f"late.{n}", at=5000 + n) for n in (3, 1)]
    write(folder / "zcode-2026-01-06.jsonl", event("first", at=1), *late)
    write(folder / "zcode-2026-01-05.jsonl", event("second", at=2), event("last", at=9000))
    offset = event("zoned", at=0, timestamp="2026-01-05T17:00:03.000+08:00")
    write(folder / "zcode-2026-01-04.jsonl", offset)
    ingest(db, logs)
    order = [row[0] for row in rows(db, "SELECT event FROM v_log ORDER BY at")]
    assert order == ["first", "second", "zoned", "late.1", "late.3", "last"]
    (at,) = rows(db, "SELECT at FROM v_log WHERE event = 'zoned'")
    assert at == (iso(3000),)
    session = Service(db).session(SESSION)
    assert session.started_at_ms is not None and session.ended_at_ms is not None
    assert session.ended_at_ms - session.started_at_ms == 8999


def test_case_12_lines_of_the_same_moment_stand_in_the_order_of_files_and_lines(
    tmp_path: Path, logs: Path
) -> None:
    names = [f"compact.{n}" for n in range(6)]
    one = write(logs / "log" / "zcode-2026-01-05.jsonl", *(event(n, at=5) for n in names[:3]))
    two = write(logs / "log" / "zcode-2026-01-06.jsonl", *(event(n, at=5) for n in names[3:]))
    for order in ([one, two], [two, one]):
        db = tmp_path / f"{order[0].stem}.db"
        for path in order:
            ingest(db, path)
        assert [e.detail for e in Service(db).timeline(SESSION).events] == names


def test_case_13_a_file_is_deleted_while_it_is_followed(db: Path, logs: Path) -> None:
    log = write(logs / "log" / "zcode-2026-01-05.jsonl", event("turn.started"))
    stop, rounds = threading.Event(), []

    def after(result: object) -> None:
        rounds.append(result)
        if len(rounds) == 1:
            log.unlink()
            write(logs / "rollout" / "model-io-sess_0001.jsonl", call("req-1", at=1000))
        else:
            stop.set()

    late = threading.Timer(HANG_S, stop.set)
    late.start()
    follow(db, [], root=logs, count_tokens=False, interval_s=0.01, stop=stop, on_result=after)
    late.cancel()
    assert len(rounds) == 2
    assert sorted(s.status for s in Service(db).sources()) == ["current", "missing"]
    assert rows(db, "SELECT count(*) FROM log_events") == [(1,)]
    assert only_request(db).request_id == "req-1"


def test_case_13_there_is_no_file_of_today_or_none_at_all(db: Path, tmp_path: Path) -> None:
    root = tmp_path / "cli"
    assert service_ingest(db, [], root=root, count_tokens=False).files == ()
    (root / "log").mkdir(parents=True)
    assert service_ingest(db, [], root=root, count_tokens=False).files == ()
    assert Service(db).sessions().total == 0


def test_case_14_a_production_log_has_no_debug_lines(db: Path, logs: Path) -> None:
    write(
        logs / "log" / "zcode-2026-01-05.jsonl",
        event("turn.started", context={"inputLength": 5}),
        event("model.request.started", at=900, context={"messageCount": 1, "iteration": 0}),
        event("turn.completed", at=2000, durationMs=2000),
    )
    write(logs / "rollout" / "model-io-sess_0001.jsonl", call("req-1", at=1000))
    ingest(db, logs)
    found = detail(db, "req-1")
    assert (found.request.sections, found.context_usage) == ((), None)
    assert (found.request.observed, found.request.message_count) == ("full", 1)
    assert found.request.turn_number == 1
    lines = doctor(logs, db).lines
    assert any("ZCODE_RUNTIME_ENV=development" in f"{f.detail} {f.fix}" for f in lines)


def test_case_15_a_status_outside_of_the_enum_is_missing(db: Path, log: Path) -> None:
    ids = {"requestId": "req-1", "attempt": 1}
    write(
        log,
        event("tool.finished", at=1),
        event("model.request.failed", at=2, context=ids),
        event("odd", at=3, status=7, durationMs="12", spanId=4, sessionId=None),
        event("odder", at=4, status="exploded"),
    )
    result = ingest_one(db, log)
    assert (result.records, result.skipped_total) == (4, 0)
    assert only_request(db).status is Status.FAILED
    states = rows(db, "SELECT event, status, duration_ms FROM log_events ORDER BY at_ms")
    assert states[0] == ("tool.finished", "", None)
    assert states[2] == ("odd", "", None)


def test_case_15_lines_appended_meanwhile_are_joined(db: Path, rollout: Path, log: Path) -> None:
    write(rollout, call("req-1", [user("hi")], at=1000))
    write(log, event("turn.started"))
    ingest(db, rollout, log)
    append(log, event("model.request.completed", at=1900, context={"requestId": "req-1"}))
    ingest(db, rollout, log)
    assert [line.strength for line in detail(db, "req-1").log] == ["exact"]
    assert request(db, "req-1").status is Status.COMPLETED
    assert messages_of(db, "req-1") == [user("hi")]
