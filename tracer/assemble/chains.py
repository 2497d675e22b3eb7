"""Sums along the prompts of a session, computed once for all of its nodes.

A session's prompts are a tree: a request's prompt is the path from the root to its node. Sums and
lists over a path are therefore extended from the parent's, and each node is visited once, however
many requests carry it. Parents must come before their children.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from tracer.model.prompt import Part

PARTS = tuple(Part)
_PART_AT = {part: i for i, part in enumerate(PARTS)}
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Link(Generic[T]):
    """A list that shares its beginning with other lists."""

    value: T
    before: "Link[T] | None"


def unlink(link: Link[T] | None) -> list[T]:
    """The values of a linked list, first to last."""
    values = []
    while link is not None:
        values.append(link.value)
        link = link.before
    values.reverse()
    return values


class ChainNode(NamedTuple):
    """One node: its block's part and sizes. `tokens` is the BPE count where `counted`, else the
    agent's estimate. `name` is a tool's name; `mark` is set for reminders and MCS messages."""

    id: int
    parent_id: int | None
    message_index: int | None
    starts_message: bool
    part: Part
    role: str
    chars: int
    tokens: int
    counted: bool
    name: str = ""
    mark: str = ""


class Sums(NamedTuple):
    """Over a path: per part (in the order of PARTS) blocks, chars and tokens; roles; what was not
    counted; tool names, and the marked nodes as (part, message index, mark)."""

    depth: int
    blocks: tuple[int, ...]
    chars: tuple[int, ...]
    tokens: tuple[int, ...]
    uncounted: int
    roles: dict[str, int]
    tools: Link[str] | None
    marks: Link[tuple[Part, int | None, str]] | None
    parent_id: int | None

    @property
    def total_tokens(self) -> int:
        """Tokens of the whole path."""
        return sum(self.tokens)


_ZERO = (0,) * len(PARTS)
EMPTY = Sums(0, _ZERO, _ZERO, _ZERO, 0, {}, None, None, None)


def path_sums(nodes: Iterable[ChainNode]) -> dict[int, Sums]:
    """The sums of each node's path, by node id."""
    sums: dict[int, Sums] = {}
    for node in nodes:
        above = sums[node.parent_id] if node.parent_id is not None else EMPTY
        at = _PART_AT[node.part]
        roles = above.roles
        if node.starts_message and node.role:
            roles = {**roles, node.role: roles.get(node.role, 0) + 1}
        sums[node.id] = Sums(
            above.depth + 1,
            _add(above.blocks, at, 1),
            _add(above.chars, at, node.chars),
            _add(above.tokens, at, node.tokens),
            above.uncounted + (not node.counted),
            roles,
            Link(node.name, above.tools) if node.name else above.tools,
            Link((node.part, node.message_index, node.mark), above.marks)
            if node.mark
            else above.marks,
            node.parent_id,
        )
    return sums


def _add(values: tuple[int, ...], at: int, amount: int) -> tuple[int, ...]:
    return (*values[:at], values[at] + amount, *values[at + 1 :])


class PathWalker:
    """Common prefixes of consecutive prompts: the work is what is new, not the prompt's length."""

    def __init__(self, sums: dict[int, Sums]) -> None:
        self._sums = sums
        self._path: list[int] = []
        self._on_path: dict[int, int] = {}

    def step(self, node_id: int) -> int | None:
        """The deepest node that this prompt shares with the one of the step before; None where
        they share nothing."""
        fresh = []
        current: int | None = node_id
        while current is not None and current not in self._on_path:
            fresh.append(current)
            current = self._sums[current].parent_id
        keep = self._on_path[current] + 1 if current is not None else 0
        for gone in self._path[keep:]:
            del self._on_path[gone]
        del self._path[keep:]
        for node in reversed(fresh):
            self._on_path[node] = len(self._path)
            self._path.append(node)
        return current
