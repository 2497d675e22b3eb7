"""What a token of tools and system is billed beside one of the messages.

A tokenizer's count is scaled to the bill, but JSON schemas and prose are not off by the same
factor. Over a conversation the head stays and the messages grow, so both factors follow from the
bills: a line through (tokens of the messages, billed), whose slope is the messages' factor and
whose start is the head.
"""

from collections.abc import Sequence
from typing import NamedTuple

from tracer.model.verdict import CallFacts
from tracer.service.judging.facts import SessionCalls

LEAST_POINTS = 4
LEAST_GROWTH = 0.25
MOST_ERROR = 0.05
BOUNDS = (0.2, 5.0)
STEPS = 50
"""Weights are rounded to this part of one: they are to change with the tools, not with every
request that follows."""


class Point(NamedTuple):
    """The counted tokens of one whole prompt, and what was billed for it."""

    head: int
    talk: int
    billed: int


class Weights:
    """The weight of the head by lane; 1 where it cannot be told."""

    def __init__(self, session: SessionCalls) -> None:
        points: dict[str, list[Point]] = {}
        for call in session.calls:
            usage, node = call.facts.usage, call.row.node_id
            if usage is None or not usage.input_tokens or node is None:
                continue
            sums = session.paths.sums[node]
            if sums.whole and sums.head:
                point = Point(sums.head, sums.tokens - sums.head, usage.input_tokens)
                points.setdefault(call.facts.lane, []).append(point)
        self._found = {lane: head_weight(found) for lane, found in points.items()}

    def of(self, facts: CallFacts) -> float:
        """The weight in a call's lane."""
        return self._found.get(facts.lane, 1.0)


def head_weight(points: Sequence[Point]) -> float:
    """The head's factor over the messages'; 1 where the points do not lie on a line."""
    heads: dict[int, list[Point]] = {}
    for point in points:
        heads.setdefault(point.head, []).append(point)
    usual = max(heads.values(), key=len, default=[])
    if len(usual) < LEAST_POINTS:
        return 1.0
    talks = [p.talk for p in usual]
    if max(talks) - min(talks) < LEAST_GROWTH * max(talks):
        return 1.0
    slope, start = _line(usual)
    head = usual[0].head
    if slope <= 0 or start <= 0:
        return 1.0
    if any(abs(start + slope * p.talk - p.billed) > MOST_ERROR * p.billed for p in usual):
        return 1.0
    weight = start / head / slope
    if not BOUNDS[0] <= weight <= BOUNDS[1]:
        return 1.0
    return round(weight * STEPS) / STEPS


def _line(points: Sequence[Point]) -> tuple[float, float]:
    """Slope and start of the line with the least relative errors."""
    weights = [1.0 / p.billed**2 for p in points]
    total = sum(weights)
    talk = sum(w * p.talk for w, p in zip(weights, points, strict=True)) / total
    billed = sum(w * p.billed for w, p in zip(weights, points, strict=True)) / total
    pairs = list(zip(weights, points, strict=True))
    spread = sum(w * (p.talk - talk) ** 2 for w, p in pairs)
    slope = sum(w * (p.talk - talk) * (p.billed - billed) for w, p in pairs) / spread
    return slope, billed - slope * talk
