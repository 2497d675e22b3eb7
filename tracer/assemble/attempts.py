"""Grouping attempts of one logical call, numbering turns and steps.

A retry is a record of its own; current builds give each attempt a new request id, older ones share
one (formats/zcode.md 3.9). So attempt n+1 belongs to the nearest attempt n before it of the same
session, turn and query source. Turn ids are taken per session: a child session carries the turn
id of its parent (section 11).
"""

from collections.abc import Sequence
from typing import NamedTuple


class AttemptFacts(NamedTuple):
    """What grouping needs of one request, in order of start time."""

    key: str
    attempt: int
    turn_id: str
    query_source: str
    side_call: bool


class Grouped(NamedTuple):
    """Where a request stands: its logical call (the key of the first attempt), how many attempts
    that call had, its turn's number and its step in the turn; None where the log names no turn,
    and no step for side calls. Turns and steps count from 1."""

    call_key: str
    attempts: int
    turn_number: int | None
    step: int | None


def group_attempts(requests: Sequence[AttemptFacts]) -> dict[str, Grouped]:
    """The place of each request, by key."""
    first_of: dict[str, str] = {}
    latest: dict[tuple[str, str], tuple[int, str]] = {}
    for request in requests:
        group = (request.turn_id, request.query_source)
        before = latest.get(group)
        follows = request.attempt > 1 and before is not None and before[0] < request.attempt
        call_key = before[1] if follows and before else request.key
        latest[group] = (request.attempt, call_key)
        first_of[request.key] = call_key
    counts: dict[str, int] = {}
    for call_key in first_of.values():
        counts[call_key] = counts.get(call_key, 0) + 1
    turns = _turn_numbers(requests)
    steps: dict[str, int] = {}
    step_of: dict[str, int] = {}
    grouped = {}
    for request in requests:
        call_key = first_of[request.key]
        step = None
        if request.turn_id and not request.side_call:
            if call_key not in step_of:
                steps[request.turn_id] = steps.get(request.turn_id, 0) + 1
                step_of[call_key] = steps[request.turn_id]
            step = step_of[call_key]
        grouped[request.key] = Grouped(call_key, counts[call_key], turns.get(request.turn_id), step)
    return grouped


def _turn_numbers(requests: Sequence[AttemptFacts]) -> dict[str, int]:
    turns: dict[str, int] = {}
    for request in requests:
        if request.turn_id and request.turn_id not in turns:
            turns[request.turn_id] = len(turns) + 1
    return turns
