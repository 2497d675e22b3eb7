"""Tying structured-log lines to requests, and how strong each tie is (formats/zcode.md 11)."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

# A snapshot is written right before its request; clocks of two writers differ a little.
SNAPSHOT_SLACK_MS = 50
SNAPSHOT_WINDOW_MS = 600_000


class Strength(StrEnum):
    """EXACT: a shared id. HEURISTIC: session, turn and time. TURN: session and turn only.
    SESSION: the session only."""

    EXACT = "exact"
    HEURISTIC = "heuristic"
    TURN = "turn"
    SESSION = "session"


class Join(NamedTuple):
    """The strength of a tie and the key it rests on, in words."""

    strength: Strength
    key: str


class LineFacts(NamedTuple):
    """What joining needs of a log line."""

    at_ms: int | None
    event: str
    turn_id: str
    request_id: str
    attempt: int | None


class RequestFacts(NamedTuple):
    """What joining needs of a request. `next_start_ms` is when the next attempt of the same turn
    and conversation started, None for the last one."""

    request_id: str
    attempt: int
    turn_id: str
    started_at_ms: int | None
    completed_at_ms: int | None


def join_line(line: LineFacts, request: RequestFacts) -> Join | None:
    """How a log line belongs to a request; None where it does not."""
    if line.request_id:
        if line.request_id != request.request_id:
            return None
        if line.attempt is not None and line.attempt != request.attempt:
            return None
        return Join(Strength.EXACT, "request id" + (" and attempt" if line.attempt else ""))
    if not line.turn_id or line.turn_id != request.turn_id or line.at_ms is None:
        return None
    started, completed = request.started_at_ms, request.completed_at_ms
    if started is None:
        return Join(Strength.TURN, "session and turn")
    if started - SNAPSHOT_SLACK_MS <= line.at_ms <= (completed or started):
        return Join(Strength.HEURISTIC, "session, turn and time")
    return None


def named_snapshot(snapshots: Sequence[LineFacts], request_id: str) -> int | None:
    """The index of the last snapshot that names a request."""
    named = (i for i, line in enumerate(snapshots) if line.request_id == request_id != "")
    return max(named, default=None)


def snapshot_before(
    snapshots: Sequence[LineFacts], request: RequestFacts, earlier_starts_ms: Sequence[int]
) -> int | None:
    """The index of the context-usage snapshot that was written for a request: the last one that
    names it; else the last one of its turn before it, unless another first attempt of the turn
    started in between.

    `earlier_starts_ms` are the starts of the conversation's other first attempts.
    """
    named = named_snapshot(snapshots, request.request_id)
    if named is not None or request.started_at_ms is None:
        return named
    limit = request.started_at_ms + SNAPSHOT_SLACK_MS
    best: int | None = None
    for index, line in enumerate(snapshots):
        if line.at_ms is None or line.at_ms > limit or line.turn_id != request.turn_id:
            continue
        if line.request_id:
            continue
        if best is None or line.at_ms >= (snapshots[best].at_ms or 0):
            best = index
    if best is None:
        return None
    at_ms = snapshots[best].at_ms or 0
    taken = any(
        at_ms - SNAPSHOT_SLACK_MS <= start < request.started_at_ms for start in earlier_starts_ms
    )
    return None if taken or request.started_at_ms - at_ms > SNAPSHOT_WINDOW_MS else best
