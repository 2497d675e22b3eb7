"""The number of messages that the structured log tells before a model step is the number that the
model I/O record of that step holds.

Another number means that the two do not speak of the same prompt: a record is missing, or something
changed the list on the way to the provider.
"""

import json
from bisect import bisect_right
from collections.abc import Iterator

from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedRequest, CheckedSession
from tracer.checks.zcode._requests import conversation
from tracer.model.findings import Level

LEVEL = Level.WARNING
TITLE = "Log and model I/O count the same messages"
SOURCE = "formats/zcode.md 9.2, A13"

REPORT = Reporter(__name__, LEVEL)
_NEEDS = "the structured log's line `model.request.started` with a `messageCount` for this step"
_SLACK_MS = 50
_WINDOW_MS = 60_000


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for each first attempt with another number."""
    logged = _logged(session)
    taken: dict[str, int] = {}
    for request in conversation(session):
        if request.attempt != 1 or request.message_count is None or request.started_at_ms is None:
            continue
        counts = logged.get(request.turn_id, [])
        at = bisect_right(counts, (request.started_at_ms + _SLACK_MS, 1 << 60))
        fresh = at > taken.get(request.turn_id, 0)
        if not fresh or request.started_at_ms - counts[at - 1][0] > _WINDOW_MS:
            yield REPORT.needs(_NEEDS, request)
            continue
        taken[request.turn_id] = at
        yield from _compared(request, counts[at - 1][1])


def _compared(request: CheckedRequest, logged: int) -> Iterator[Found]:
    if logged != request.message_count:
        yield REPORT.found(
            request,
            f"The log tells of {logged:,} messages, the record of {request.message_count:,}.",
            log=logged,
            model_io=request.message_count,
        )


def _logged(session: CheckedSession) -> dict[str, list[tuple[int, int]]]:
    """When the runtime told of how many messages, by turn and in order."""
    found: dict[str, list[tuple[int, int]]] = {}
    for event in session.events.named(("model.request.started",)):
        if "messageCount" not in event.context_json:
            continue
        context = json.loads(event.context_json)
        count = context.get("messageCount") if isinstance(context, dict) else None
        if isinstance(count, int) and event.at_ms is not None:
            found.setdefault(event.turn_id, []).append((event.at_ms, count))
    for counts in found.values():
        counts.sort()
    return found
