"""The fold over the messages of all prompts of a session at once: each leg is looked at once.

A leg ends a message only for the prompts that go on with another message there, so each is taken
as the end of one, and starts again from where the fold stood before the message. Nearly all
messages are plain: what follows from a run of them is remembered, and costs one look.
"""

import re
from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple

from tracer.anatomy.mcs import Stand, step
from tracer.anatomy.messages import BlockReading, MessageReading, Sort, message_of, sort_of

GAP_AT_HEAD = -1
PLAIN_ROLES = {"user": "u", "assistant": "a", "tool": "t"}
"""The roles of plain blocks, with their letters: blocks of the conversation whose texts say nothing
(of the model, whatever they say), and which are no later block of a user's message, as that is read
as a whole."""
_NOTHING = BlockReading()
_GOES_ON = re.compile("[A-Z]+")
_PLAIN_SORTS = {letter: sort_of(role, (_NOTHING,)) for role, letter in PLAIN_ROLES.items()}


def _weighty(letters: str) -> str:
    """The messages of a run of plain blocks that the fold depends on: the first one, which may give
    evidence, and those from the last stop before the last one on. Behind the first one nothing
    waits, and a stop forgets what came before it."""
    messages = letters[0] + _GOES_ON.sub("", letters[1:])
    last = len(messages) - 1
    stop = max(messages.rfind("a", 1, last), messages.rfind("t", 1, last))
    return messages if stop < 0 else messages[0] + messages[stop:]


class Leg(NamedTuple):
    """A stretch of the tree: one node, or several plain ones that follow each other.

    The columns up to `role` are those of its last node, `parent_id` is where it goes on from.
    `depth` counts the blocks of the path that ends with it, `cum_chars` their characters. `tokens`
    and `uncounted` are sums over the leg: BPE counts, the agent's estimate for blocks that are not
    counted, and how many those are. `plain` has a letter a block, by PLAIN_ROLES, a capital for one
    that goes on with a message; it is empty for one node that is not plain.
    """

    id: int
    parent_id: int | None
    block_id: int
    message_index: int | None
    block_index: int
    part: str
    role: str
    depth: int
    cum_chars: int
    tokens: int
    uncounted: int
    plain: str = ""


class MarkedMessage(NamedTuple):
    """A message that says something: reminders, mid-conversation system text, or, of a user, a
    plugin's name. `first_index` is the place of its first block in the prompt, `before` where the
    fold stood before it, `blocks` the row ids of its blocks, `steps` the messages of the assistant
    before it."""

    message_index: int
    first_index: int
    blocks: tuple[int, ...]
    reading: MessageReading
    before: Stand
    steps: int = 0


class MessageFold:
    """Where the fold stands behind each leg."""

    def __init__(
        self,
        legs: Sequence[Leg],
        readings: Mapping[int, BlockReading],
        plugins: Container[int],
    ) -> None:
        self._legs = legs
        self._readings = readings
        self._plugins = plugins
        self._stands: dict[Stand, Stand] = {}
        self._steps: dict[tuple[int, str, str], Stand] = {}
        self._runs: dict[tuple[int, str], tuple[Stand, Stand]] = {}
        self._by_id: dict[int, Leg] = {}

    def after_plain(self, letters: str, before: Stand) -> tuple[Stand, Stand]:
        """Where the fold stands before the last message of a run of plain blocks, and behind it;
        `letters` as in a leg, `before` is where it stood before the first message."""
        key = (id(before), _weighty(letters))
        found = self._runs.get(key)
        if found is None:
            behind = before
            for letter in key[1]:
                before = behind
                reading = MessageReading(_PLAIN_SORTS[letter.lower()])
                behind = self._one(step(before, reading, 0))
            found = self._runs[key] = before, behind
        return found

    def after(
        self, leg: Leg, before: Stand, above_depth: int
    ) -> tuple[Stand, MarkedMessage | None]:
        """Where the fold stands behind the message that ends with a leg of one node, and what it
        says.

        `before` is where it stood before the message; `above_depth` the blocks before the node's.
        """
        block_id, part, role = leg.block_id, leg.part, leg.role
        if (
            block_id in self._readings
            or part == "mcs"
            or (leg.block_index and role == "user")
            and part != "gap"
        ):
            return self._read(leg, before, above_depth)
        # What follows from a message without reminders depends on its sort alone. Equal stands are
        # one object, which lives as long as this does: so its id can stand for it.
        key = (id(before), part, role)
        stand = self._steps.get(key)
        if stand is None:
            sort = sort_of(role, (_NOTHING,), gap=part == "gap", prefix=part == "system")
            stand = self._steps[key] = self._one(step(before, MessageReading(sort), 0))
        return stand, None

    def _one(self, stand: Stand) -> Stand:
        return self._stands.setdefault(stand, stand)

    def _read(
        self, leg: Leg, before: Stand, above_depth: int
    ) -> tuple[Stand, MarkedMessage | None]:
        index = leg.message_index
        assert index is not None
        blocks = self._blocks(leg)
        readings = [self._readings.get(block, _NOTHING) for block in blocks]
        reading = message_of(sort_of(leg.role, readings), readings)
        stand = self._one(step(before, reading, index))
        named = reading.sort is Sort.USER and any(block in self._plugins for block in blocks)
        if not (reading.spans or reading.sort is Sort.MCS or named):
            return stand, None
        first = above_depth - (len(blocks) - 1)
        return stand, MarkedMessage(index, first, blocks, reading, before)

    def _blocks(self, leg: Leg) -> tuple[int, ...]:
        """The blocks of a message as far as this node."""
        found = [leg.block_id]
        while leg.block_index and leg.parent_id is not None:
            self._by_id = self._by_id or {other.id: other for other in self._legs}
            above = self._by_id[leg.parent_id]
            if above.message_index != leg.message_index:
                break
            leg = above
            found.append(leg.block_id)
        return tuple(reversed(found))
