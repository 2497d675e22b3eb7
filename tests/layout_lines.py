"""Traces in 14 segments, written by hand, line by line."""

from typing import Any

from tests.layouts import found_in, places

Json = dict[str, Any]


def said(
    id: str, kind: str = "user_input", text: str = "", role: str = "user", **keys: Any
) -> Json:
    """A message; without a text it is `text of ID`."""
    return {"id": id, "role": role, "kind": kind, "content": text or f"text of {id}"} | keys


def diff(id: str, scope: str = "session", **patch: Any) -> Json:
    keys: Json = {"scope": scope, "mode": "diff", "patch": patch, "reason": "asked for"}
    return {"id": id, "role": "system", "kind": "world_state"} | keys


def full(id: str, scope: str = "session", **state: Any) -> Json:
    keys: Json = {"scope": scope, "mode": "full", "state": state}
    return {"id": id, "role": "system", "kind": "world_state"} | keys


def call(id: str, *calls: str) -> Json:
    made = [{"id": c, "name": "read_file", "input": {}} for c in calls]
    return said(id, "assistant", role="assistant", toolCalls=made)


def result(id: str, call_id: str, **keys: Any) -> Json:
    return said(id, "tool_result", role="tool", toolCallId=call_id, **keys)


def line(event: str, second: float, **keys: Any) -> Json:
    at = f"2026-01-05T09:{int(second) // 60:02}:{second % 60:06.3f}Z"
    return {"event": event, "v": 1, "timestamp": at, "sessionId": "s"} | keys


def prompt(second: float, run: str, segments: dict[int, list[Json]], **keys: Any) -> Json:
    """A prompt that is named after its second."""
    found = [{"n": n, "messages": messages} for n, messages in segments.items()]
    row: Json = {"requestId": f"q{second:g}", "runId": run, "layout": "segments-14"}
    row |= {"model": {"modelId": "m"}, "querySource": "main_turn", "segments": found}
    return line("context.built", second, **row | keys)


def ended(second: float, request: str, status: str = "completed", attempt: int = 1) -> Json:
    keys = {"requestId": request, "status": status, "attempt": attempt}
    return line("request.completed", second, **keys)


def tools(*names: str, dynamic: tuple[str, ...] = (), **keys: Any) -> Json:
    """Tools; a dynamic one is of the capability that it is named after."""
    return {
        "stable": [{"name": n} for n in names],
        "dynamic": [{"name": n, "capability": n} for n in dynamic],
    } | keys


def breaks(*lines: Json) -> list[tuple[str, str, int | None]]:
    return places(found_in(lines))


def needs(rule: str, *lines: Json) -> list[str]:
    found = found_in(lines)
    return [u.needs for u in found.undecided if u.rule == f"layout-14/{rule}"]


def guide(name: str, text: str = "How to use it: sparingly, and with care.") -> Json:
    return said(f"guide-{name}", "capability_guide", text, "system", capability=name)


USER, LATER = said("u1"), said("u2")
ANSWER = said("a1", "assistant", role="assistant")
