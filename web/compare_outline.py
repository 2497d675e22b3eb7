"""The outline of a comparison: what happened, part by part, equal runs folded."""

from dataclasses import dataclass

from tracer.model.compare_views import ChangeView, ComparisonView
from tracer.model.comparison import Op
from tracer.model.prompt import Tier
from tracer.service.comparing_words import stretch_words, stretches
from tracer.words import plural
from web.compare_rows import STRETCH_WHOLE
from web.compare_state import CompareState
from web.filters import num

MOST_ENTRIES = 120
_NAMES = {Tier.TOOLS: "Tools", Tier.SYSTEM: "System", Tier.MESSAGES: "Messages"}


@dataclass(frozen=True, slots=True)
class Entry:
    """A change, a stretch of them, or a run of equal blocks."""

    op: str
    label: str
    note: str
    href: str


@dataclass(frozen=True, slots=True)
class Group:
    """One part of the prompt. It is `open` where something happened in it; `more` entries are left
    out."""

    name: str
    note: str
    open: bool
    entries: tuple[Entry, ...]
    more: int


def outline(view: ComparisonView, state: CompareState, shown: range) -> tuple[Group, ...]:
    """All parts in order. `shown` are the changes on this page: the others are on their own."""
    groups = []
    for tier in Tier:
        own = [made for made in view.changes if made.change.tier is tier]
        if not own:
            continue
        found = [
            piece
            for stretch in stretches(own)
            for piece in ([stretch] if len(stretch) > STRETCH_WHOLE else [[m] for m in stretch])
        ]
        changed = sum(m.change.count for m in own if m.change.op is not Op.EQUAL)
        total = sum(made.change.count for made in own)
        note = f"{num(changed)} of {num(total)} not equal" if changed else f"{num(total)} equal"
        groups.append(
            Group(
                name=_NAMES[tier],
                note=note,
                open=bool(changed),
                entries=tuple(_entry(state, piece, shown) for piece in found[:MOST_ENTRIES]),
                more=max(0, len(found) - MOST_ENTRIES),
            )
        )
    return tuple(groups)


def _entry(state: CompareState, piece: list[ChangeView], shown: range) -> Entry:
    made = piece[0]
    op, index = made.change.op, made.index
    if op is Op.EQUAL:
        label, note = plural(made.change.count, "equal block"), made.change.label
    elif len(piece) > 1:
        label, note = f"{num(len(piece))} {op.value}", stretch_words(piece)
    else:
        label, note = made.change.label, op.value
    return Entry(op.value, label, note, state.to(index, shown))
