"""Rows of ZCode's session database become records, whatever is missing in them."""

import json
from typing import Any

import pytest

from tracer.formats import active_branch, detect_database, table_formats
from tracer.formats.zcode_db import TABLE_FORMAT
from tracer.model.conversation import MessageRow, PartRow, SessionFacts, SessionRecord, TodoRow
from tracer.model.source import Skipped
from tracer.model.usage_rows import ToolRow, TurnRow, UsageRow

FORMATS = table_formats()
USAGE = {"session_id": "s", "id": "u", "query_source": "main_turn", "started_at": 1_000}


def part(**data: Any) -> PartRow:
    row = {"id": "p", "session_id": "s", "message_id": "m", "data": json.dumps(data)}
    found = TABLE_FORMAT.parse("part", row)
    assert isinstance(found, PartRow)
    return found


def message(**data: Any) -> MessageRow:
    found = TABLE_FORMAT.parse("message", {"id": "m", "session_id": "s", "data": json.dumps(data)})
    assert isinstance(found, MessageRow)
    return found


def test_a_database_is_recognised_by_its_tables_and_columns() -> None:
    session = frozenset({"id", "title", "directory"})
    usage = frozenset({"session_id", "query_source", "started_at"})
    messages = frozenset({"session_id", "data"})
    for table, columns in (("model_usage", usage), ("message", messages)):
        found = detect_database({"session": session, table: columns})
        assert found is not None and found.name == "zcode-db"
    assert detect_database({"session": session}) is None
    assert detect_database({"moz_places": frozenset({"id"})}) is None
    assert [f.name for f in FORMATS] == ["zcode-db"]


@pytest.mark.parametrize(
    ("table", "row", "kind"),
    [
        ("session", {"id": "s"}, SessionFacts),
        ("model_usage", {"session_id": "s"}, UsageRow),
        ("turn_usage", {"session_id": "s"}, TurnRow),
        ("tool_usage", {"session_id": "s"}, ToolRow),
        ("message", {"session_id": "s"}, MessageRow),
        ("part", {"session_id": "s"}, PartRow),
        ("todo", {"session_id": "s"}, TodoRow),
        ("session_input", {"session_id": "s"}, SessionRecord),
        ("session_entry", {"session_id": "s"}, SessionRecord),
    ],
)
def test_a_row_with_next_to_nothing_is_a_record(
    table: str, row: dict[str, Any], kind: type[Any]
) -> None:
    assert {t.name for t in TABLE_FORMAT.tables} >= {table}
    assert isinstance(TABLE_FORMAT.parse(table, row), kind)
    nothing = TABLE_FORMAT.parse(table, {})
    assert isinstance(nothing, Skipped) and "names no session" in nothing.reason


@pytest.mark.parametrize(
    "value", [None, "", "12x", b"\xff", 1e300, -5, True, "[Redacted]", {}, 2**70]
)
def test_a_value_of_another_type_is_unknown_and_never_an_error(value: Any) -> None:
    row = dict.fromkeys(("input_tokens", "started_at", "retry_count", "attempt_index"), value)
    found = TABLE_FORMAT.parse("model_usage", USAGE | row)
    assert isinstance(found, UsageRow)
    assert found.input_tokens is None and found.retries == 0


def test_numbers_in_text_columns_are_numbers() -> None:
    found = TABLE_FORMAT.parse("model_usage", USAGE | {"input_tokens": "12", "retry_count": 2.0})
    assert isinstance(found, UsageRow)
    assert (found.input_tokens, found.retries, found.started_at_ms) == (12, 2, 1_000)


def test_columns_of_forks_are_kept_and_renamed_ones_are_known() -> None:
    row = USAGE | {"reasoning_level": "high", "mood": "calm", "empty": "", "none": None}
    found = TABLE_FORMAT.parse("model_usage", row)
    assert isinstance(found, UsageRow)
    assert (found.variant, found.extra_json) == ("high", '{"mood":"calm"}')


def test_a_message_of_the_user_names_its_turn_and_its_source() -> None:
    found = message(
        role="user",
        anchor={"turnId": "t"},
        source="todo_reminder",
        synthetic=True,
        visibility="model-only",
        modelSelection={"providerId": "p", "modelId": "m"},
    )
    assert (found.role, found.turn_id, found.source) == ("user", "t", "todo_reminder")
    assert (found.synthetic, found.visibility, found.model_id) == (1, "model-only", "m")


