"""One tool call from everything that shares its session and id (formats/zcode.md 11)."""

from collections.abc import Iterable
from typing import NamedTuple


class ToolFact(NamedTuple):
    """What one file says of a tool call. `known_from` is `tool_usage`, `part`, `events`,
    `answer`: it stands in what the model answered, or `prompt`: it stands in a later prompt."""

    known_from: str
    call_id: str
    turn_id: str
    tool: str
    status: str
    approval: str
    started_at_ms: int | None
    ended_at_ms: int | None
    duration_ms: int | None
    output_bytes: int | None
    error: str
    message_id: str


class EventFact(NamedTuple):
    """A session event about a tool call."""

    event: str
    at_ms: int | None
    turn_id: str
    call_id: str
    tool: str
    status: str
    duration_ms: int | None


class ToolCall(NamedTuple):
    """A tool call, each fact from the first file that has it."""

    fact: ToolFact
    permission_ms: int | None
    known_from: tuple[str, ...]


_RANKS = ("tool_usage", "part", "events", "answer", "prompt")
_ENDS = {"tool_call_result": "completed", "tool_call_error": "error"}
_ANSWERS = frozenset({"permission_resolved", "permission_denied"})


def merge_tools(facts: Iterable[ToolFact], events: Iterable[EventFact]) -> list[ToolCall]:
    """The tool calls of one session by start, in the order given where none is known. A usage row
    is asked first, then the message's part, the events, the answer, the prompts; a state that
    says `running` gives way to one that knows the end."""
    by_call: dict[str, list[ToolFact]] = {}
    told: dict[str, list[EventFact]] = {}
    for fact in facts:
        by_call.setdefault(fact.call_id, []).append(fact)
    for event in events:
        told.setdefault(event.call_id, []).append(event)
    for call_id, own in told.items():
        by_call.setdefault(call_id, []).append(_from_events(call_id, own))
    calls = []
    sources: dict[tuple[str, ...], tuple[str, ...]] = {}  # one of a kind, for thousands of calls
    for call_id, found in by_call.items():
        found.sort(key=lambda f: _RANKS.index(f.known_from))
        permission_ms = _permission(told.get(call_id, []))
        known_from = tuple(f.known_from for f in found)
        known_from = sources.setdefault(known_from, known_from)
        calls.append(ToolCall(_merged(found), permission_ms, known_from))
    return sorted(calls, key=_place)


def _place(call: ToolCall) -> tuple[int, str]:
    start = call.fact.started_at_ms
    return (0, "") if start is None else (start, call.fact.call_id)


def _merged(found: list[ToolFact]) -> ToolFact:
    merged = found[0]
    for other in found[1:]:
        more = {
            name: value
            for name, value in other._asdict().items()
            if getattr(merged, name) in (None, "") and value not in (None, "")
        }
        if merged.status in ("running", "pending") and other.status not in ("", "running"):
            more["status"] = other.status
        merged = merged._replace(**more)
    return merged


def _from_events(call_id: str, events: list[EventFact]) -> ToolFact:
    first = {event.event: event for event in reversed(events)}
    started = first.get("tool_call_started") or first.get("tool_call_scheduled")
    ended = next((first[name] for name in _ENDS if name in first), None)
    status = "running"
    if ended is not None:
        failed = ended.event == "tool_call_error" or ended.status == "failed"
        status = "error" if failed else "completed"
    start = started.at_ms if started else None
    end = ended.at_ms if ended else None
    duration = ended.duration_ms if ended else None
    if duration is None and start is not None and end is not None:
        duration = end - start
    tool = next((event.tool for event in events if event.tool), "")
    turn = next((event.turn_id for event in events if event.turn_id), "")
    return ToolFact("events", call_id, turn, tool, status, "", start, end, duration, None, "", "")


def _permission(events: list[EventFact]) -> int | None:
    """The time between the first question and the answer to it; None where nobody asked."""
    asked = next((e.at_ms for e in events if e.event == "permission_requested"), None)
    answered = next((e.at_ms for e in events if e.event in _ANSWERS), None)
    return answered - asked if asked is not None and answered is not None else None
