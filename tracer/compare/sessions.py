"""Two sessions aligned by what their prompts were made of (design.md 10, compare)."""

from tracer.model.session_comparison import (
    Group,
    Member,
    SessionComparison,
    SessionRow,
    SessionSide,
    State,
)

_WITHOUT_TEXT = frozenset({Group.REMINDER, Group.MCS, Group.MODEL})


def compare_sessions(a: SessionSide, b: SessionSide) -> SessionComparison:
    """Every section, tool, reminder source and model of either, by its name."""
    names = [*a.members, *(name for name in b.members if name not in a.members)]
    order = list(Group)
    names.sort(key=lambda name: order.index(name[0]))
    rows = (_row(group, name, a, b) for group, name in names)
    return SessionComparison(a, b, tuple(rows))


def _row(group: Group, name: str, a: SessionSide, b: SessionSide) -> SessionRow:
    left, right = a.members.get((group, name)), b.members.get((group, name))
    return SessionRow(group, name, _state(group, left, right), left, right)


def _state(group: Group, a: Member | None, b: Member | None) -> State:
    if a is None:
        return State.ONLY_B
    if b is None:
        return State.ONLY_A
    if group in _WITHOUT_TEXT:
        return State.SAME if (a.requests, a.count) == (b.requests, b.count) else State.BOTH
    texts_a = {v.content_hash for v in a.versions}
    texts_b = {v.content_hash for v in b.versions}
    if texts_a == texts_b:
        return State.SAME
    return State.MIXED if texts_a & texts_b else State.CHANGED
