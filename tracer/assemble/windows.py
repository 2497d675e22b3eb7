"""Undoing the windows of a log that writes only a part of each message list.

A record carries the whole list (`full`), what came after the previous record (`delta`), or its last
messages (`tail`); see formats/zcode.md 3.6. Undoing them gives the whole list, and this module is
honest about it: `verified_from` is the first index that the record itself proves. Everything before
is carried over from other records or unknown, however plausible it looks; a `delta` is written on
the strength of sampled fingerprints, which can lie.

Messages are any hashable values that compare equal when their content does (cache markers are not
part of it). None stands for a message that no record has shown.

Several lists live in one file at the same time: a title or compaction call between two steps of a
turn, or two processes that append to one file, each with its own idea of the previous record. So
the last few lists are kept, and a window is laid on the one that it fits.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Generic, TypeVar

from tracer.model.events import WindowKind

T = TypeVar("T")

KEPT_LISTS = 8


class Carry(StrEnum):
    """Where the messages before `verified_from` come from.

    NONE: there are none. SEQUENCE: the previous record ended exactly where this one begins.
    EARLIER: an earlier record did. OVERLAP: a tail whose visible messages agree with a known list.
    LOST: nothing known fits; those messages are unknown.
    """

    NONE = "none"
    SEQUENCE = "sequence"
    EARLIER = "earlier"
    OVERLAP = "overlap"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Undone(Generic[T]):
    """A whole message list. `base` is the known list it was laid on, `base_equal` how many of its
    leading messages are the very same objects or equal to this list's."""

    messages: list[T | None]
    verified_from: int
    carry: Carry
    base: list[T | None] | None
    base_equal: int


class Windows(Generic[T]):
    """The lists of one file, newest last. `undo` takes the records in file order.

    A list belongs to the segment of the file that its record stood in. The last KEPT_LISTS lists
    and where the segment begins among them are all there is to know: a reader that is told the
    same of a file that was read before goes on as if it had read it itself.
    """

    def __init__(self, known: Sequence[list[T | None]] = (), of_earlier_segments: int = 0) -> None:
        self._lists: deque[list[T | None]] = deque(known, maxlen=KEPT_LISTS)
        self._earlier = max(of_earlier_segments - max(len(known) - KEPT_LISTS, 0), 0)

    def begin_segment(self) -> None:
        """The file shrank or was created anew: what follows is not the next record of a sequence.
        A delta at its beginning fits nothing; a tail may still agree with a list that was known
        before."""
        self._earlier = len(self._lists)

    def undo(self, kind: WindowKind, offset: int, count: int, items: list[T]) -> Undone[T]:
        """The whole list of one record, and remembers it.

        `offset` is the index of `items[0]`, `count` the length of the whole list; a list that is
        shorter than `count` ends in unknown messages, a longer one is cut.
        """
        if kind is WindowKind.DELTA and offset > 0:
            undone = self._delta(offset, items)
        elif kind is WindowKind.TAIL and offset > 0:
            undone = self._tail(offset, count, items)
        else:
            undone = self._full(items)
        _fit(undone.messages, count)
        self.remember(undone.messages)
        if undone.base_equal > count or undone.verified_from > count:
            undone = replace(
                undone,
                base_equal=min(undone.base_equal, count),
                verified_from=min(undone.verified_from, count),
            )
        return undone

    def remember(self, messages: list[T | None]) -> None:
        """Keep a list as the newest. A changed copy of the newest list replaces it."""
        if self._lists and self._lists[-1] is messages:
            return
        if len(self._lists) == KEPT_LISTS and self._earlier:
            self._earlier -= 1
        self._lists.append(messages)

    def replace_newest(self, messages: list[T | None]) -> None:
        """Put a corrected list in the place of the one that `undo` has just remembered."""
        self._lists[-1] = messages

    def _full(self, items: list[T]) -> Undone[T]:
        best, equal = None, 0
        for known in reversed(self._lists):
            n = _equal_from(known, items, 0)
            if n > equal:
                best, equal = known, n
                if n == len(known):
                    break
        return Undone(list(items), 0, Carry.NONE, best, equal)

    def _delta(self, offset: int, items: list[T]) -> Undone[T]:
        if len(self._lists) == self._earlier:
            return _lost(offset, items)  # the segment begins with it
        for age, known in enumerate(reversed(self._lists)):
            if len(known) == offset:
                carry = Carry.SEQUENCE if age == 0 else Carry.EARLIER
                return _laid_on(known, offset, items, carry, offset)
        return _lost(offset, items)

    def _tail(self, offset: int, count: int, items: list[T]) -> Undone[T]:
        best: list[T | None] | None = None
        best_overlap = 0
        for known in reversed(self._lists):
            # A list that got shorter was compacted or rewound: its beginning may be another one.
            if len(known) <= offset or count < len(known):
                continue
            overlap = _equal_from(known, items, offset)
            if overlap > best_overlap:
                best, best_overlap = known, overlap
                if overlap == len(known) - offset:
                    break
        if best is None:
            return _lost(offset, items)
        return _laid_on(best, offset, items, Carry.OVERLAP, offset + best_overlap)


def _laid_on(
    base: list[T | None], offset: int, items: list[T], carry: Carry, equal: int
) -> Undone[T]:
    if base.count(None) >= offset and not any(m is not None for m in base[:offset]):
        return _lost(offset, items)  # what it would carry over is not known either
    return Undone([*base[:offset], *items], offset, carry, base, equal)


def _lost(offset: int, items: list[T]) -> Undone[T]:
    unknown: list[T | None] = [None] * offset
    return Undone([*unknown, *items], offset, Carry.LOST, None, 0)


def _equal_from(known: list[T | None], items: list[T], offset: int) -> int:
    """How many messages of `items` equal `known[offset:]` from its first on."""
    return equal_length(known[offset : offset + len(items)], items)


def equal_length(a: Sequence[object], b: Sequence[object]) -> int:
    """How many values at the head of two lists are equal: both lists, or both tuples. Compared in
    halves, since whole stretches compare many times faster than value by value."""
    low, high = 0, min(len(a), len(b))
    if a[:high] == b[:high]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle
    return low


def _fit(messages: list[T | None], count: int) -> None:
    if len(messages) > count:
        del messages[count:]
    elif len(messages) < count:
        messages.extend([None] * (count - len(messages)))
