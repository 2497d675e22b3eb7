"""ZCode's session database: `db/db.sqlite` (formats/zcode.md 5).

Columns are taken by name: old installs lack some, forks have more. A `data` column that is not JSON
is kept as it is. The agent updates rows in place, so a table says by which columns to see that.
"""

from collections.abc import Callable, Mapping
from typing import Any

from tracer.formats import _rows as r
from tracer.formats._zcode_parts import message_row, part_row
from tracer.formats.base import Table
from tracer.model.conversation import SessionFacts, SessionRecord, TableRecord, TodoRow
from tracer.model.source import SkipKind, Skipped
from tracer.model.usage_rows import ToolRow, TurnRow, UsageRow

_UPDATED = ("time_updated", "time_created")
_RUN = ("completed_at", "started_at")
_TABLES = (
    Table("session", ("id",), ("time_updated", "time_created", "time_compacting")),
    Table("turn_usage", ("session_id", "turn_id"), _RUN, "status = 'running'"),
    Table("model_usage", ("id",), _RUN, "status = 'running'"),
    Table("tool_usage", ("id",), _RUN, "status = 'running'"),
    Table("message", ("id",), _UPDATED),
    Table("part", ("id",), _UPDATED),
    Table("todo", ("session_id", "position"), _UPDATED),
    Table("session_input", ("id",), ("time_updated", "time_created", "time_promoted")),
    Table("session_entry", ("id",), _UPDATED),
)
_USAGE_COLUMNS = r.words(
    """id logical_request_id attempt_index session_id turn_id trace_id span_id assistant_message_id
    parent_user_message_id query_source provider_id model_id variant reasoning_level agent mode
    task_type status started_at first_token_at completed_at duration_ms time_to_first_token_ms
    finish_reason tool_call_count input_tokens output_tokens reasoning_tokens
    cache_creation_input_tokens cache_read_input_tokens provider_total_tokens computed_total_tokens
    retry_count retryable cancelled_by_user context_exceeded error_type error_code error_message
    raw_usage_json provider_metadata_json"""
)
_TURN_COLUMNS = r.words(
    """session_id turn_id trace_id user_message_id status started_at first_model_start_at
    first_token_at completed_at duration_ms time_to_first_token_ms model_request_count
    model_retry_count tool_call_count tool_error_count input_tokens output_tokens reasoning_tokens
    cache_creation_input_tokens cache_read_input_tokens computed_total_tokens retryable
    cancelled_by_user context_exceeded error_type error_code"""
)
_TOOL_COLUMNS = r.words(
    """id session_id turn_id trace_id tool_call_id tool_name side_effect_scope read_only destructive
    approval_status status started_at first_output_at completed_at duration_ms
    time_to_first_output_ms exit_code output_bytes stdout_bytes stderr_bytes truncated retry_count
    retryable cancelled_by_user error_type error_code error_message"""
)
_SESSION_COLUMNS = r.words(
    """id project_id workspace_id parent_id slug directory path title version revert task_type
    title_source trace_id time_created time_updated time_compacting time_archived summary_diffs"""
)


class ZcodeDb:
    """The format of ZCode's session database."""

    name = "zcode-db"
    agent = "ZCode"
    title = "ZCode session database"
    tells = "titles, projects, messages, usage of every call, turns and tools; no prompts"
    tables = _TABLES

    def sniff(self, tables: Mapping[str, frozenset[str]]) -> float:
        """0.9 where sessions and their messages or usage are there, with the columns that tell."""
        session = tables.get("session", frozenset())
        message = tables.get("message", frozenset())
        usage = tables.get("model_usage", frozenset())
        if "id" not in session or not {"directory", "title"} & session:
            return 0.0
        if {"session_id", "query_source", "started_at"} <= usage:
            return 0.9
        return 0.7 if {"session_id", "data"} <= message else 0.0

    def parse(self, table: str, row: Mapping[str, Any]) -> TableRecord | Skipped:
        """The record of a row, or why it is none."""
        reader = _READERS.get(table)
        if reader is None:
            return _skip(f"The table {table!r} is not read.", row)
        try:
            record = reader(row)
        except RecursionError:
            return _skip("The row's JSON is nested too deeply to be read.", row)
        if not record.session_id:
            return _skip(f"A row of {table!r} names no session.", row)
        return record


