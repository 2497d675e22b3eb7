"""How each section, reminder source, tool and MCS message lived over the requests of a lane.

Pure and independent of prompts: a request is a sequence of items in order, an item has a key (who),
a content hash (what) and a place (where). Each request is compared with what was last known of each
key, so the work is linear in the items of all requests, but for the rare request whose order
differs from the one before, which costs a sort.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import NamedTuple

from tracer.anatomy.prompt import McsMessage, PlacedReminder, PlacedSection, PromptAnatomy
from tracer.hashing import digest
from tracer.model.prompt import Kind, Prompt, Tier


class Item(NamedTuple):
    """One thing that a request carried. `place` is compared for equality only: a message index for
    a section, the kind of carrier for a reminder."""

    key: str
    content: str
    place: str = ""


class Cell(StrEnum):
    """What became of a key in one request.

    APPEARED: not in the request before (or never seen). SAME, CHANGED: its content. MOVED: the same
    content at another place, or in another order. GONE: it was in the request before. UNSEEN: the
    log does not show enough of this request to tell.
    """

    APPEARED = "appeared"
    SAME = "same"
    CHANGED = "changed"
    MOVED = "moved"
    GONE = "gone"
    UNSEEN = "unseen"


class Request(NamedTuple):
    """The items of one request, in order; `complete` is false where some may be hidden."""

    items: Sequence[Item]
    complete: bool = True


class Groups(NamedTuple):
    """The items of one request by kind."""

    tools: Request
    sections: Request
    reminders: Request
    mcs: Request


@dataclass(frozen=True, slots=True)
class Run:
    """The same cell in requests `first` to `last`, counted from 0, both included."""

    cell: Cell
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class PresenceRow:
    """One key over all requests; requests between two runs did not carry it."""

    key: str
    runs: tuple[Run, ...]


def presence_cells(requests: Iterable[Request]) -> Iterator[list[tuple[str, Cell]]]:
    """For each request the cells of the keys that it carries, in order, then of those that are gone
    or unseen. A key that stays away has a cell only where it goes."""
    fold = _Fold()
    for request in requests:
        yield fold.cells(request)


def presence_rows(requests: Iterable[Request]) -> tuple[PresenceRow, ...]:
    """The rows of the matrix: keys in the order of their first appearance, equal cells that follow
    each other put together.

    A request that is given as the same object as the one before costs nothing: from the second
    time on its cells stay what they are.
    """
    runs: dict[str, list[Run]] = {}
    fold, index = _Fold(), 0
    for _, same in groupby(requests, key=id):
        stretch = list(same)
        end = index + len(stretch)
        _extend(runs, fold.cells(stretch[0]), index, index)
        if len(stretch) > 1:
            _extend(runs, fold.cells(stretch[0]), index + 1, end - 1)
        index = end
    return tuple(PresenceRow(key, tuple(own)) for key, own in runs.items())


def _extend(
    runs: dict[str, list[Run]], cells: Iterable[tuple[str, Cell]], first: int, last: int
) -> None:
    """Add the cells of requests `first` to `last`, which are the same for each of them."""
    for key, cell in cells:
        own = runs.setdefault(key, [])
        if own and own[-1].cell is cell and own[-1].last == first - 1:
            own[-1] = Run(cell, own[-1].first, last)
        else:
            own.append(Run(cell, first, last))


class _Fold:
    """What was last known of each key."""

    def __init__(self) -> None:
        self._last: dict[str, Item] = {}
        self._away: set[str] = set()
        self._order: list[str] = []

    def cells(self, request: Request) -> list[tuple[str, Cell]]:
        """The cells of the next request."""
        last, away = self._last, self._away
        items = dict(zip(numbered(request.items), request.items, strict=True))
        moved = _moved(self._order, list(items), last.keys() - away)
        cells = []
        for key, item in items.items():
            before = None if key in away else last.get(key)
            cells.append((key, _cell(before, item, key in moved)))
        missing = [key for key in last if key not in items and key not in away]
        for key in missing:
            cells.append((key, Cell.GONE if request.complete else Cell.UNSEEN))
        if request.complete:
            away.update(missing)
        away.difference_update(items)
        last.update(items)
        self._order = list(items)
        return cells


def numbered(items: Iterable[Item]) -> list[str]:
    """The keys of items in a matrix; what shares a key is told apart by a number."""
    keys: list[str] = []
    counts: dict[str, int] = {}
    for item in items:
        count = counts[item.key] = counts.get(item.key, 0) + 1
        keys.append(item.key if count == 1 else f"{item.key} ({count})")
    return keys


def _cell(before: Item | None, item: Item, out_of_order: bool) -> Cell:
    if before is None:
        return Cell.APPEARED
    if before.content != item.content:
        return Cell.CHANGED
    return Cell.MOVED if out_of_order or before.place != item.place else Cell.SAME


def _moved(before: list[str], now: list[str], known: set[str]) -> set[str]:
    """The fewest keys that must have moved for the order of the others to be kept."""
    rank = {key: i for i, key in enumerate(before)}
    common = [key for key in now if key in rank and key in known]
    ranks = [rank[key] for key in common]
    if all(a < b for a, b in zip(ranks, ranks[1:], strict=False)):
        return set()
    return set(common) - {common[i] for i in _longest_increasing(ranks)}


def _longest_increasing(values: Sequence[int]) -> list[int]:
    """The indexes of a longest increasing subsequence."""
    tails: list[int] = []
    at: list[int] = []
    before: list[int] = []
    for i, value in enumerate(values):
        k = bisect_left(tails, value)
        before.append(at[k - 1] if k else -1)
        if k == len(tails):
            tails.append(value)
            at.append(i)
        else:
            tails[k], at[k] = value, i
    out = []
    i = at[-1] if at else -1
    while i >= 0:
        out.append(i)
        i = before[i]
    return out[::-1]


def items_of(prompt: Prompt, anatomy: PromptAnatomy) -> Request:
    """The items of a prompt: its tools, sections, reminder sources and MCS messages."""
    groups = groups_of(prompt, anatomy)
    return Request([item for group in groups for item in group.items], not anatomy.gaps)


def groups_of(prompt: Prompt, anatomy: PromptAnatomy) -> Groups:
    """The items of a prompt by kind. Groups never mix: the rows of a group can be made alone."""
    whole = not anatomy.gaps
    tools = [b for b in prompt.blocks if b.block.tier is Tier.TOOLS]
    known = [(b.block.name, b.wire_hash) for b in tools if b.block.kind is not Kind.GAP]
    return Groups(
        tools=Request(tool_items(known), len(known) == len(tools)),
        sections=Request(section_items(anatomy.sections), whole),
        reminders=Request(reminder_items(anatomy.reminders), whole),
        mcs=Request(mcs_items(anatomy.mcs_messages), whole),
    )


def tool_items(tools: Iterable[tuple[str, bytes]]) -> tuple[Item, ...]:
    """The items of tools, given as name and hash."""
    return tuple(Item(f"tool {name}", wire_hash.hex()) for name, wire_hash in tools)


def section_items(sections: Iterable[PlacedSection]) -> tuple[Item, ...]:
    """The items of sections: each moves where it stands in another message."""
    return tuple(
        Item(f"section {s.source}", s.content_hash, str(s.message_index)) for s in sections
    )


def reminder_items(reminders: Iterable[PlacedReminder]) -> tuple[Item, ...]:
    """One item a source, whatever the number of its notes: its content is all of them, so one more
    note changes it, and it moves where it changes its carrier (tag, system text). Notes that a tool
    may have printed are left out."""
    notes: dict[str, tuple[list[str], list[str]]] = {}
    for reminder in reminders:
        if reminder.counted:
            contents, carriers = notes.setdefault(reminder.source, ([], []))
            contents.append(reminder.content_hash)
            carriers.append(reminder.via)
    return tuple(
        Item(
            f"reminder {source}",
            digest(",".join(contents).encode()).hex(),
            "+".join(dict.fromkeys(carriers)),
        )
        for source, (contents, carriers) in notes.items()
    )


def mcs_items(messages: Iterable[McsMessage]) -> tuple[Item, ...]:
    """The items of MCS messages: each is known by its place in the list."""
    return tuple(
        Item(f"mcs {m.message_index}", m.content_hash, str(m.message_index)) for m in messages
    )
