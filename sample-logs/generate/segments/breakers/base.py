"""What a breaker is: it changes a healthy trace so that one rule, and only that, is broken."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from generate.segments.trace import Built, Message, Note, Trace

T = TypeVar("T")
Pick: TypeAlias = Callable[[Sequence[T]], T]


@dataclass(frozen=True)
class Broken:
    """Where the rule is first broken. `index` is that of the message which shows it; None: the
    request as a whole."""

    request: str
    index: int | None = None


Breaker: TypeAlias = Callable[[Trace, "Pick[object]"], Broken | None]


@dataclass(frozen=True)
class Break:
    """One way to break a rule. `shows` tells it to the readers of the samples."""

    rule: str
    name: str
    shows: str
    apply: Breaker


def at(built: Built, number: int) -> list[Message]:
    """The messages of a segment; none where it is absent."""
    return next((found for n, found in built.segments if n == number), [])


def find(built: Built, message_id: str) -> Message | None:
    """The message with that id in a prompt."""
    return next((m for m in built.messages() if m.id == message_id), None)


def remove(built: Built, *ids: str) -> None:
    """Take messages out of a prompt, wherever they stand."""
    for _, messages in built.segments:
        messages[:] = [m for m in messages if m.id not in ids]
    built.segments = [(n, found) for n, found in built.segments if found]


def forget(trace: Trace, message_id: str) -> None:
    """Let it be as if a message had never been written."""
    for item in trace.items:
        covers = []
        if isinstance(item, Built):
            remove(item, message_id)
            covers = [m.keys for m in at(item, 6)]
        elif isinstance(item, Note):
            covers = [item.keys] if "covers" in item.keys else []
        for keys in covers:
            keys["covers"] = [name for name in keys["covers"] if name != message_id]


def rewrite(built: Built, message_id: str, change: Callable[[Message], None]) -> None:
    """Change a message of a prompt, if it is there."""
    message = find(built, message_id)
    if message is not None:
        change(message)


def later(trace: Trace, built: Built, *, run_only: bool = False) -> list[Built]:
    """A prompt and those behind it, in its run only or in the whole session."""
    every = trace.built()
    start = next(i for i, item in enumerate(every) if item is built)
    return [item for item in every[start:] if not run_only or item.run == built.run]


def first_of_runs(trace: Trace) -> list[Built]:
    """The first prompt of every run but the first one."""
    every = trace.built()
    return [b for a, b in zip(every, every[1:], strict=False) if a.run != b.run]


def pairs(trace: Trace, *, same_run: bool = False) -> list[tuple[Built, Built]]:
    """Each prompt with the one behind it."""
    every = trace.built()
    found = list(zip(every, every[1:], strict=False))
    return [(a, b) for a, b in found if not same_run or a.run == b.run]


def clone(message: Message) -> Message:
    """The same message as an object of its own."""
    return deepcopy(message)
