"""Usage rows find their requests: by time and ids, confirmed by counts, in any order."""

from typing import Any

from tracer.assemble.joins import Strength
from tracer.assemble.tool_calls import EventFact, ToolFact, merge_tools
from tracer.assemble.usage_joins import CallFacts, join_usage, known_usage
from tracer.formats.zcode_db import TABLE_FORMAT
from tracer.model.usage_rows import UsageRow


def call(name: str, start: int | None, end: int | None, **more: Any) -> CallFacts:
    base = CallFacts(name, "t", "tr", "main_turn", "m", "completed", start, end, 100, 60, 10)
    return base._replace(**more)


def usage(**columns: Any) -> UsageRow:
    found = TABLE_FORMAT.parse("model_usage", {"session_id": "s", "id": "u", **columns})
    assert isinstance(found, UsageRow)
    return found


def test_the_last_attempt_of_a_call_is_the_one_that_was_billed() -> None:
    unknown = {"input_tokens": None, "cache_read_tokens": None, "output_tokens": None}
    attempts = [
        call("a1", 1_000, 1_500, status="failed", **unknown),
        call("a2", 3_000, 5_000),
    ]
    (join,) = join_usage(attempts, [call("row", 1_000, 5_000)])
    assert (join.request_key, join.strength, join.conflicts) == ("a2", Strength.HEURISTIC, ())
    assert join.key == "session, turn, trace, purpose, time; its token counts agree"


def test_ids_that_differ_forbid_a_tie_and_missing_ones_do_not() -> None:
    row = call("row", 1_000, 5_000)
    for name in ("turn_id", "trace_id", "query_source", "model_id"):
        other: dict[str, Any] = {name: "other"}
        missing: dict[str, Any] = {name: ""}
        assert join_usage([call("a", 1_000, 5_000, **other)], [row])[0].request_key == ""
        assert join_usage([call("a", 1_000, 5_000, **missing)], [row])[0].request_key == "a"


def test_counts_that_differ_tie_only_what_can_mean_nothing_else() -> None:
    row = call("row", 1_000, 5_000)
    different = call("a", 1_000, 5_000, input_tokens=90)
    (join,) = join_usage([different], [row])
    assert join.request_key == "a" and "differ" in join.key
    assert [(c.fact, c.request, c.row) for c in join.conflicts] == [("input_tokens", "90", "100")]
    two = [different, call("b", 1_200, 5_000, input_tokens=80)]
    assert join_usage(two, [row])[0].request_key == ""


def test_what_lies_at_another_time_is_not_tied() -> None:
    assert join_usage([call("a", 50_000, 52_000)], [call("row", 1_000, 5_000)])[0].request_key == ""
    assert join_usage([call("a", 50_000, 52_000)], [call("row", 1_000, None)])[0].request_key == "a"
    assert join_usage([], [call("row", None, None)])[0].request_key == ""
    assert join_usage([call("a", 1_000, 5_000)], [call("row", None, 5_001)])[0].request_key == "a"


def test_zero_is_unknown_where_nothing_was_counted() -> None:
    assert known_usage(usage(status="running", input_tokens=0, output_tokens=0)) is None
    silent = usage(input_tokens=9, cache_read_input_tokens=0, raw_usage_json='{"input_tokens":9}')
    found = known_usage(silent)
    assert found is not None and found.cache_read_tokens is None
    spoken = usage(input_tokens=9, cache_read_input_tokens=0, raw_usage_json='{"cacheRead":0}')
    found = known_usage(spoken)
    assert found is not None and found.cache_read_tokens == 0


def fact(known_from: str, **more: Any) -> ToolFact:
    base = ToolFact(known_from, "c", "", "", "", "", None, None, None, None, "", "")
    return base._replace(**more)


def test_a_tool_call_is_put_together_from_all_that_share_its_id() -> None:
    row = fact("tool_usage", tool="Bash", status="running", started_at_ms=5)
    part = fact("part", status="completed", ended_at_ms=9, message_id="m")
    events = [
        EventFact("permission_requested", 3, "t", "c", "", "", None),
        EventFact("permission_resolved", 7, "t", "c", "", "allow", None),
    ]
    (found,) = merge_tools([part, row], events)
    assert found.known_from == ("tool_usage", "part", "events")
    assert found.permission_ms == 4
    merged = found.fact
    assert (merged.tool, merged.status, merged.message_id) == ("Bash", "completed", "m")
    assert (merged.started_at_ms, merged.ended_at_ms, merged.turn_id) == (5, 9, "t")
