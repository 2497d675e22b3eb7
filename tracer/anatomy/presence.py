"""How each section, reminder source, tool and MCS message lived over the requests of a lane.

Pure and independent of prompts: a request is a sequence of items in order, an item has a key (who),
a content hash (what) and a place (where). Each request is compared with what was last known of each
key, so the work is at most linear in the items of all requests, but for the rare request whose
order differs from the one before, which costs a sort.

What a request's own record does not prove is unseen, however plausible: an edit under the window of
a log would not show there.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from tracer.anatomy.prompt import McsMessage, PlacedReminder, PlacedSection, PromptAnatomy
from tracer.hashing import digest
from tracer.model.prompt import Kind, Prompt, Tier

IN_SYSTEM = -1


class Item(NamedTuple):
    """One thing that a request carried. `place` is compared for equality only: a message index for
    a section, the kind of carrier for a reminder. It stands in messages `first` to `last`; what
    stands in a system block before all messages has IN_SYSTEM for both."""

    key: str
    content: str
    place: str = ""
    first: int = 0
    last: int = 0


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
    """The items of one request, in order; `complete` is false where a message is unknown.

    Its record proves the messages from `shown_from` on, and the system blocks where `system_shown`;
    the items before them are carried over from other records. Items stand in the order of `first`.
    """

    items: Sequence[Item]
    complete: bool = True
    shown_from: int = 0
    system_shown: bool = True

    def shows(self, item: Item) -> bool:
        """Whether the record proves every message in which an item stands."""
        return self.system_shown if item.first == IN_SYSTEM else item.first >= self.shown_from

    def shows_news(self, item: Item) -> bool:
        """Whether it proves the last of them."""
        return self.system_shown if item.last == IN_SYSTEM else item.last >= self.shown_from

    def ends(self, item: Item) -> bool:
        """Whether an item of an earlier request that is not among these is gone for certain: what
        is unknown, or not proven, may hide it."""
        return self.shows(item) and (self.complete or item.first == IN_SYSTEM)

    def follows(self, before: "Request") -> bool:
        """Whether it has the items of the request before, at least as many of them hidden, and
        none but proven ones behind them."""
        count = len(before.items)
        return (
            before.complete == self.complete
            and before.system_shown == self.system_shown
            and before.shown_from <= self.shown_from
            and len(self.items) >= count
            and self.items[:count] == before.items
            and all(self.shows(item) for item in self.items[count:])
        )


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


def presence_rows(requests: Iterable[Request]) -> tuple[PresenceRow, ...]:
    """The rows of the matrix: keys in the order of their first appearance, equal cells that follow
    each other put together.

    The work is that of what differs from the request before: one that is the same object costs a
    look, one with more items behind the same ones costs those.
    """
    fold, rows = Fold(), _Rows()
    before: Request | None = None
    for request in requests:
        if request is before and not fold.partly:
            rows.same()
        elif before is not None and request.follows(before):
            rows.next(fold.more(before, request), whole=False)
        else:
            rows.next(fold.cells(request), whole=True)
        before = request
    return rows.done()


class _Rows:
    """Runs in the making. A key stays in its run until a request says otherwise."""

    def __init__(self) -> None:
        self._runs: dict[str, list[Run]] = {}
        self._open: dict[str, tuple[Cell, int]] = {}
        self._fresh: list[str] = []
        self._going: list[str] = []
        self._count = 0

    def next(self, cells: Iterable[tuple[str, Cell]], *, whole: bool) -> None:
        """The next request. `whole` tells that `cells` are all of its cells; else whatever it does
        not name is as it was."""
        going, fresh = self._going, self._fresh
        self._going, self._fresh = [], []
        told = set()
        for key, cell in cells:
            told.add(key)
            self._put(key, cell)
        if not whole:
            for key in fresh:
                if key not in told:
                    self._put(key, Cell.SAME)
        for key in [*self._open] if whole else going:
            if key not in told:
                self._close(key)
        self._count += 1

    def same(self) -> None:
        """The next request, of which nothing is new."""
        if self._fresh or self._going:
            self.next((), whole=False)
        else:
            self._count += 1

    def _put(self, key: str, cell: Cell) -> None:
        if cell is Cell.GONE:
            self._going.append(key)
        elif cell not in (Cell.SAME, Cell.UNSEEN):
            self._fresh.append(key)
        if key not in self._open:
            self._runs.setdefault(key, [])
        elif self._open[key][0] is cell:
            return
        else:
            self._close(key)
        self._open[key] = cell, self._count

    def _close(self, key: str) -> None:
        cell, first = self._open.pop(key)
        self._runs[key].append(Run(cell, first, self._count - 1))

    def done(self) -> tuple[PresenceRow, ...]:
        """All rows."""
        for key in self._going:  # nothing follows
            self._close(key)
        for key in list(self._open):
            self._close(key)
        return tuple(PresenceRow(key, tuple(own)) for key, own in self._runs.items())


class Fold:
    """What was last known of each key."""

    def __init__(self) -> None:
        self._last: dict[str, Item] = {}
        self._away: set[str] = set()
        self._order: list[str] = []
        self._counts: dict[str, int] = {}
        self.partly: list[str] = []
        """Keys of which the request before proved the news only."""

    def cells(self, request: Request) -> list[tuple[str, Cell]]:
        """The cells of the next request."""
        last, away = self._last, self._away
        self._counts, self.partly = {}, []
        keys = _keys(request.items, self._counts)
        items = dict(zip(keys, request.items, strict=True))
        moved = _moved(self._order, keys, last.keys() - away)
        cells = []
        for key, item in items.items():
            before = None if key in away else last.get(key)
            cell = _cell(before, item, key in moved)
            if not request.shows(item):
                cell = self._hidden(key, item, cell, request)
            if cell is not Cell.UNSEEN:
                last[key] = item
                away.discard(key)
            cells.append((key, cell))
        missing = [key for key in last if key not in items and key not in away]
        for key in missing:
            ends = request.ends(last[key])
            cells.append((key, Cell.GONE if ends else Cell.UNSEEN))
            if ends:
                away.add(key)
        self._order = keys
        return cells

    def _hidden(self, key: str, item: Item, cell: Cell, request: Request) -> Cell:
        """What is known of an item that is carried over, at least in part: what is new in it."""
        if cell not in (Cell.APPEARED, Cell.CHANGED) or not request.shows_news(item):
            return Cell.UNSEEN
        self.partly.append(key)
        return cell

    def more(self, before: Request, request: Request) -> list[tuple[str, Cell]]:
        """The cells that a request has anew which follows the one before: of the items that are
        hidden now, and of those that it has behind all others."""
        firsts = (before.shown_from, request.shown_from)
        start, stop = (bisect_left(before.items, at, key=_first) for at in firsts)
        unseen = dict.fromkeys((*self.partly, *self._order[start:stop]), Cell.UNSEEN)
        self.partly = []
        cells = [*unseen.items()]
        added = request.items[len(before.items) :]
        for key, item in zip(_keys(added, self._counts), added, strict=True):
            was = None if key in self._away else self._last.get(key)
            cells.append((key, _cell(was, item, out_of_order=False)))
            self._away.discard(key)
            self._last[key] = item
            self._order.append(key)
        return cells


def _first(item: Item) -> int:
    return item.first


def numbered(items: Iterable[Item]) -> list[str]:
    """The keys of items in a matrix; what shares a key is told apart by a number."""
    return _keys(items, {})


def _keys(items: Iterable[Item], counts: dict[str, int]) -> list[str]:
    """The keys of items that follow others, of which `counts` tells how often a key occurred."""
    keys: list[str] = []
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


def groups_of(prompt: Prompt, anatomy: PromptAnatomy) -> Groups:
    """The items of a prompt by kind. Groups never mix: the rows of a group can be made alone."""
    whole = not anatomy.gaps
    tools = [b for b in prompt.blocks if b.block.tier is Tier.TOOLS]
    known = [(b.block.name, b.wire_hash) for b in tools if b.block.kind is not Kind.GAP]
    system = {b.message_index for b in prompt.blocks if b.block.tier is Tier.SYSTEM}
    return Groups(
        tools=Request(tool_items(known), len(known) == len(tools)),
        sections=Request(section_items(anatomy.sections, system), whole),
        reminders=Request(reminder_items(anatomy.reminders), whole),
        mcs=Request(mcs_items(anatomy.mcs_messages), whole),
    )


def tool_items(tools: Iterable[tuple[str, bytes]]) -> tuple[Item, ...]:
    """The items of tools, given as name and hash. Every record has the whole list."""
    return tuple(Item(f"tool {name}", wire_hash.hex()) for name, wire_hash in tools)


def section_items(
    sections: Iterable[PlacedSection], system: Collection[int | None]
) -> tuple[Item, ...]:
    """The items of sections: each moves where it stands in another message. `system` are the
    messages of the system tier."""
    items = []
    for section in sections:
        index = section.message_index
        at = IN_SYSTEM if index in system else index
        items.append(Item(f"section {section.source}", section.content_hash, str(index), at, at))
    return tuple(items)


@dataclass(frozen=True, slots=True)
class RemindersBySource:
    """The reminders of a request: contents and carriers by source, and one item a source."""

    sources: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = field(default_factory=dict)
    items: tuple[Item, ...] = ()

    def plus(self, reminders: Iterable[PlacedReminder]) -> "RemindersBySource":
        """These reminders and others behind them; the work is that of their sources."""
        sources = dict(self.sources)
        new: dict[str, list[PlacedReminder]] = {}
        for reminder in reminders:
            if reminder.counted:
                new.setdefault(reminder.source, []).append(reminder)
        items = {item.key: item for item in self.items}
        for source, own in new.items():
            contents, carriers = sources.get(source, ((), ()))
            contents += tuple(reminder.content_hash for reminder in own)
            carriers = tuple(dict.fromkeys((*carriers, *(reminder.via for reminder in own))))
            sources[source] = contents, carriers
            key = f"reminder {source}"
            first = items[key].first if key in items else own[0].message_index
            items[key] = Item(
                key,
                digest(",".join(contents).encode()).hex(),
                "+".join(carriers),
                first,
                own[-1].message_index,
            )
        return RemindersBySource(sources, tuple(items.values()))


def reminder_items(reminders: Iterable[PlacedReminder]) -> tuple[Item, ...]:
    """One item a source, however many: its content is all of them, so one more changes it, and it
    moves where it changes its carrier (tag, system text). What a tool may have printed is left
    out."""
    return RemindersBySource().plus(reminders).items


def mcs_items(messages: Iterable[McsMessage]) -> tuple[Item, ...]:
    """The items of MCS messages: each is known by its place in the list."""
    return tuple(mcs_item(message) for message in messages)


def mcs_item(message: McsMessage) -> Item:
    """The item of one MCS message."""
    index = message.message_index
    return Item(f"mcs {index}", message.content_hash, str(index), index, index)
