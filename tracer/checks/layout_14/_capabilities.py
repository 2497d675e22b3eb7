"""What a prompt says of each capability: its tools, its guide, the World State."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tracer.checks.case import CheckedMessage, CheckedSession
from tracer.checks.layout_14._covered import Covered
from tracer.checks.layout_14._events import SWITCHED, EventsBefore
from tracer.checks.layout_14._steps import GUIDES, Scan, Step, is_diff, is_full, key_of, once, walk


@dataclass(frozen=True, slots=True)
class Switch:
    """A capability as the last of some events, or a diff without one, has left it."""

    name: str
    enabled: bool
    reason: str
    logged: bool


@dataclass(slots=True)
class Diff:
    """A diff of the session's World State. `seen_at` counts steps."""

    message: CheckedMessage
    seen_at: int
    capabilities: Mapping[str, Any]

    def turns_off(self, name: str) -> bool:
        """Whether it says that a capability is off, or no longer names it."""
        value = self.capabilities.get(name, True)
        return value is None or _is_on(value) is False


@dataclass(frozen=True, slots=True)
class View:
    """A step's capabilities.

    `schemas` are those that tools name, `guides` the places of the guides by capability. `state`
    are the switches of the World State as the model knows it (None: it has no whole state, or one
    without switches; a switch of None says neither), `state_at` where the last word on each stands.
    `switches` happened since the step before, `fresh` are the diffs that are new.
    """

    step: Step
    schemas: frozenset[str]
    guides: Mapping[str, int]
    unnamed_guides: bool
    state: Mapping[str, bool | None] | None
    state_at: Mapping[str, int]
    switches: tuple[Switch, ...]
    fresh: tuple[tuple[int, Diff], ...]

    def says(self, name: str) -> tuple[bool, bool, bool | None]:
        """Whether tools, guide and World State say that a capability is on."""
        state = None if self.state is None else self.state.get(name, False)
        return (name in self.schemas, name in self.guides, state)


def views(session: CheckedSession) -> Sequence[View]:
    """The capabilities at every step."""
    return once(session, "capabilities", _views)


def _views(session: CheckedSession) -> Iterator[View]:
    reader = _Reader(session)
    for step in walk(session):
        yield reader.at(step)


class _Reader:
    def __init__(self, session: CheckedSession) -> None:
        self._events = EventsBefore(session, SWITCHED)
        self._covered = Covered(session)
        self._scan = Scan(lambda m: m.note.kind == "world_state" and m.note.scope != "run")
        self._diffs: dict[str | bytes, Diff] = {}
        self._full: CheckedMessage | None = None
        self._full_at = 0
        self._steps = 0

    def at(self, step: Step) -> View:
        self._steps += 1
        found = self._scan.at(step)
        ids = self._covered.at(step)
        full = next((m for _, m in found if is_full(m)), None)
        if full is not self._full:
            self._full, self._full_at = full, self._steps
        fresh = tuple(self._fresh(found))
        guides = [(step.messages[i].note.capability, i) for i in step.indexes(GUIDES)]
        state, state_at = self._state(found, ids)
        return View(
            step,
            frozenset(t.capability for t in step.request.layout.tools if t.capability),
            {name: i for name, i in guides if name},
            any(not name for name, _ in guides),
            state,
            state_at,
            tuple(self._switches(step)),
            fresh,
        )

    def _switches(self, step: Step) -> Iterator[Switch]:
        """The last switch of each capability since the step before."""
        last = {}
        for event in self._events.at(step):
            name, enabled = event.fields.get("name"), event.fields.get("enabled")
            if isinstance(name, str) and isinstance(enabled, bool):
                last[name] = Switch(name, enabled, str(event.fields.get("reason", "")), True)
        yield from last.values()

    def _fresh(self, found: list[tuple[int, CheckedMessage]]) -> Iterator[tuple[int, Diff]]:
        for index, message in found:
            if is_diff(message) and key_of(message) not in self._diffs:
                diff = Diff(message, self._steps, _switches(message.note.patch or {}) or {})
                self._diffs[key_of(message)] = diff
                yield index, diff

    def _state(
        self, found: list[tuple[int, CheckedMessage]], ids: frozenset[str]
    ) -> tuple[Mapping[str, bool | None] | None, Mapping[str, int]]:
        """The full state with the diffs in the order in which they happened, those among them that
        a summary covers: the model knows them, as far as the full state is not newer."""
        switches = _switches((self._full.note.state or {}) if self._full else {})
        if switches is None:
            return None, {}
        places = {key_of(m): i for i, m in found}
        state = {name: _is_on(value) for name, value in switches.items()}
        base = places[key_of(self._full)] if self._full else 0
        state_at = dict.fromkeys(state, base)
        for key, diff in self._diffs.items():
            covered = key in ids and diff.seen_at >= self._full_at
            if key not in places and not covered:
                continue
            for name, value in diff.capabilities.items():
                if value is None:
                    state.pop(name, None)
                else:
                    state[name] = _is_on(value)
                state_at[name] = places.get(key, base)
        return state, state_at


def _switches(state: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The switches in a World State or a diff: an object by name, or the names of those that are
    on; None where it has none."""
    found = state.get("capabilities")
    if isinstance(found, list):
        return {name: True for name in found if isinstance(name, str)}
    return found if isinstance(found, dict) else None


def _is_on(value: object) -> bool | None:
    """What a switch says: true or false, or an object with `enabled`; None: something else."""
    if isinstance(value, dict):
        value = value.get("enabled")
    return value if isinstance(value, bool) else None