def test_a_message_of_the_assistant_has_its_tokens() -> None:
    tokens = {"input": 9, "output": 2, "reasoning": 1, "cache": {"read": 5, "write": 0}}
    found = message(
        role="assistant", parentID="u", tokens=tokens, finish="stop", error={"name": "E"}
    )
    assert (found.input_tokens, found.cache_read_tokens, found.cache_write_tokens) == (9, 5, 0)
    assert (found.parent_message_id, found.finish, found.error_json) == (
        "u",
        "stop",
        '{"name":"E"}',
    )


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ({"status": "pending", "input": {}, "raw": "{"}, ("pending", "", None, None)),
        ({"status": "running", "input": {"a": 1}, "time": {"start": 5}}, ("running", "", 5, None)),
        (
            {"status": "completed", "output": "ok", "time": {"start": 5, "end": 9}},
            ("completed", "ok", 5, 9),
        ),
        ({"status": "error", "error": "no", "time": {"start": 5, "end": 9}}, ("error", "no", 5, 9)),
        (
            {"type": "completed", "output": [{"text": "x"}]},
            ("completed", '[{"text":"x"}]', None, None),
        ),
        ("running", ("running", "", None, None)),
        (None, ("", "", None, None)),
    ],
)
def test_tool_states(state: Any, expected: tuple[Any, ...]) -> None:
    found = part(type="tool", callID="c", tool="Bash", state=state)
    assert (found.kind, found.call_id, found.tool) == ("tool", "c", "Bash")
    assert (found.state, found.text, found.started_at_ms, found.ended_at_ms) == expected


def test_the_end_of_a_step_has_tokens_and_what_filled_the_window() -> None:
    usage = {"used": 900, "contextWindow": 1000, "breakdown": [{"source": "messages", "chars": 7}]}
    tokens = {"input": 800, "output": 100, "cache": {"read": 700}}
    found = part(type="step-finish", reason="stop", tokens=tokens, contextUsage=usage, cost=0)
    assert (found.input_tokens, found.cache_read_tokens, found.cache_write_tokens) == (
        800,
        700,
        None,
    )
    assert (found.context_used, found.context_window) == (900, 1000)
    assert found.context_json == '[{"source":"messages","chars":7}]'
    older = part(type="step-finish", tokens=tokens)
    assert (older.context_used, older.context_json) == (None, "")


def test_compactions_and_marks_of_the_timeline() -> None:
    found = part(
        type="compaction", trigger="auto", timelineStatus="completed", preCompactTokenCount=9
    )
    assert (found.kind, found.reason, found.state) == ("compaction", "auto", "completed")
    assert json.loads(found.detail_json)["preCompactTokenCount"] == 9
    mark = part(type="timeline", timelineType="model_change", to="m")
    assert (mark.kind, mark.title) == ("timeline", "model_change")


@pytest.mark.parametrize("data", ["{", "", "[1]", "null", "plain", "[" * 100_000])
def test_data_that_is_no_object_is_kept_raw(data: str) -> None:
    for table in ("message", "part"):
        found = TABLE_FORMAT.parse(table, {"id": "x", "session_id": "s", "data": data})
        assert isinstance(found, MessageRow | PartRow)
        assert found.raw == data


MESSAGES = ("m1", "m2", "m3", "m4")


@pytest.mark.parametrize(
    ("revert", "active"),
    [
        (None, MESSAGES),
        ({"messageID": "m3"}, ("m1", "m2")),
        (
            {"messageID": "m2", "keptMessageIDs": ["m1"], "branchCutAfterMessageID": "m3"},
            ("m1", "m4"),
        ),
        ({"messageID": "m2", "branchCutAfterMessageID": "m3"}, ("m1", "m4")),
        ({"messageID": "m2", "keptMessageIDs": ["m1"], "createdMessageID": "m4"}, ("m1", "m4")),
        ({"messageID": "gone"}, MESSAGES),
        ({"messageID": "m1", "keptMessageIDs": []}, ()),
        ("not an object", MESSAGES),
    ],
)
def test_the_active_branch_after_a_rewind(revert: Any, active: tuple[str, ...]) -> None:
    branch = active_branch(MESSAGES, json.dumps(revert) if revert is not None else "")
    assert branch.active == active
    assert set(branch.active) | set(branch.abandoned) == set(MESSAGES)
    assert not set(branch.active) & set(branch.abandoned)
