"""Sums along the prompts of a session, computed once for all of them.

A session's prompts are a tree: a request's prompt is the path from the root to its node. Sums and
lists over a path are therefore extended from the parent's, and each leg of the tree is visited
once, however many requests carry it. Parents must come before their children.

So are the folds over the messages of a path: where the fold of `tracer.anatomy.mcs` stands, and the
messages that say something (`tracer.assemble.marked`).
"""

from collections.abc import Container, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from tracer.anatomy.mcs import START
from tracer.anatomy.messages import BlockReading
from tracer.assemble.marked import GAP_AT_HEAD, PLAIN_ROLES, Leg, MarkedMessage, MessageFold
from tracer.model.prompt import Part

PARTS = tuple(Part)
_PART_AT: dict[str, int] = {part.value: i for i, part in enumerate(PARTS)}
_N = len(PARTS)
_GAP = PARTS.index(Part.GAP)
T = TypeVar("T")


class Link(NamedTuple, Generic[T]):
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
    """One node and what a verdict needs of its block. `bpe_tokens` is None where the block is not
    counted yet; `cum_*` are sums over the prefix that ends with the node."""

    id: int
    parent_id: int | None
    block_id: int
    message_index: int | None
    block_index: int
    part: str
    role: str
    cum_chars: int
    cum_estimate_tokens: int
    bpe_tokens: int | None


class Sizes:
    """Over a path: blocks, chars and tokens per part (in the order of PARTS), messages per role,
    and blocks that are not counted. Tokens are BPE counts, or the agent's estimate for a block that
    is not counted."""

    __slots__ = ("_roles", "_values", "cum_chars", "depth", "total_tokens", "uncounted")

    def __init__(self, depth: int, values: list[int], roles: Sequence[str]) -> None:
        self.depth = depth
        self.total_tokens = 0
        self.uncounted = 0
        self.cum_chars = 0
        self._values = values
        self._roles = roles

    def add(self, leg: Leg, above: "Sizes", begun: Mapping[str, int]) -> None:
        """Add a leg to these sizes, which are a copy of those above it; `begun` counts the messages
        that begin in it, by role."""
        values, at = self._values, _PART_AT[leg.part]
        values[at] += leg.depth - above.depth
        values[at + _N] += leg.cum_chars - above.cum_chars
        values[at + 2 * _N] += leg.tokens
        self.total_tokens = above.total_tokens + leg.tokens
        self.uncounted = above.uncounted + leg.uncounted
        self.cum_chars = leg.cum_chars
        for role, count in begun.items():
            values[3 * _N + self._roles.index(role)] += count

    def emptied(self) -> "Sizes":
        """The sizes of the empty prompt of the same session."""
        return Sizes(0, [0] * len(self._values), self._roles)

    def below(self, leg: Leg) -> "Sizes":
        """The sizes of a plain leg that goes on from these."""
        here = Sizes(leg.depth, self._values.copy(), self._roles)
        here.add(leg, self, messages_begun(leg.plain))
        return here

    @property
    def blocks(self) -> list[int]:
        """Blocks per part."""
        return self._values[:_N]

    @property
    def has_gap(self) -> bool:
        """True where some of the prompt is unknown."""
        return self._values[_GAP] > 0

    @property
    def chars(self) -> list[int]:
        """UTF-16 units per part."""
        return self._values[_N : 2 * _N]

    @property
    def tokens(self) -> list[int]:
        """Tokens per part."""
        return self._values[2 * _N : 3 * _N]

    @property
    def roles(self) -> dict[str, int]:
        """Messages per role, in the order in which roles first appear in the session."""
        counts = zip(self._roles, self._values[3 * _N :], strict=False)
        return {role: count for role, count in counts if count}


EMPTY = Sizes(0, [0] * (3 * _N), ())


class Sums(Sizes):
    """Beside the sizes of a path its tools (block row ids, that of a gap for unknown ones
    included), and the messages that say something.

    `whole` is false where a message is unknown. `head` is the node that ends the leading system
    messages (0: there is none; GAP_AT_HEAD: the beginning is unknown); `stand` is where the fold
    over the messages is, `before` where it was before the message to which the node belongs.
    """

    __slots__ = ("before", "head", "marks", "marks_before", "stand", "tools", "whole")

    def __init__(self, depth: int, values: list[int], roles: Sequence[str]) -> None:
        super().__init__(depth, values, roles)
        self.tools: Link[int] | None = None
        self.marks: Link[MarkedMessage] | None = None
        self.marks_before: Link[MarkedMessage] | None = None
        self.stand = self.before = START
        self.head = 0
        self.whole = True

    def copy(self, depth: int) -> "Sums":
        """The same at another depth, to be added to."""
        here = Sums(depth, self._values.copy(), self._roles)
        here.tools = self.tools
        here.marks = self.marks
        here.stand = self.stand
        here.head = self.head
        here.whole = self.whole
        return here


def path_sums(
    legs: Sequence[Leg],
    readings: Mapping[int, BlockReading] | None = None,
    plugins: Container[int] = (),
) -> dict[int, Sums]:
    """The sums of the path that ends with each leg, by the id of the leg.

    `readings` is what the texts of blocks say, by the blocks' row ids; `plugins` are those of the
    user's blocks that name a plugin.

    One list copy a leg; the lists of tools and marks share their beginnings.
    """
    roles: dict[str, None] = {}
    for plain, inside, role in dict.fromkeys(
        (leg.plain, leg.block_index, leg.role) for leg in legs
    ):
        roles |= dict.fromkeys(messages_begun(plain, inside, role))
    roles |= dict.fromkeys(PLAIN_ROLES)
    root = Sums(0, [0] * (3 * _N + len(roles)), tuple(roles))
    sums: dict[int, Sums] = {}
    fold = MessageFold(legs, readings or {}, plugins)
    for leg in legs:
        above = root if leg.parent_id is None else sums[leg.parent_id]
        here = sums[leg.id] = above.copy(leg.depth)
        if leg.message_index is None:
            here.add(leg, above, {})
        else:
            here.add(leg, above, messages_begun(leg.plain, leg.block_index, leg.role))
            _add_messages(fold, leg, above, here)
        if leg.part == "tools" or (leg.message_index is None and leg.part == "gap"):
            here.tools = Link(leg.block_id, above.tools)
    return sums


def messages_begun(plain: str, block_index: int = 0, role: str = "") -> dict[str, int]:
    """How many messages of each role begin in a leg."""
    if plain:
        counts = {name: plain.count(letter) for name, letter in PLAIN_ROLES.items()}
        return {name: count for name, count in counts.items() if count}
    return {role: 1} if role and block_index == 0 else {}


def _add_messages(fold: MessageFold, leg: Leg, above: Sums, here: Sums) -> None:
    """Take the message in which a leg ends as if it ended there."""
    part, plain = leg.part, leg.plain
    begins = plain[0].islower() if plain else leg.block_index == 0
    before = above.stand if begins else above.before
    marks = here.marks_before = above.marks if begins else above.marks_before
    if plain:
        here.before, here.stand = fold.after_plain(plain, before)
        here.marks = marks
        return
    here.before = before
    here.stand, marked = fold.after(leg, before, above.depth)
    if marked is not None:
        marks = Link(marked._replace(steps=above.roles.get("assistant", 0)), marks)
    here.marks = marks
    if part == "system":
        if above.head != GAP_AT_HEAD:
            here.head = leg.id
    elif part == "gap":
        here.whole = False
        if before is START:
            here.head = GAP_AT_HEAD