TABLE_FORMAT = ZcodeDb()


def _skip(reason: str, row: Mapping[str, Any]) -> Skipped:
    return Skipped(SkipKind.BAD_FIELD, reason, r.safe(str(dict(row)))[:200])


def _session(row: Mapping[str, Any]) -> SessionFacts:
    return SessionFacts(
        session_id=r.text(row, "id"),
        title=r.text(row, "title"),
        title_source=r.text(row, "title_source"),
        project_id=r.text(row, "project_id"),
        workspace_id=r.text(row, "workspace_id"),
        directory=r.text(row, "directory"),
        path=r.text(row, "path"),
        slug=r.text(row, "slug"),
        version=r.text(row, "version"),
        task_type=r.text(row, "task_type"),
        parent_session_id=r.text(row, "parent_id"),
        trace_id=r.text(row, "trace_id"),
        revert_json=r.text(row, "revert"),
        created_at_ms=r.time(row, "time_created"),
        updated_at_ms=r.time(row, "time_updated"),
        compacting_at_ms=r.time(row, "time_compacting"),
        archived_at_ms=r.time(row, "time_archived"),
        extra_json=r.rest(row, _SESSION_COLUMNS),
    )


def _usage(row: Mapping[str, Any]) -> UsageRow:
    return UsageRow(
        session_id=r.text(row, "session_id"),
        usage_id=r.text(row, "id"),
        logical_request_id=r.text(row, "logical_request_id"),
        attempt_index=r.number(row, "attempt_index") or 0,
        turn_id=r.text(row, "turn_id"),
        trace_id=r.text(row, "trace_id"),
        span_id=r.text(row, "span_id"),
        message_id=r.text(row, "assistant_message_id"),
        parent_message_id=r.text(row, "parent_user_message_id"),
        query_source=r.text(row, "query_source"),
        provider_id=r.text(row, "provider_id"),
        model_id=r.text(row, "model_id"),
        variant=r.text(row, "variant") or r.text(row, "reasoning_level"),
        agent=r.text(row, "agent"),
        mode=r.text(row, "mode"),
        task_type=r.text(row, "task_type"),
        status=r.text(row, "status"),
        started_at_ms=r.time(row, "started_at"),
        first_token_at_ms=r.time(row, "first_token_at"),
        completed_at_ms=r.time(row, "completed_at"),
        duration_ms=r.count(row, "duration_ms"),
        first_token_ms=r.count(row, "time_to_first_token_ms"),
        finish_reason=r.text(row, "finish_reason"),
        tool_calls=r.count(row, "tool_call_count"),
        input_tokens=r.count(row, "input_tokens"),
        output_tokens=r.count(row, "output_tokens"),
        reasoning_tokens=r.count(row, "reasoning_tokens"),
        cache_write_tokens=r.count(row, "cache_creation_input_tokens"),
        cache_read_tokens=r.count(row, "cache_read_input_tokens"),
        provider_total_tokens=r.count(row, "provider_total_tokens"),
        computed_total_tokens=r.count(row, "computed_total_tokens"),
        retries=r.count(row, "retry_count") or 0,
        retryable=r.flag(row, "retryable"),
        cancelled=r.flag(row, "cancelled_by_user"),
        context_exceeded=r.flag(row, "context_exceeded"),
        error_type=r.text(row, "error_type"),
        error_code=r.text(row, "error_code"),
        error_message=r.text(row, "error_message"),
        usage_json=r.text(row, "raw_usage_json"),
        metadata_json=r.text(row, "provider_metadata_json"),
        extra_json=r.rest(row, _USAGE_COLUMNS),
    )


