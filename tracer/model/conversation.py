"""What an agent's session database and its folders say of a conversation: one record a row.

Times are UTC epoch milliseconds. None is unknown; a text that is not there is empty. `raw` holds
the text of a column that should have been JSON and is not. `extra_json` holds what is not taken
apart here.
"""

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from tracer.model.usage_rows import ToolRow, TurnRow, UsageRow


class SessionFacts(NamedTuple):
    """A session (formats/zcode.md 5, `session`). `title_source` is `default`, `first_input`,
    `generated` or `custom`; `revert_json` is set while the conversation is rewound;
    `compacting_at_ms` is stale after a crash."""

    session_id: str
    title: str
    title_source: str
    project_id: str
    workspace_id: str
    directory: str
    path: str
    slug: str
    version: str
    task_type: str
    parent_session_id: str
    trace_id: str
    revert_json: str
    created_at_ms: int | None
    updated_at_ms: int | None
    compacting_at_ms: int | None
    archived_at_ms: int | None
    extra_json: str


class MessageRow(NamedTuple):
    """A stored message. `role` is `user` or `assistant`, empty where its data is not JSON.

    `source` is what made a synthetic user message; `visibility` is `model-only` for those that the
    user does not see. `turn_id` comes from its anchor.
    """

    session_id: str
    message_id: str
    role: str
    sequence: int | None
    created_at_ms: int | None
    updated_at_ms: int | None
    completed_at_ms: int | None
    turn_id: str
    parent_message_id: str
    source: str
    origin: str
    visibility: str
    synthetic: int
    provider_id: str
    model_id: str
    agent: str
    mode: str
    finish: str
    error_json: str
    input_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    raw: str
    extra_json: str


class PartRow(NamedTuple):
    """A part of a message: text, reasoning, tool call, step end, compaction, timeline mark, ...

    For tools `state` is `pending`, `running`, `completed` or `error`, and `text` the output or the
    error. For `step-finish`, the tokens are the step's and `context_*` the agent's own account of
    its context window (`context_json`: characters by category). For compactions, `detail_json` has
    the counts before and after.
    """

    session_id: str
    part_id: str
    message_id: str
    kind: str
    sequence: int | None
    created_at_ms: int | None
    updated_at_ms: int | None
    synthetic: int
    call_id: str
    tool: str
    state: str
    title: str
    started_at_ms: int | None
    ended_at_ms: int | None
    text: str
    input_json: str
    reason: str
    input_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    context_used: int | None
    context_window: int | None
    context_json: str
    detail_json: str
    raw: str


class TodoRow(NamedTuple):
    """One item of a session's list of steps."""

    session_id: str
    position: int
    content: str
    status: str
    priority: str
    created_at_ms: int | None
    updated_at_ms: int | None


class SessionRecord(NamedTuple):
    """An input that was admitted to a session, or a note of its runtime. `family` is `input` or
    `entry`, `kind` the agent's own word, `message_id` the message that an input became."""

    session_id: str
    record_id: str
    family: str
    kind: str
    status: str
    delivery: str
    message_id: str
    created_at_ms: int | None
    updated_at_ms: int | None
    data_json: str


class AgentRun(NamedTuple):
    """One run of a subagent, from the folder it keeps (formats/zcode.md 6).

    `output` is the final text, or the error's. A status of `running` may be stale after a crash.
    """

    parent_session_id: str
    agent_id: str
    child_session_id: str
    parent_call_id: str
    agent_type: str
    description: str
    prompt: str
    status: str
    created_at_ms: int | None
    updated_at_ms: int | None
    completed_at_ms: int | None
    duration_ms: int | None
    total_tokens: int | None
    tool_calls: int | None
    error: str
    cwd: str
    usage_json: str
    output: str
    extra_json: str


@dataclass(frozen=True, slots=True)
class ActiveBranch:
    """Which messages a rewind left: `abandoned` are still stored but no longer part of the
    conversation. `target_message_id` is where the rewind went back to."""

    active: tuple[str, ...]
    abandoned: tuple[str, ...]
    target_message_id: str = ""


TableRecord: TypeAlias = (
    SessionFacts | MessageRow | PartRow | TodoRow | SessionRecord | UsageRow | TurnRow | ToolRow
)
"""What a row of a session database becomes."""
