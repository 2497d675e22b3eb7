"""Breakers of the tail, of capabilities and of file transactions."""

from collections.abc import Callable
from typing import Any

from generate.segments.breakers.base import (
    Break,
    Broken,
    at,
    clone,
    find,
    forget,
    later,
    pairs,
    remove,
    rewrite,
)
from generate.segments.trace import Built, Message, Note, Trace
from generate.text import compact_json


def long_todo(trace: Trace, pick: Any) -> Broken | None:
    """The reminder holds the whole plan."""
    able = [b for b in trace.built() if at(b, 12)]
    if not able:
        return None
    built = pick(able)
    todo = built.segment(12)[0]
    todo.content = str(todo.content) * (1 + 1_501 // len(str(todo.content)))
    return Broken(built.request, built.index_of(todo))


def repair_again(trace: Trace, pick: Any) -> Broken | None:
    """The reminder stays for a second request."""
    able = [(a, b) for a, b in pairs(trace) if at(a, 13) and not at(b, 13)]
    if not able:
        return None
    before, built = pick(able)
    again = clone(before.segment(13)[0])
    built.segment(13).append(again)
    return Broken(built.request, built.index_of(again))


def _snapshot_break(change: Callable[[dict[str, Any]], None]) -> Any:
    def apply(trace: Trace, pick: Any) -> Broken | None:
        able = [b for b in trace.built() if at(b, 14)]
        if not able:
            return None
        built = pick(able)
        snapshot = built.segment(14)[0]
        change(snapshot.keys["state"])
        if snapshot.content is not None:
            snapshot.content = compact_json(snapshot.keys["state"])
        return Broken(built.request, built.index_of(snapshot))

    return apply


def snapshot_lost(trace: Trace, pick: Any) -> Broken | None:
    """A transaction is open, and the request does not say so."""
    able = [b for b in trace.built() if at(b, 14)]
    if not able:
        return None
    built = pick(able)
    remove(built, built.segment(14)[0].id)
    return Broken(built.request)


def snapshot_stays(trace: Trace, pick: Any) -> Broken | None:
    """A transaction was closed, and the next request still shows it."""
    able = []
    for before, built in pairs(trace):
        ids = {m.id for m in at(built, 14)}
        able += [(built, m) for m in at(before, 14) if m.id not in ids]
    if not able:
        return None
    built, stale = pick(able)
    again = clone(stale)
    built.segment(14).append(again)
    return Broken(built.request, built.index_of(again))


def _switches(trace: Trace, *, enabled: bool) -> list[tuple[Note, Built, Built]]:
    """Switches with the prompts before and behind them, of capabilities that are switched once
    in between and whose guide the model has seen."""
    every = trace.built()
    found = []
    for place, note in trace.notes("capability.changed"):
        built = trace.next_built(place)
        if built is None or note.keys["enabled"] is not enabled or built is every[0]:
            continue
        before = every[next(i for i, b in enumerate(every) if b is built) - 1]
        name = note.keys["name"]
        between = [
            other
            for other_place, other in trace.notes("capability.changed")
            if other.keys["name"] == name and trace.next_built(other_place) is built
        ]
        if len(between) == 1 and _guide(before, name):
            found.append((note, before, built))
    return found


def _guide(built: Built, name: str) -> Message | None:
    return next((m for m in at(built, 4) if m.keys.get("capability") == name), None)


def guide_stays(trace: Trace, pick: Any) -> Broken | None:
    """The guide of a capability stands there although it was switched off."""
    able = _switches(trace, enabled=False)
    if not able:
        return None
    note, before, built = pick(able)
    guide = _guide(before, note.keys["name"])
    if guide is None:
        return None
    again = clone(guide)
    built.segment(4).append(again)
    return Broken(built.request, built.index_of(again))


def schema_stays(trace: Trace, pick: Any) -> Broken | None:
    """The tools of a capability are there although it was switched off."""
    able = _switches(trace, enabled=False)
    if not able:
        return None
    note, before, built = pick(able)
    built.dynamic = sorted(
        [*built.dynamic, *(t for t in before.dynamic if t["capability"] == note.keys["name"])],
        key=lambda tool: str(tool["name"]),
    )
    return Broken(built.request)


def _switch_diff(built: Built, name: str) -> Message | None:
    diffs = [
        m
        for m in built.messages()
        if m.keys.get("mode") == "diff" and name in m.keys["patch"].get("capabilities", {})
    ]
    return diffs[-1] if diffs else None


def _diff_break(change: Callable[[Message, str], None] | None) -> Any:
    def apply(trace: Trace, pick: Any) -> Broken | None:
        able = _switches(trace, enabled=False)
        if not able:
            return None
        note, before, built = pick(able)
        diff, guide = _switch_diff(built, note.keys["name"]), _guide(before, note.keys["name"])
        if diff is None or guide is None:
            return None
        index = built.index_of(diff)
        if change is None:
            forget(trace, diff.id)
            return Broken(built.request)
        for item in later(trace, built):
            rewrite(item, diff.id, lambda m: change(m, str(guide.content)))
        return Broken(built.request, index)

    return apply


def _without_reason(diff: Message, _: str) -> None:
    reason = diff.keys.pop("reason", None)
    if isinstance(diff.content, str) and reason:
        diff.content = diff.content.replace(f"\n{reason}", "")


def _with_guide(diff: Message, guide: str) -> None:
    diff.content = f"{diff.content or compact_json(diff.keys['patch'])}\n{guide}"


def _calm(trace: Trace) -> list[tuple[Built, Message]]:
    """Prompts with a guide that the one before had as well: no switch stands between."""
    found = []
    for before, built in pairs(trace):
        for guide in at(built, 4):
            if find(before, guide.id):
                found.append((built, guide))
    return found


def guide_lost(trace: Trace, pick: Any) -> Broken | None:
    """A capability is on, its tools are there, and its guide is not."""
    able = _calm(trace)
    if not able:
        return None
    built, guide = pick(able)
    index = built.index_of(guide) + len(at(built, 4)) - 1 - at(built, 4).index(guide)
    remove(built, guide.id)
    return Broken(built.request, index)


def schema_lost(trace: Trace, pick: Any) -> Broken | None:
    """A capability is on, its guide is there, and its tools are not."""
    able = _calm(trace)
    if not able:
        return None
    built, guide = pick(able)
    name = guide.keys["capability"]
    built.dynamic = [tool for tool in built.dynamic if tool["capability"] != name]
    return Broken(built.request)


BREAKS = (
    Break("todo-budget", "long", "A todo reminder holds the whole plan.", long_todo),
    Break("repair-once", "again", "A repair reminder stays for a second request.", repair_again),
    Break("transaction-minimal", "stale", "The snapshot is not where the last event was.",
          _snapshot_break(lambda state: state.update(nextIndex=state["nextIndex"] + 7))),
    Break("transaction-minimal", "more", "The snapshot carries the draft beside its eight fields.",
          _snapshot_break(lambda state: state.update(draft="Row C, tree 1"))),
    Break("transaction-minimal", "fewer", "The snapshot lacks one of its eight fields.",
          _snapshot_break(lambda state: state.pop("strategy"))),
    Break("transaction-minimal", "lost", "A transaction is open and no snapshot says so.",
          snapshot_lost),
    Break("transaction-minimal", "stays", "A closed transaction is still shown.", snapshot_stays),
    Break("capability-withdrawn", "guide", "The guide stays in the request after the switch-off.",
          guide_stays),
    Break("capability-withdrawn", "schema", "The tools stay after the switch-off.", schema_stays),
    Break("capability-withdrawn", "no-diff", "No diff tells of the switch-off.",
          _diff_break(None)),
    Break("capability-withdrawn", "no-reason", "The diff of the switch-off gives no reason.",
          _diff_break(_without_reason)),
    Break("capability-withdrawn", "with-guide", "The diff of the switch-off repeats the guide.",
          _diff_break(_with_guide)),
    Break("capability-consistent", "no-guide", "The guide of an enabled capability is missing.",
          guide_lost),
    Break("capability-consistent", "no-schema", "The tools of an enabled capability are missing.",
          schema_lost),
)  # fmt: skip
