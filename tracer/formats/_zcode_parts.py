"""Messages and parts of ZCode's session database (formats/zcode.md 5 and 10)."""

from collections.abc import Mapping
from typing import Any

from tracer.formats import _rows as r
from tracer.model.conversation import MessageRow, PartRow

_MESSAGE_KEYS = r.words(
    """id sessionID messageID role time agent source visibility synthetic anchor semantics parentID
    modelId providerId mode finish error tokens"""
)
_TIMELINES = frozenset({"compaction", "timeline"})
_PLAIN_KEYS = frozenset({"id", "sessionID", "messageID", "type", "text", "time", "synthetic"})
_STEP_KEYS = frozenset({"id", "sessionID", "messageID", "type", "reason", "tokens", "contextUsage"})
_TOOL_KEYS = frozenset({"id", "sessionID", "messageID", "type", "callID", "tool", "state"})
_STATE_KEYS = frozenset({"status", "type", "input", "raw", "output", "error", "title", "time"})


def message_row(row: Mapping[str, Any]) -> MessageRow:
    """A row of `message`."""
    data = r.text(row, "data")
    value = r.decoded(data)
    found = value if value is not None else {}
    anchor = r.inner(found, "anchor")
    return MessageRow(
        session_id=r.text(row, "session_id"),
        message_id=r.text(row, "id"),
        role=r.inner_text(found, "role"),
        sequence=r.number(row, "sequence"),
        created_at_ms=r.time(row, "time_created"),
        updated_at_ms=r.time(row, "time_updated"),
        completed_at_ms=r.inner_time(found, "time", "completed"),
        turn_id=r.inner_text(anchor, "turnId"),
        parent_message_id=r.inner_text(found, "parentID"),
        source=r.inner_text(found, "source") or r.inner_text(found, "semantics", "source"),
        origin=r.inner_text(found, "semantics", "origin") or r.inner_text(anchor, "origin"),
        visibility=r.inner_text(found, "visibility")
        or r.inner_text(found, "metadata", "visibility"),
        synthetic=int(r.inner(found, "synthetic") is True),
        provider_id=r.inner_text(found, "providerId")
        or r.inner_text(found, "modelSelection", "providerId"),
        model_id=r.inner_text(found, "modelId") or r.inner_text(found, "modelSelection", "modelId"),
        agent=r.inner_text(found, "agent"),
        mode=r.inner_text(found, "mode"),
        finish=r.inner_text(found, "finish"),
        error_json=r.json_text(r.inner(found, "error")),
        **_tokens(r.inner(found, "tokens")),
        raw="" if value is not None else r.safe(data),
        extra_json=r.json_text({k: v for k, v in found.items() if k not in _MESSAGE_KEYS}),
    )


def part_row(row: Mapping[str, Any]) -> PartRow:
    """A row of `part`."""
    data = r.text(row, "data")
    value = r.decoded(data)
    found = value if value is not None else {}
    kind = r.inner_text(found, "type")
    fields: dict[str, Any] = dict.fromkeys(
        ("call_id", "tool", "state", "title", "text", "input_json", "reason", "context_json"), ""
    )
    fields |= dict.fromkeys(
        ("started_at_ms", "ended_at_ms", "context_used", "context_window"), None
    )
    fields |= _tokens(None)
    if kind == "tool":
        fields |= _tool(found)
    elif kind == "step-finish":
        fields |= _step(found)
    else:
        fields |= _plain(found, kind)
    return PartRow(
        session_id=r.text(row, "session_id"),
        part_id=r.text(row, "id"),
        message_id=r.text(row, "message_id"),
        kind=kind,
        sequence=r.number(row, "sequence"),
        created_at_ms=r.time(row, "time_created"),
        updated_at_ms=r.time(row, "time_updated"),
        synthetic=int(r.inner(found, "synthetic") is True),
        raw="" if value is not None else r.safe(data),
        **fields,
    )


def _tokens(value: Any) -> dict[str, int | None]:
    """The five counts of a message or a step; None where one is not there."""
    return {
        "input_tokens": r.inner_int(value, "input"),
        "output_tokens": r.inner_int(value, "output"),
        "reasoning_tokens": r.inner_int(value, "reasoning"),
        "cache_read_tokens": r.inner_int(value, "cache", "read"),
        "cache_write_tokens": r.inner_int(value, "cache", "write"),
    }


def _plain(found: dict[str, Any], kind: str) -> dict[str, Any]:
    """Text, reasoning, files, compactions, timeline marks, and kinds not known yet."""
    title = r.inner_text(found, "timelineType") if kind in _TIMELINES else ""
    return {
        "title": title or r.inner_text(found, "filename") or r.inner_text(found, "name"),
        "state": r.inner_text(found, "timelineStatus"),
        "text": r.inner_text(found, "text"),
        "reason": r.inner_text(found, "compactReason") or r.inner_text(found, "trigger"),
        "started_at_ms": r.inner_time(found, "time", "start"),
        "ended_at_ms": r.inner_time(found, "time", "end"),
        "detail_json": r.json_text({k: v for k, v in found.items() if k not in _PLAIN_KEYS}),
    }


def _tool(found: dict[str, Any]) -> dict[str, Any]:
    """A tool call; its state is an object with a word for itself, or the word alone."""
    value = r.inner(found, "state")
    state = value if isinstance(value, dict) else {}
    word = value if isinstance(value, str) else r.inner_text(state, "status")
    output = r.inner(state, "output")
    if output is None:
        output = r.inner(state, "error")
    more = {k: v for k, v in state.items() if k not in _STATE_KEYS}
    more |= {k: v for k, v in found.items() if k not in _TOOL_KEYS}
    return {
        "call_id": r.inner_text(found, "callID"),
        "tool": r.inner_text(found, "tool"),
        "state": word or r.inner_text(state, "type"),
        "title": r.inner_text(state, "title"),
        "started_at_ms": r.inner_time(state, "time", "start"),
        "ended_at_ms": r.inner_time(state, "time", "end"),
        "text": output if isinstance(output, str) else r.json_text(output),
        "input_json": r.json_text(r.inner(state, "input")),
        "detail_json": r.json_text(more),
    }


def _step(found: dict[str, Any]) -> dict[str, Any]:
    """The end of a model step, with what the provider billed and what filled the window."""
    usage = r.inner(found, "contextUsage")
    breakdown = r.inner(usage, "breakdown")
    return {
        "reason": r.inner_text(found, "reason"),
        **_tokens(r.inner(found, "tokens")),
        "context_used": r.inner_int(usage, "used"),
        "context_window": r.inner_int(usage, "contextWindow"),
        "context_json": r.json_text(breakdown if isinstance(breakdown, list) else None),
        "detail_json": r.json_text({k: v for k, v in found.items() if k not in _STEP_KEYS}),
    }
