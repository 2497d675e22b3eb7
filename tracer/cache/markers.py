"""Markers on the prompt: where they stand, what they wrote, whether a later one reaches it.

A cache entry is written at a marker; a later request finds it by walking back from its own markers,
a limited number of positions (cache-rules.md 1.1 and 0, finding 6).
"""

from collections.abc import Sequence
from typing import NamedTuple

from tracer.cache.params import find_param
from tracer.cache.providers.base import Provider
from tracer.model.prompt import Kind, Marker, Tier
from tracer.model.verdict import Boundary, CallFacts

_RUNS = (Kind.TOOL_CALL, Kind.TOOL_RESULT)


class Spot(NamedTuple):
    """A marker at its place: the block (over the whole prompt), the tokens up to its end."""

    block: int
    tokens: int
    tier: Tier
    label: str


def is_automatic(call: CallFacts) -> bool:
    """True where the request asks the provider to place the marker itself."""
    return find_param(call, r"^(body\.)?cache_control(\.|$)") is not None


def spots(
    call: CallFacts, boundaries: Sequence[Boundary], last_block: int
) -> tuple[Spot, ...] | None:
    """The marked blocks among `boundaries`, first to last; None where the log cannot tell.

    Automatic caching marks the last block, `last_block`.
    """
    if call.markers is None or not boundaries:
        return None
    at = {(b.tier, b.tier_index, b.block_index): b for b in boundaries}
    ends: dict[tuple[Tier, int], Boundary] = {}
    for boundary in boundaries:
        ends[(boundary.tier, boundary.tier_index)] = boundary
    found = {}
    for marker in call.markers:
        place = at.get((marker.tier, marker.index, marker.block_index))
        place = place or ends.get((marker.tier, marker.index))
        if place is not None:
            found[place.index] = _spot(place)
    if is_automatic(call):
        last = next((b for b in boundaries if b.index == last_block), None)
        if last is not None:
            found[last.index] = _spot(last)
    return tuple(found[i] for i in sorted(found))


def _spot(boundary: Boundary) -> Spot:
    return Spot(boundary.index, boundary.end_tokens, boundary.tier, boundary.label)


def positions_between(
    boundaries: Sequence[Boundary], written: int, marked: int, runs_are_one: bool
) -> int:
    """How many positions one has to walk back from block `marked` to block `written`.

    A run of tool calls, or of tool results, is one position where `runs_are_one`.
    """
    kinds = [b.kind for b in boundaries if written < b.index <= marked]
    if not runs_are_one:
        return len(kinds)
    count = 0
    before: Kind | None = None
    for kind in kinds:
        if kind not in _RUNS or kind is not before:
            count += 1
        before = kind
    return count


def reachable(
    entry: Spot, current: Sequence[Spot], boundaries: Sequence[Boundary], provider: Provider
) -> bool:
    """True where one of the current markers finds the entry within the lookback."""
    limit = provider.lookback.value
    for spot in current:
        if spot.block < entry.block:
            continue
        if limit is None:
            return True
        walked = positions_between(
            boundaries, entry.block, spot.block, provider.tool_runs_are_one.value
        )
        if walked <= limit:
            return True
    return False


def has_message_marker(call: CallFacts) -> bool | None:
    """Whether a marker stands in the messages; None where the log cannot tell."""
    if call.markers is None:
        return None
    return is_automatic(call) or any(m.tier is Tier.MESSAGES for m in call.markers)


def has_marker(call: CallFacts) -> bool | None:
    """Whether there is any marker; None where the log cannot tell."""
    if call.markers is None:
        return None
    return is_automatic(call) or bool(call.markers)


def asked_ttl(markers: Sequence[Marker] | None) -> str:
    """The longest lifetime that the markers ask for, empty where they name none."""
    named = {m.ttl for m in markers or () if m.ttl}
    return "1h" if "1h" in named else next(iter(sorted(named)), "")
