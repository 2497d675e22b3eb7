"""The reconstructed World State equals a direct simulation of what the agent knew."""

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tracer.anatomy.world_state import (
    NOTHING,
    StateChange,
    World,
    after,
    changes,
    merged,
    same,
    values,
)
from tracer.model.segments import MessageNote

KEYS = st.sampled_from(("cwd", "mode", "web", "files", "deep", "model"))
# null cannot be said in a merge patch, so it is no value of a state.
LISTS: st.SearchStrategy[Any] = st.lists(st.integers(0, 2), max_size=2)
PLAIN = LISTS | st.booleans() | st.integers(0, 3) | st.sampled_from(("", "a", "b"))
STATES = st.recursive(
    st.dictionaries(KEYS, PLAIN, max_size=4),
    lambda inner: st.dictionaries(KEYS, PLAIN | inner, max_size=4),
    max_leaves=12,
)


def world_of(notes: list[MessageNote]) -> World:
    """What the messages of a prompt, in their order, make known."""
    world = NOTHING
    for message, note in enumerate(notes):
        world = after(world, note, message)
    return world


class Agent:
    """The direct simulation: it holds the states themselves, and writes what it tells."""

    def __init__(self) -> None:
        self.states: dict[str, dict[str, Any]] = {}
        self.notes: list[MessageNote] = []

    def full(self, scope: str, state: dict[str, Any]) -> None:
        self.states[scope] = copy.deepcopy(state)
        self._tell(scope, "full", state=copy.deepcopy(state))

    def become(self, scope: str, state: dict[str, Any]) -> None:
        patch = self._patch(self.states[scope], state)
        self.states[scope] = copy.deepcopy(state)
        self._tell(scope, "diff", patch=patch)

    def say(self) -> None:
        self.notes.append(MessageNote(kind="user_input"))

    def _tell(self, scope: str, mode: str, **keys: Any) -> None:
        self.notes.append(MessageNote(kind="world_state", scope=scope, mode=mode, **keys))

    def _patch(self, old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
        """What makes the new state of the old one: written by hand, from the meaning."""
        patch: dict[str, Any] = {key: None for key in old if key not in new}
        for key, value in new.items():
            if key not in old:
                patch[key] = value
            elif isinstance(value, dict) and isinstance(old[key], dict):
                inner = self._patch(old[key], value)
                if inner:
                    patch[key] = inner
            elif isinstance(value, dict):
                # An object in place of another value: what it holds is merged into nothing.
                patch[key] = value
            elif value != old[key] or type(value) is not type(old[key]):
                patch[key] = value
        return patch


STEPS = st.lists(st.tuples(st.sampled_from(("full", "diff", "say")), st.booleans(), STATES))


@given(STEPS)
def test_the_model_knew_what_the_agent_told(steps: list[tuple[str, bool, dict[str, Any]]]) -> None:
    agent = Agent()
    for what, of_run, state in steps:
        scope = "run" if of_run else "session"
        if what == "say":
            agent.say()
        elif what == "full" or scope not in agent.states:
            agent.full(scope, state)
        else:
            agent.become(scope, state)
        world = world_of(agent.notes)
        for name, known in (("session", world.session), ("run", world.run)):
            told = agent.states.get(name)
            assert (known is None) == (told is None)
            if known is not None:
                assert same(known.state, told)
                assert known.full_message is not None
                last_full = max(
                    i for i, n in enumerate(agent.notes) if n.scope == name and n.mode == "full"
                )
                assert known.full_message == last_full


def applied(state: dict[str, Any], found: tuple[StateChange, ...]) -> dict[str, Any]:
    """A state after changes, one by one."""
    made = copy.deepcopy(state)
    for change in found:
        here = made
        for key in change.path[:-1]:
            here = here[key]
        if change.now:
            here[change.path[-1]] = change.after
        else:
            del here[change.path[-1]]
    return made


@given(STATES, STATES)
def test_changes_lead_from_one_state_to_the_other(one: dict[str, Any], two: dict[str, Any]) -> None:
    found = changes(one, two)
    assert same(applied(one, found), two)
    assert (not found) == same(one, two)
    assert changes(one, one) == ()
    assert len({change.path for change in found}) == len(found)


@given(STATES, STATES)
def test_a_patch_changes_neither_state(state: dict[str, Any], patch: dict[str, Any]) -> None:
    before = copy.deepcopy((state, patch))
    merged(state, patch)
    assert (state, patch) == before


@given(STATES)
def test_the_values_of_a_state_are_all_of_it(state: dict[str, Any]) -> None:
    made: dict[str, Any] = {}
    for path, value in values(state):
        here = made
        for key in path[:-1]:
            here = here.setdefault(key, {})
        here[path[-1]] = value
    assert same(made, state)


def test_a_diff_without_its_full_state_says_so() -> None:
    note = MessageNote(kind="world_state", scope="session", mode="diff", patch={"web": False})
    known = world_of([note]).session
    assert known is not None
    assert (known.state, known.full_message, known.diffs) == ({"web": False}, None, 1)
    assert world_of([note]).run is None


def test_true_is_not_one() -> None:
    assert [c.path for c in changes({"a": True, "b": [1]}, {"a": 1, "b": [True]})] == [
        ("a",),
        ("b",),
    ]
