"""The JSON of what stands beside the prompts of a session (`story` in docs/json.md)."""

from tracer.jsonview.core import SCHEMA, JsonObject, doctor_line_json, iso_time, known
from tracer.model.story import (
    FamilyLink,
    SessionStory,
    ToolCallView,
    TurnView,
    UsageRowView,
)


def story_json(story: SessionStory) -> JsonObject:
    """What `tracer story --json` prints."""
    stored = story.stored
    return {
        "schema": SCHEMA,
        "session_id": story.session_id,
        "title": known(stored.title) if stored else None,
        "project": known(stored.directory) if stored else None,
        "task_type": known(stored.task_type) if stored else None,
        "rewound_to": known(stored.rewound_to_message_id) if stored else None,
        "removed_at": iso_time(stored.removed_at_ms) if stored else None,
        "abandoned_messages": story.abandoned_messages,
        "parent": _relative(story.parent) if story.parent else None,
        "children": [_relative(child) for child in story.children],
        "turns": [_turn(turn) for turn in story.turns],
        "tools": [_tool(call) for call in story.tools],
        "usage_rows": [_usage_row(row) for row in story.usage_rows],
        "compactions": [
            {
                "at": iso_time(c.at_ms),
                "reason": known(c.reason),
                "status": known(c.status),
                "tokens_before": c.tokens_before,
                "tokens_after": c.tokens_after,
                "covers": c.covers,
                "known_from": c.known_from,
            }
            for c in story.compactions
        ],
        "todos": [
            {"content": t.content, "status": known(t.status), "priority": known(t.priority)}
            for t in story.todos
        ],
        "evidence": [doctor_line_json(line) for line in story.evidence],
    }


def _relative(link: FamilyLink) -> JsonObject:
    return {
        "session_id": link.session_id,
        "title": known(link.title),
        "task_type": known(link.task_type),
        "agent_type": known(link.agent_type),
        "status": known(link.status),
        "call_id": known(link.call_id),
        "strength": str(link.strength),
        "join": link.join,
    }


def _turn(turn: TurnView) -> JsonObject:
    return {
        "turn_id": turn.turn_id,
        "number": turn.number,
        "words": known(turn.words),
        "words_from": known(turn.words_from),
        "status": known(turn.status),
        "started_at": iso_time(turn.started_at_ms),
        "duration_ms": turn.duration_ms,
        "first_token_ms": turn.first_token_ms,
        "model_requests": turn.model_requests,
        "retries": turn.retries,
        "tool_calls": turn.tool_calls,
        "tool_errors": turn.tool_errors,
        "input": turn.input_tokens,
        "cache_read": turn.cache_read_tokens,
        "output": turn.output_tokens,
        "abandoned": turn.abandoned,
        "known_from": turn.known_from,
    }


def _tool(call: ToolCallView) -> JsonObject:
    return {
        "call_id": call.call_id,
        "turn_id": known(call.turn_id),
        "tool": known(call.tool),
        "status": known(call.status),
        "approval": known(call.approval),
        "started_at": iso_time(call.started_at_ms),
        "ended_at": iso_time(call.ended_at_ms),
        "duration_ms": call.duration_ms,
        "permission_ms": call.permission_ms,
        "output_bytes": call.output_bytes,
        "error": known(call.error),
        "key": known(call.request_key),
        "child_session_id": known(call.child_session_id),
        "result_key": known(call.result_key),
        "known_from": list(call.known_from),
        "strength": call.strength,
        "join": call.join,
        "abandoned": call.abandoned,
    }


def _usage_row(row: UsageRowView) -> JsonObject:
    return {
        "usage_id": row.usage_id,
        "key": known(row.request_key),
        "origin": row.origin,
        "status": known(row.status),
        "strength": known(str(row.strength)),
        "join": known(row.join),
        "conflicts": [{"fact": c.fact, "request": c.request, "row": c.row} for c in row.conflicts],
        "retries": row.retries,
        "first_token_ms": row.first_token_ms,
        "message_id": known(row.message_id),
        "context_used": row.context_used,
        "context_window": row.context_window,
    }
