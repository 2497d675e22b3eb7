"""The World State as the model knew it at a request: full states, with all diffs up to there.

A full state replaces what was known of its scope; a diff is a merge patch (RFC 7396): a key with a
value sets it, objects are merged key by key, null removes. The messages of a prompt are taken in
their order, so what an earlier run knew gives way to the present run's own full state.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from tracer.model.segments import MessageNote

State: TypeAlias = Mapping[str, Any]
WORLD_STATE = "world_state"
SESSION, RUN = "session", "run"
FULL, DIFF = "full", "diff"


@dataclass(frozen=True, slots=True)
class Known:
    """A state of one scope. `full_message` is the message of its full state; None where the prompt
    holds diffs only, so that `state` is what they tell and no more. `diffs` counts them."""

    state: State
    full_message: int | None
    diffs: int = 0


@dataclass(frozen=True, slots=True)
class World:
    """What is known of the session and of the run; None: nothing."""

    session: Known | None = None
    run: Known | None = None


NOTHING = World()


@dataclass(frozen=True, slots=True)
class StateChange:
    """One value that is another one now. `path` are the keys that lead to it. `before` and `after`
    are JSON values; `was` and `now` tell whether there is one: null is a value, too."""

    path: tuple[str, ...]
    before: Any
    after: Any
    was: bool
    now: bool


def after(world: World, note: MessageNote, message: int) -> World:
    """The world after one more message; the same object where the message is no World State."""
    if note.kind != WORLD_STATE:
        return world
    if note.scope == SESSION:
        return replace(world, session=_known(world.session, note, message))
    if note.scope == RUN:
        return replace(world, run=_known(world.run, note, message))
    return world


def _known(known: Known | None, note: MessageNote, message: int) -> Known | None:
    if note.mode == FULL and note.state is not None:
        return Known(note.state, message)
    if note.mode == DIFF and note.patch is not None:
        before = known or Known({}, None)
        patched = merged(before.state, note.patch)
        return Known(patched, before.full_message, before.diffs + 1)
    return known


def merged(state: State, patch: State) -> State:
    """The state after a merge patch; neither is changed."""
    made = dict(state)
    for key, value in patch.items():
        if value is None:
            made.pop(key, None)
        elif isinstance(value, Mapping):
            old = made.get(key)
            made[key] = merged(old if isinstance(old, Mapping) else {}, value)
        else:
            made[key] = value
    return made


def changes(before: State | None, now: State | None) -> tuple[StateChange, ...]:
    """What differs, value by value, in the order of the keys of `now`; nothing is an empty state.
    Lists are compared as a whole."""
    return tuple(_changes((), before or {}, now or {}))


def _changes(path: tuple[str, ...], before: State, now: State) -> Iterator[StateChange]:
    for key in (*now, *(key for key in before if key not in now)):
        was, there = key in before, key in now
        old, new = before.get(key), now.get(key)
        here = (*path, key)
        if was and there and isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from _changes(here, old, new)
        elif not (was and there and same(old, new)):
            yield StateChange(here, old, new, was, there)


def same(one: Any, two: Any) -> bool:
    """Equal as JSON: true is not 1."""
    if isinstance(one, bool) is not isinstance(two, bool):
        return False
    if isinstance(one, Mapping) and isinstance(two, Mapping):
        return one.keys() == two.keys() and all(same(one[k], two[k]) for k in one)
    if isinstance(one, list | tuple) and isinstance(two, list | tuple):
        return len(one) == len(two) and all(map(same, one, two))
    return bool(one == two)


def values(state: State) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The values of a state with the keys that lead to them, objects taken apart."""
    for key, value in state.items():
        if isinstance(value, Mapping) and value:
            for path, inner in values(value):
                yield (key, *path), inner
        else:
            yield (key,), value
