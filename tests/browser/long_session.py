"""A session of thousands of requests, small enough to be read in seconds."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

TITLE = "Walk through five thousand requests"
START = datetime(2026, 1, 12, 9, 2, 11, tzinfo=UTC)
PER_TURN = 50


def write_long_session(folder: Path, requests: int) -> None:
    """A model I/O file in which each request repeats two messages and has one of its own; every
    thousandth reads nothing of the cache."""
    folder.mkdir(parents=True)
    with (folder / "model-io-sess_long.jsonl").open("w", encoding="utf-8") as file:
        for number in range(requests):
            file.write(json.dumps(_record(number)) + "\n")


def _record(number: int) -> dict[str, Any]:
    started = START + timedelta(seconds=7 * number)
    billed = 4_000 + 64 * (number % 400)
    read = 0 if number % 1_000 == 999 else max(0, billed - 128) // 64 * 64
    messages = [
        {"role": "system", "content": "You are a careful assistant."},
        {"role": "user", "content": TITLE},
        {"role": "user", "content": f"Step {number}"},
    ]
    return {
        "completedAt": _iso(started + timedelta(seconds=3)),
        "durationMs": 3000,
        "requestId": f"req_{number:05}",
        "attempt": 1,
        "model": {"modelId": "model-y", "providerId": "provider-x"},
        "request": {
            "headers": {}, "messages": messages, "messageCount": 3, "messagesKind": "full",
            "messageOffset": 0, "toolNames": [], "maxOutputTokens": 32000,
        },
        "response": {
            "finishReason": "stop", "modelId": "model-y", "text": "Done.", "toolCalls": [],
            "usage": {"inputTokens": billed, "outputTokens": 5, "totalTokens": billed + 5,
                      "cacheReadTokens": read, "cacheWriteTokens": 0},
        },
        "sessionId": "sess_long",
        "querySource": "main_turn",
        "startedAt": _iso(started),
        "traceId": "trace_1",
        "turnId": f"turn_{number // PER_TURN:04}",
        "type": "model_io",
    }  # fmt: skip


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
