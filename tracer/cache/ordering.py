"""Bringing facts into one order, so that a verdict does not depend on the order of ingest."""

from dataclasses import replace

from tracer.cache.changes import HOISTED
from tracer.model.comparison import Op
from tracer.model.prompt import Tier
from tracer.model.verdict import Change, Difference, History

_TIERS = tuple(Tier)


def ordered_history(history: History) -> History:
    """Calls by start, everything else by time or name."""
    return replace(
        history,
        earlier=tuple(sorted(history.earlier, key=lambda e: e.facts.order)),
        others=tuple(sorted(history.others, key=lambda c: c.order)),
        elsewhere=tuple(sorted(history.elsewhere, key=lambda c: c.order)),
        past=tuple(sorted(history.past, key=lambda p: (p.key, p.signals))),
        lane_reads=tuple(sorted(history.lane_reads)),
        events=tuple(sorted(history.events, key=lambda e: (e.at_ms or 0, e.kind, e.text))),
    )


def ordered_difference(difference: Difference) -> Difference:
    """Changes by their place in the prompt, boundaries by index."""
    return replace(
        difference,
        changes=tuple(sorted(difference.changes, key=_place)),
        boundaries=tuple(sorted(difference.boundaries, key=lambda b: b.index)),
    )


def place_of(change: Change) -> int:
    """Where a change begins to matter inside its tier: in this request, else in the baseline. What
    was moved back within its tier is missed first where it stood before."""
    found = [i for i in (change.b_index, change.a_index) if i is not None]
    if change.op is Op.MOVED and HOISTED not in change.hints:
        return min(found, default=0)
    return found[0] if found else 0


def _place(change: Change) -> tuple[int | str, ...]:
    offset = change.token_offset if change.token_offset is not None else -1
    return (
        _TIERS.index(change.tier),
        place_of(change),
        offset,
        change.op.value,
        change.label,
        change.a_index if change.a_index is not None else -1,
        change.reminder,
        change.section,
        change.before,
        change.after,
        change.role,
        change.kind.value,
        repr(change),
    )
