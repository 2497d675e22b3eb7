"""The reads of a lane, in as few numbers as a verdict needs: a block size is what divides all."""

import math
from collections.abc import Iterable

from tracer.service.judging.facts import Call

_ENOUGH = 3


class LaneReads:
    """Reads by lane."""

    def __init__(self, calls: Iterable[Call]) -> None:
        reads: dict[str, set[int]] = {}
        for call in calls:
            read = call.facts.read_tokens
            if read:
                reads.setdefault(call.facts.lane, set()).add(read)
        self._found = {lane: _few(found) for lane, found in reads.items()}

    def of(self, lane: str) -> tuple[int, ...]:
        """The reads of a lane: all where they are few, else three that have the same divisor. So a
        verdict does not change with every request that follows."""
        return self._found.get(lane, ())


def _few(reads: set[int]) -> tuple[int, ...]:
    if len(reads) <= _ENOUGH:
        return tuple(sorted(reads))
    step = math.gcd(*reads)
    return tuple(step * n for n in range(1, _ENOUGH + 1))
