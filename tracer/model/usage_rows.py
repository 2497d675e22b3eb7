"""What an agent's session database says of calls, turns and tools: one record a row.

Times are UTC epoch milliseconds. None is unknown; a text that is not there is empty. `*_json` are
kept as logged. `extra_json` holds the columns that this version does not know.
"""

from typing import NamedTuple


class UsageRow(NamedTuple):
    """One logical model call, all its attempts together (formats/zcode.md 5, `model_usage`).

    `message_id` is the assistant message it wrote. `input_tokens` includes what was cached. The
    agent writes 0 where it knows nothing: `known_usage` tells the two apart.
    """

    session_id: str
    usage_id: str
    logical_request_id: str
    attempt_index: int
    turn_id: str
    trace_id: str
    span_id: str
    message_id: str
    parent_message_id: str
    query_source: str
    provider_id: str
    model_id: str
    variant: str
    agent: str
    mode: str
    task_type: str
    status: str
    started_at_ms: int | None
    first_token_at_ms: int | None
    completed_at_ms: int | None
    duration_ms: int | None
    first_token_ms: int | None
    finish_reason: str
    tool_calls: int | None
    input_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    cache_write_tokens: int | None
    cache_read_tokens: int | None
    provider_total_tokens: int | None
    computed_total_tokens: int | None
    retries: int
    retryable: int
    cancelled: int
    context_exceeded: int
    error_type: str
    error_code: str
    error_message: str
    usage_json: str
    metadata_json: str
    extra_json: str


class TurnRow(NamedTuple):
    """One turn, as the agent summed it up (`turn_usage`)."""

    session_id: str
    turn_id: str
    trace_id: str
    user_message_id: str
    status: str
    started_at_ms: int | None
    first_model_at_ms: int | None
    first_token_at_ms: int | None
    completed_at_ms: int | None
    duration_ms: int | None
    first_token_ms: int | None
    model_requests: int | None
    model_retries: int | None
    tool_calls: int | None
    tool_errors: int | None
    input_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    cache_write_tokens: int | None
    cache_read_tokens: int | None
    computed_total_tokens: int | None
    retryable: int
    cancelled: int
    context_exceeded: int
    error_type: str
    error_code: str
    extra_json: str


class ToolRow(NamedTuple):
    """One tool call (`tool_usage`). `exit_code` is 0 where the tool has none: the agent writes 0
    for a missing number."""

    session_id: str
    call_id: str
    usage_id: str
    turn_id: str
    trace_id: str
    tool: str
    side_effect_scope: str
    read_only: int | None
    destructive: int | None
    approval: str
    status: str
    started_at_ms: int | None
    first_output_at_ms: int | None
    completed_at_ms: int | None
    duration_ms: int | None
    first_output_ms: int | None
    exit_code: int | None
    output_bytes: int | None
    stdout_bytes: int | None
    stderr_bytes: int | None
    truncated: int
    retries: int
    retryable: int
    cancelled: int
    error_type: str
    error_code: str
    error_message: str
    extra_json: str
