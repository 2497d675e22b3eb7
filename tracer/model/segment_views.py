"""How a request's prompt was laid out, and what the model knew of its world."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tracer.model.segments import ToolNote

CHANGE_WORDS: Mapping[str, str] = {
    "first": "",
    "new": "not in the request before",
    "same": "the same bytes",
    "grown": "grown: the same bytes, and more",
    "changed": "other bytes",
}
"""What became of a segment since the request before, by its `change`."""


@dataclass(frozen=True, slots=True)
class SegmentView:
    """One segment. Tokens are BPE counts where `counted`, else the estimate. `kinds` are those of
    its messages with how many there are. `change` compares it with the same segment of the request
    before in the lane: `first` (there is none), `new`, `same`, `grown`, `changed`."""

    n: int
    name: str
    group: str
    first_message: int
    messages: int
    chars: int
    tokens: int
    counted: bool
    kinds: tuple[tuple[str, int], ...]
    change: str


@dataclass(frozen=True, slots=True)
class GroupSize:
    """The size of a group of segments (`prefix`, `history`, `tail`, `other`), or of the `tools`,
    which are counted in place of messages."""

    group: str
    messages: int
    chars: int
    tokens: int
    counted: bool


@dataclass(frozen=True, slots=True)
class StateValue:
    """One value of a World State: the keys that lead to it, and its JSON."""

    path: tuple[str, ...]
    json: str


@dataclass(frozen=True, slots=True)
class StateView:
    """What the model knew of its session or its run. `full_message` is the message of the full
    state, None where the prompt holds diffs only: then `state` is not all."""

    scope: str
    state: Mapping[str, Any]
    values: tuple[StateValue, ...]
    full_message: int | None
    diffs: int


@dataclass(frozen=True, slots=True)
class StateChangeView:
    """One value that the request before had otherwise. `before` and `after` are JSON, empty where
    there was or is no such value."""

    scope: str
    path: tuple[str, ...]
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class WorldView:
    """What the model knew at a request, and what of it changed since request `since_seq` (None:
    there is none before it in its lane)."""

    session: StateView | None
    run: StateView | None
    changes: tuple[StateChangeView, ...]
    since_seq: int | None


@dataclass(frozen=True, slots=True)
class CapabilityView:
    """A capability at a request: are tools of it there, and a guide, and what does the session's
    World State say (None: nothing)?"""

    name: str
    tools: int
    guide: bool
    state: bool | None


@dataclass(frozen=True, slots=True)
class SkillView:
    """A skill whose text stands in the prompt: as of the run's start, on the way, or in history."""

    name: str
    where: str
    message: int


@dataclass(frozen=True, slots=True)
class SummaryView:
    """A summary: how many messages it covers, the first and the last of them."""

    message: int
    covers: int
    first: str
    last: str


@dataclass(frozen=True, slots=True)
class RequestSegments:
    """The layout of one request. `layout` is empty for a plain list of messages; `known` tells that
    its segments have names. `transaction` is the content of segment 14 as values, empty where there
    is none. `unresolved` are ids that nothing defines; `extra_json` are keys that are not known."""

    layout: str
    known: bool
    segments: tuple[SegmentView, ...]
    groups: tuple[GroupSize, ...]
    tools: tuple[ToolNote, ...]
    world: WorldView
    capabilities: tuple[CapabilityView, ...]
    skills: tuple[SkillView, ...]
    summary: SummaryView | None
    transaction: tuple[StateValue, ...]
    unresolved: tuple[str, ...]
    extra_json: str