def _turn(row: Mapping[str, Any]) -> TurnRow:
    return TurnRow(
        session_id=r.text(row, "session_id"),
        turn_id=r.text(row, "turn_id"),
        trace_id=r.text(row, "trace_id"),
        user_message_id=r.text(row, "user_message_id"),
        status=r.text(row, "status"),
        started_at_ms=r.time(row, "started_at"),
        first_model_at_ms=r.time(row, "first_model_start_at"),
        first_token_at_ms=r.time(row, "first_token_at"),
        completed_at_ms=r.time(row, "completed_at"),
        duration_ms=r.count(row, "duration_ms"),
        first_token_ms=r.count(row, "time_to_first_token_ms"),
        model_requests=r.count(row, "model_request_count"),
        model_retries=r.count(row, "model_retry_count"),
        tool_calls=r.count(row, "tool_call_count"),
        tool_errors=r.count(row, "tool_error_count"),
        input_tokens=r.count(row, "input_tokens"),
        output_tokens=r.count(row, "output_tokens"),
        reasoning_tokens=r.count(row, "reasoning_tokens"),
        cache_write_tokens=r.count(row, "cache_creation_input_tokens"),
        cache_read_tokens=r.count(row, "cache_read_input_tokens"),
        computed_total_tokens=r.count(row, "computed_total_tokens"),
        retryable=r.flag(row, "retryable"),
        cancelled=r.flag(row, "cancelled_by_user"),
        context_exceeded=r.flag(row, "context_exceeded"),
        error_type=r.text(row, "error_type"),
        error_code=r.text(row, "error_code"),
        extra_json=r.rest(row, _TURN_COLUMNS),
    )


def _tool(row: Mapping[str, Any]) -> ToolRow:
    return ToolRow(
        session_id=r.text(row, "session_id"),
        call_id=r.text(row, "tool_call_id"),
        usage_id=r.text(row, "id"),
        turn_id=r.text(row, "turn_id"),
        trace_id=r.text(row, "trace_id"),
        tool=r.text(row, "tool_name"),
        side_effect_scope=r.text(row, "side_effect_scope"),
        read_only=r.optional_flag(row, "read_only"),
        destructive=r.optional_flag(row, "destructive"),
        approval=r.text(row, "approval_status"),
        status=r.text(row, "status"),
        started_at_ms=r.time(row, "started_at"),
        first_output_at_ms=r.time(row, "first_output_at"),
        completed_at_ms=r.time(row, "completed_at"),
        duration_ms=r.count(row, "duration_ms"),
        first_output_ms=r.count(row, "time_to_first_output_ms"),
        exit_code=r.number(row, "exit_code"),
        output_bytes=r.count(row, "output_bytes"),
        stdout_bytes=r.count(row, "stdout_bytes"),
        stderr_bytes=r.count(row, "stderr_bytes"),
        truncated=r.flag(row, "truncated"),
        retries=r.count(row, "retry_count") or 0,
        retryable=r.flag(row, "retryable"),
        cancelled=r.flag(row, "cancelled_by_user"),
        error_type=r.text(row, "error_type"),
        error_code=r.text(row, "error_code"),
        error_message=r.text(row, "error_message"),
        extra_json=r.rest(row, _TOOL_COLUMNS),
    )


def _todo(row: Mapping[str, Any]) -> TodoRow:
    return TodoRow(
        session_id=r.text(row, "session_id"),
        position=r.number(row, "position") or 0,
        content=r.text(row, "content"),
        status=r.text(row, "status"),
        priority=r.text(row, "priority"),
        created_at_ms=r.time(row, "time_created"),
        updated_at_ms=r.time(row, "time_updated"),
    )


def _input(row: Mapping[str, Any]) -> SessionRecord:
    return SessionRecord(
        session_id=r.text(row, "session_id"),
        record_id=r.text(row, "id"),
        family="input",
        kind=r.text(row, "kind"),
        status=r.text(row, "status"),
        delivery=r.text(row, "delivery"),
        message_id=r.text(row, "promoted_message_id"),
        created_at_ms=r.time(row, "time_created"),
        updated_at_ms=r.time(row, "time_updated") or r.time(row, "time_promoted"),
        data_json=r.text(row, "payload"),
    )


def _entry(row: Mapping[str, Any]) -> SessionRecord:
    return SessionRecord(
        session_id=r.text(row, "session_id"),
        record_id=r.text(row, "id"),
        family="entry",
        kind=r.text(row, "type"),
        status="",
        delivery="",
        message_id="",
        created_at_ms=r.time(row, "time_created"),
        updated_at_ms=r.time(row, "time_updated"),
        data_json=r.text(row, "data"),
    )


_READERS: dict[str, Callable[[Mapping[str, Any]], TableRecord]] = {
    "session": _session,
    "model_usage": _usage,
    "turn_usage": _turn,
    "tool_usage": _tool,
    "message": message_row,
    "part": part_row,
    "todo": _todo,
    "session_input": _input,
    "session_entry": _entry,
}
