"""Edits of the prefix that a windowed record cannot show, proven by a later record.

A tail of a long conversation does not show its first messages, so they are carried over from
earlier records. If a later record of the lane shows one of them with another text, it changed in
between; and a read that stopped in just that message tells at which request.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from tracer.cache.expected import noise_tokens
from tracer.cache.wording import tier_place
from tracer.model.prompt import Kind, Tier
from tracer.model.verdict import Certainty, Difference, FoundCause, Verdict
from tracer.service.judging.appended import Billed, proven_blocks
from tracer.service.judging.facts import Call
from tracer.service.judging.paths import Paths

HEAD_MESSAGES = 12
"""How many messages behind the leading system messages can belong to the prefix."""

MARGIN_TOKENS = 128
MARGIN_FRACTION = 0.02


class LaterProof(NamedTuple):
    """The later call whose record shows another text, and where."""

    call: Call
    depth: int
    node_id: int


class WholeCalls:
    """The calls whose own record shows their whole prompt, by lane and time."""

    def __init__(self, calls: Iterable[Call]) -> None:
        self._calls: dict[str, list[Call]] = {}
        for call in calls:
            if call.row.verified_from == 0 and call.row.node_id is not None:
                self._calls.setdefault(call.facts.lane, []).append(call)

    def after(self, call: Call) -> Call | None:
        """The first one behind a call in its lane."""
        found = self._calls.get(call.facts.lane, [])
        at = bisect_right(found, call.facts.order, key=lambda c: c.facts.order)
        return found[at] if at < len(found) else None


def later_proof(
    paths: Paths, call: Call, baseline: Call, whole: WholeCalls, now: Billed
) -> LaterProof | None:
    """The proof that a message of the prefix had another text than the one carried over, and that
    the read stopped there; None where there is none."""
    read = call.facts.read_tokens
    could = min(baseline.facts.prompt_tokens or 0, call.facts.prompt_tokens or 0)
    if call.row.verified_from == 0 or read is None or could - read <= noise_tokens(could, 1):
        return None
    later = whole.after(call)
    if later is None or later.row.node_id is None:
        return None
    other = paths.path(later.row.node_id)
    depth = _parting(now.path, other)
    if depth is None or depth < proven_blocks(paths, now.tip, now.path, call.row):
        return None
    if not _same_place(paths, now.path[depth], other[depth]):
        return None
    index = paths.nodes[other[depth]].message_index
    if index is None or index >= paths.system_messages(now.tip) + HEAD_MESSAGES:
        return None
    start, end = now.end(depth - 1), now.end(depth)
    margin = max(MARGIN_TOKENS, round(MARGIN_FRACTION * end))
    if not start - margin <= read <= end + margin:
        return None
    return LaterProof(later, depth, other[depth])


def _parting(a: Sequence[int], b: Sequence[int]) -> int | None:
    for depth, (x, y) in enumerate(zip(a, b, strict=False)):
        if x != y:
            return depth
    return None


def _same_place(paths: Paths, a: int, b: int) -> bool:
    """True for two texts of the user at the same place of the message list."""
    one, other = (paths.blocks[paths.nodes[node].block_id] for node in (a, b))
    return (
        paths.nodes[a][3:5] == paths.nodes[b][3:5]
        and one.tier is other.tier is Tier.MESSAGES
        and one.role == other.role == "user"
        and one.kind is other.kind is Kind.TEXT
    )


def is_of_the_prefix(difference: Difference) -> bool:
    """True where the first change is one of a section or a reminder, and so no other prompt of the
    user."""
    first = next(iter(difference.changes), None)
    return first is not None and bool(first.section or first.reminder)


def with_proof(verdict: Verdict, proof: LaterProof, paths: Paths) -> Verdict:
    """The verdict, with what it rests on said."""
    index = paths.nodes[proof.node_id].message_index or 0
    place = tier_place(Tier.MESSAGES, index)
    note = (
        f"not in this request's own record, which is a window: request {proof.call.facts.key} is "
        f"the next that shows {place}, with this text; the read stopped there"
    )

    def told(cause: FoundCause) -> FoundCause:
        if cause.message_index != index:
            return cause
        return replace(
            cause,
            certainty=Certainty.HIGH,
            evidence=(*cause.evidence, note),
            shown_by=proof.call.facts.key,
        )

    return replace(
        verdict,
        causes=tuple(told(c) for c in verdict.causes),
        also=tuple(told(c) for c in verdict.also),
    )
