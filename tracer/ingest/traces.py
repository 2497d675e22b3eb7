"""Putting the session of an open trace together: each answer goes to its prompt.

A prompt and its answer are two lines, in one file or in two, and the answer may be read first. What
comes out depends on what is stored, not on the order in which it was read.
"""

import sqlite3
from collections.abc import Sequence
from typing import Any

import msgspec

from tracer.assemble.usage import normalise
from tracer.formats.context_trace import call_error, reported_usage
from tracer.ingest.resolving import resolve_references
from tracer.model.events import Status
from tracer.store.records import usage_columns
from tracer.store.traces import (
    Answer,
    TracedRequest,
    answers,
    introduce,
    introduction,
    set_outcome,
    set_start,
    share_prompt,
    traced_requests,
)
from tracer.store.writer import Writer

_STATUS = {status.value: status for status in Status}


def put_trace_together(writer: Writer, row_id: int, session_id: str) -> None:
    """Fill the gaps of a session's prompts as far as they can be, tie its answers to its prompts,
    and name it as its agent did."""
    connection = writer.connection
    resolve_references(writer, row_id, session_id)
    said = introduction(connection, row_id)
    if said is not None:
        introduce(connection, row_id, said)
    found = answers(connection, row_id)
    if not found:
        return
    of_request: dict[str, list[TracedRequest]] = {}
    for request in traced_requests(connection, row_id):
        of_request.setdefault(request.request_id, []).append(request)
    by_request: dict[str, list[Answer]] = {}
    for answer in found:
        by_request.setdefault(answer.request_id, []).append(answer)
    for request_id, told in by_request.items():
        _answer(connection, of_request.get(request_id, []), told)


def _answer(
    connection: sqlite3.Connection, requests: Sequence[TracedRequest], told: Sequence[Answer]
) -> None:
    """The answers to the attempts of one request. An attempt that has no prompt of its own was
    sent that of the attempt before it."""
    prompt = next((r for r in requests if r.own), None)
    ended_at_ms: int | None = None
    for request in requests:
        if request.own:
            prompt = request
        answer = next((a for a in reversed(told) if a.attempt == request.attempt), None)
        if answer is None:
            continue
        if not request.own:
            asked_at_ms = prompt.started_at_ms if prompt is not None else None
            started_at_ms = _started(answer, ended_at_ms, asked_at_ms)
            if prompt is not None:
                share_prompt(connection, prompt.id, request.id)
            set_start(connection, request.id, started_at_ms)
        set_outcome(connection, request.id, _outcome(answer))
        ended_at_ms = answer.at_ms if answer.at_ms is not None else ended_at_ms


def _started(answer: Answer, before_ms: int | None, asked_at_ms: int | None) -> int | None:
    """When an attempt that has no prompt of its own started: its end less its duration, but not
    before the attempt before it ended nor before its prompt was built: a duration is a claim, the
    order of the lines is what happened."""
    known = [at_ms for at_ms in (before_ms, asked_at_ms) if at_ms is not None]
    if answer.at_ms is not None and answer.duration_ms is not None:
        known.append(answer.at_ms - max(answer.duration_ms, 0))
    elif not known and answer.at_ms is not None:
        known.append(answer.at_ms)
    return max(known, default=None)


def _outcome(answer: Answer) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.json.decode(answer.context_json or "{}")
    error = call_error(msgspec.json.decode(answer.error_json)) if answer.error_json else None
    usage = reported_usage(fields)
    finish = fields.get("finishReason")
    return {
        "status": _STATUS.get(answer.status, Status.UNKNOWN),
        "completed_at_ms": answer.at_ms,
        "duration_ms": answer.duration_ms,
        "error_name": error.name if error else "",
        "error_message": error.message if error else "",
        "finish_reason": finish if isinstance(finish, str) else "",
        **usage_columns(normalise(usage) if usage else None),
    }
