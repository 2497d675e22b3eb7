"""A helper's `transcript.jsonl`, as older builds wrote it (formats/zcode.md 4.4)."""

from datetime import UTC, datetime, timedelta

from generate.clock import iso
from generate.recorder import Finished, ModelCall, epoch_ms, prompt_text, tool_results
from generate.text import Json, compact_json


def _iso(ms: int) -> str:
    return iso(datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=ms))


class Transcript:
    """Lays the calls of one session out as session events."""

    def __init__(self, calls: list[ModelCall]) -> None:
        self._calls = calls
        self._lines: list[str] = []
        self._number = 0

    def lines(self) -> list[str]:
        """Return the lines of the file."""
        first, last = self._calls[0], self._calls[-1]
        started: Json = {"turnNumber": 1, "input": prompt_text(first), "executionKind": "agent"}
        self._event(first, "turn_started", first.started_ms - 15, started)
        results = tool_results(self._calls)
        for call in self._calls:
            self._call(call)
            for tool in call.tool_calls:
                self._tool(call, tool, results.get((call.session_id, tool["id"]), ("", False)))
        usages = [c.last.usage for c in self._calls if c.last.usage]
        total: Json = {"inputTokens": sum(u.input for u in usages)}
        total |= {"outputTokens": sum(u.output for u in usages), "modelRequestCount": len(usages)}
        done: Json = {"response": "", "usage": total, "resultType": "success"}
        done["duration"] = last.completed_ms - first.started_ms
        self._event(last, "turn_complete", last.completed_ms + 5, done)
        return self._lines

    def _call(self, call: ModelCall) -> None:
        for finished in call.attempts:
            self._attempt(call, finished)
        response = call.last.attempt.response or {}
        if call.last.usage:
            payload: Json = {"content": "", "querySource": call.source, "usage": response["usage"]}
            payload |= {"stopReason": response["finishReason"]}
            payload["toolCallCount"] = len(call.tool_calls)
            self._event(call, "model_complete", call.completed_ms + 1, payload)

    def _attempt(self, call: ModelCall, finished: Finished) -> None:
        attempt = finished.attempt
        base: Json = {"requestId": attempt.request_id, "attempt": attempt.number, "maxAttempts": 11}
        base |= {"querySource": call.source, "transport": "sse", "model": attempt.model}
        start, end = epoch_ms(attempt.started_at), epoch_ms(attempt.completed_at)
        begun = {"type": "model_request_started", **base}
        self._event(call, "model_network_status", start, begun)
        if finished.usage is None:
            failed: Json = {"type": "model_request_failed", **base, "durationMs": end - start}
            failed |= {"reason": "server_error", "retryable": True, "message": "overloaded"}
            self._event(call, "model_network_status", end, failed)
            return
        delta: Json = {"delta": (attempt.response or {})["text"], "done": False}
        self._event(call, "model_streaming", end - 3, delta | {"kind": "text_delta"})
        done: Json = {"type": "model_request_completed", **base, "durationMs": end - start}
        done |= {"usage": (attempt.response or {})["usage"], "timeToFirstTextMs": 430}
        self._event(call, "model_network_status", end, done)

    def _tool(self, call: ModelCall, tool: Json, result: tuple[str, bool]) -> None:
        at = call.completed_ms + 5
        name: Json = {"toolCallId": tool["id"], "toolName": tool["name"]}
        self._event(call, "tool_call_started", at, {**name, "startedAt": _iso(at)})
        value = {"success": not result[1], "content": result[0]}
        payload: Json = {"toolCallId": tool["id"], "result": value, "duration": 100}
        self._event(call, "tool_call_result", at + 100, payload)

    def _event(self, call: ModelCall, kind: str, at_ms: int, payload: Json) -> None:
        self._number += 1
        line: Json = {"id": f"evt_{call.session_id[-6:]}_{self._number:03}", "type": kind}
        line |= {"sessionId": call.session_id, "turnId": call.turn_id, "timestamp": _iso(at_ms)}
        line |= {"traceId": call.first.trace_id, "sequenceNumber": 0, "payload": payload}
        self._lines.append(compact_json(line))
