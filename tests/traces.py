"""Lines of the open trace format for tests: written by hand, so that they test the writer, too."""

import json
from pathlib import Path
from typing import Any

from tests.helpers import SESSION

Json = dict[str, Any]
MODEL = {"providerId": "example", "modelId": "model-a"}


def line(event: str, second: float, session: str = SESSION, **keys: Any) -> bytes:
    """One line; `second` counts from a moment that is always the same."""
    ms = round(second * 1000)
    at = f"2026-01-05T09:{ms // 60_000:02}:{ms // 1000 % 60:02}.{ms % 1000:03}Z"
    head = {"event": event, "v": 1, "timestamp": at, "sessionId": session}
    return json.dumps(head | keys, ensure_ascii=False).encode() + b"\n"


def said(id: str, content: str | None = None, role: str = "user", **keys: Any) -> Json:
    """A message; without a content it is `text of ID`."""
    return {"id": id, "role": role, "content": content or f"text of {id}"} | keys


def ref(id: str, **keys: Any) -> Json:
    """A message that was written before."""
    return {"ref": id} | keys


def built(second: float, request: str, messages: list[Json], **keys: Any) -> bytes:
    """A prompt without segments."""
    session = keys.pop("session", SESSION)
    given: Json = {"requestId": request, "runId": "r1", "model": MODEL, "querySource": "main_turn"}
    return line("context.built", second, session, **given | {"messages": messages} | keys)


def laid_out(second: float, request: str, segments: dict[int, list[Json]], **keys: Any) -> bytes:
    """A prompt in segments."""
    found = [{"n": n, "messages": messages} for n, messages in segments.items()]
    given: Json = {"requestId": request, "runId": "r1", "model": MODEL, "querySource": "main_turn"}
    return line(
        "context.built", second, **given | {"layout": "segments-14", "segments": found} | keys
    )


def completed(second: float, request: str, attempt: int = 1, **keys: Any) -> bytes:
    """How an attempt ended."""
    given: Json = {"requestId": request, "attempt": attempt, "status": "completed"}
    return line("request.completed", second, **given | keys)


def write(path: Path, *lines: bytes) -> Path:
    """A file of these lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(lines))
    return path
