"""Breakers of the layout itself: segments, tools, the prefix, the budget."""

from typing import Any

from generate.segments.breakers.base import (
    Break,
    Broken,
    clone,
    find,
    first_of_runs,
    later,
    pairs,
    rewrite,
)
from generate.segments.state import full_text
from generate.segments.trace import Built, Message, Trace, Usage
from generate.segments.write import categories_of


def swapped(trace: Trace, pick: Any) -> Broken | None:
    """The last segment comes before the one in front of it."""
    built = pick(trace.built())
    built.segments[-2:] = reversed(built.segments[-2:])
    return Broken(built.request, built.index_of(built.segments[-1][1][0]))


def twice(trace: Trace, pick: Any) -> Broken | None:
    """The run's timeline is given as two segments 11."""
    long = [b for b in trace.built() if len(b.segment(11)) > 1]
    if not long:
        return None
    built = pick(long)
    place = next(i for i, (n, _) in enumerate(built.segments) if n == 11)
    _, messages = built.segments[place]
    built.segments[place : place + 1] = [(11, messages[:1]), (11, messages[1:])]
    return Broken(built.request, built.index_of(messages[1]))


def unsorted_tools(trace: Trace, pick: Any) -> Broken | None:
    """Two stable tools have changed places."""
    built = pick(trace.built())
    built.stable[:2] = reversed(built.stable[:2])
    return Broken(built.request)


def dynamic_first(trace: Trace, pick: Any) -> Broken | None:
    """All tools are sorted by name in one list, so dynamic ones come before stable ones."""
    able = [b for b in trace.built() if _mixes(b)]
    if not able:
        return None
    built = pick(able)
    built.order = sorted(tool["name"] for tool in built.tools())
    return Broken(built.request)


def _mixes(built: Built) -> bool:
    names = [str(tool["name"]) for tool in built.tools()]
    return bool(built.dynamic) and sorted(names) != names


def accumulated(trace: Trace, pick: Any) -> Broken | None:
    """What stood in the tail once has become part of the run's timeline."""
    able = [(a, b) for a, b in pairs(trace, same_run=True) if _tail(a) and b.segment(11)]
    if not able:
        return None
    before, built = pick(able)
    stale = _tail(before)[0]
    last = built.segment(11)[-1].id
    for item in later(trace, built, run_only=True):
        timeline = item.segment(11)
        place = next((i for i, m in enumerate(timeline) if m.id == last), None)
        if place is not None:
            timeline.insert(place + 1, clone(stale))
            for n in (12, 13, 14):
                item.segment(n)[:] = [m for m in item.segment(n) if m.id != stale.id]
    _tidy(trace)
    return Broken(built.request, built.index_of(built.segment(11)[-1]))


def _tail(built: Built) -> list[Message]:
    """The reminders in the tail; a snapshot has to stay where it is."""
    return [*built.segment(12), *built.segment(13)]


def _tidy(trace: Trace) -> None:
    for built in trace.built():
        built.segments = [(n, found) for n, found in built.segments if found]


def changed_rules(trace: Trace, pick: Any) -> Broken | None:
    """The rules carry a time, so that every run has other ones."""
    firsts = first_of_runs(trace)
    if not firsts:
        return None
    built = pick(firsts)
    rules = built.segment(1)[0]
    text = f"{rules.content} It is half past nine."
    for item in later(trace, built):
        rewrite(item, rules.id, lambda m: setattr(m, "content", text))
    return Broken(built.request, built.index_of(rules))


def state_again(trace: Trace, pick: Any) -> Broken | None:
    """A new run is given a new full World State of the session instead of the one with diffs."""
    able = [b for b in first_of_runs(trace) if not b.segment(6)]
    _tidy(trace)
    if not able:
        return None
    built = pick(able)
    old = find(built, built.segment(5)[0].id)
    state = {**built.known["session"], "asOf": built.run}
    fresh = Message(
        f"{built.run}-state", "system", "world_state", full_text("session", state),
        {"scope": "session", "mode": "full", "state": state},
    )  # fmt: skip
    for item in later(trace, built):
        item.segment(5)[:] = [clone(fresh)]
    return Broken(built.request, built.index_of(built.segment(5)[0])) if old else None


def state_in_timeline(trace: Trace, pick: Any) -> Broken | None:
    """A second full World State of the run stands in its timeline."""
    able = [b for b in trace.built() if b.segment(11) and b.segment(10)]
    _tidy(trace)
    if not able:
        return None
    built = pick(able)
    full = clone(built.segment(10)[0])
    full.id = f"{full.id}-again"
    built.segment(11).append(full)
    return Broken(built.request, built.index_of(full))


def no_room(trace: Trace, pick: Any) -> Broken | None:
    """The reserve for the answer no longer fits beside the prompt."""
    usage = pick([item for item in trace.items if isinstance(item, Usage)])
    built = next(b for b in trace.built() if b.request == usage.request)
    tokens = sum(row["tokens"] for row in categories_of(built))
    usage.window = tokens + usage.reserve - 1
    return Broken(built.request)


BREAKS = (
    Break("order", "swapped", "Segment 11 comes before segment 10.", swapped),
    Break("order", "twice", "Segment 11 is given in two pieces.", twice),
    Break("tools-sorted", "unsorted", "Two stable tools have changed places.", unsorted_tools),
    Break("tools-sorted", "mixed", "A dynamic tool comes before a stable one.", dynamic_first),
    Break(
        "tail-not-accumulated",
        "joined",
        "The todo reminder of one request has become part of the timeline of the next.",
        accumulated,
    ),
    Break("prompt-stable", "stamped", "The rules carry a time from the second run on.",
          changed_rules),
    Break("world-state-once", "again",
          "The second run has a new full World State of the session.", state_again),
    Break("world-state-once", "twice", "A second full World State of the run stands in 11.",
          state_in_timeline),
    Break("usage-reserve", "no-room", "Prompt and output reserve exceed the window by one token.",
          no_room),
)  # fmt: skip
