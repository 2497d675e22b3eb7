"""Where the history of a prompt departs from what earlier prompts of the session have shown.

The history (segments 7 to 11) only grows: a run's messages come one after another, and stay in that
order when the run has become the past. So one list is kept of all that was ever shown, each prompt
is held against it, and every departure is told once, under the one rule that speaks of it. A prompt
that goes on where the last one ended costs no more than its new messages.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tracer.checks.case import CheckedMessage, CheckedSession
from tracer.checks.layout_14._covered import Covered
from tracer.checks.layout_14._ordered import out_of_order
from tracer.checks.layout_14._steps import (
    HISTORY,
    INPUTS,
    OLD,
    PREFIX,
    RUN_STATE,
    SKILLS,
    TAIL,
    TAIL_KINDS,
    TIMELINE,
    Step,
    answered,
    behind,
    calls_of,
    is_diff,
    is_full,
    key_of,
    once,
    walk,
)
from tracer.model.prompt import Kind

Key = tuple[str | bytes, int]
RETOLD = frozenset({"skill_body", "attachment_note"})
ATTACHED = frozenset({Kind.FILE, Kind.IMAGE, Kind.VIDEO, Kind.RESOURCE_LINK})


class Change(StrEnum):
    """What became of a message."""

    LOST = "lost"
    REWRITTEN = "rewritten"
    MOVED = "moved"
    INSERTED = "inserted"


@dataclass(slots=True)
class Entry:
    """A message as it was first shown, in segment `home`. `run` is empty where it was history
    already. `loose`: a departure was told, so where it stands no longer matters."""

    key: Key
    message: CheckedMessage
    run: str
    home: int
    bytes_seen: set[tuple[str, bytes]]
    loose: bool = False


@dataclass(frozen=True, slots=True)
class Departure:
    """A message that is not where or what it was, at a step. `index` is its place, or for a lost
    one the place of the message that now stands there. `own_run`: it belongs to the step's run."""

    change: Change
    step: Step
    index: int | None
    message: CheckedMessage
    own_run: bool
    home: int
    now: CheckedMessage | None = None
    segment: int = 0


@dataclass(slots=True)
class Place:
    """Where a message stands in a prompt: number `rank` of its history, segment by segment."""

    key: Key
    message: CheckedMessage
    segment: int
    index: int
    rank: int


@dataclass(slots=True)
class _Now:
    """The history of one prompt."""

    places: list[Place]
    by_key: dict[Key, Place]
    next_index: dict[int, int]

    def behind(self, place: Place) -> int | None:
        """Where the message behind one stands; None behind the last one."""
        return self.next_index.get(place.index)


def departures(session: CheckedSession) -> Sequence[Departure]:
    """Every departure of a session, by prompt and place; a message's first one only."""
    return once(session, "departures", _departures)


def _departures(session: CheckedSession) -> Iterator[Departure]:
    tracker = _Tracker(session)
    for step in walk(session):
        if step.run:
            yield from tracker.at(step)


class _Tracker:
    def __init__(self, session: CheckedSession) -> None:
        self._covered = Covered(session)
        self._ids: frozenset[str] = frozenset()
        self._entries: dict[Key, Entry] = {}
        self._order: list[Key] = []
        self._bases: Counter[str | bytes] = Counter()
        self._raw: list[CheckedMessage] = []
        self._sizes: list[int] = []
        self._run = ""

    def at(self, step: Step) -> Iterator[Departure]:
        ids = self._covered.at(step)
        raw = step.of(*HISTORY)
        sizes = [step.size(n) for n in HISTORY]
        if ids is self._ids and self._goes_on(step, raw, sizes):
            self._append(step, behind(step.ranges(*HISTORY), len(self._raw)))
        else:
            yield from self._compare(step, _now(step, step.indexes(*HISTORY)), ids)
        self._ids, self._raw, self._sizes, self._run = ids, raw, sizes, step.run

    def _goes_on(self, step: Step, raw: list[CheckedMessage], sizes: list[int]) -> bool:
        """Whether the prompt has all that the last one had, in the same places."""
        known = len(self._raw)
        if raw[:known] != self._raw:
            return False
        if step.run == self._run:
            return sizes[:-1] == self._sizes[:-1]
        return step.opens_run and sizes[0] >= known

    def _append(self, step: Step, indexes: Sequence[int]) -> None:
        for i in indexes:
            message, segment = step.messages[i], step.segment_of(i)
            if not _left_out(message, segment):
                base = key_of(message)
                self._order.append(self._add((base, self._bases[base]), message, segment, step))

    def _add(self, key: Key, message: CheckedMessage, segment: int, step: Step) -> Key:
        self._bases[key[0]] = max(self._bases[key[0]], key[1] + 1)
        self._entries[key] = Entry(
            key, message, "" if segment == OLD else step.run, segment, {_bytes(message)}
        )
        return key

    def _compare(self, step: Step, now: _Now, ids: frozenset[str]) -> Iterator[Departure]:
        gone = {k for k in self._order if k[0] in ids and k not in now.by_key}
        known = [k for k in self._order if k not in gone]
        found = [
            *self._lost(step, now, known, self._halves(ids)),
            *self._rewritten(step, now),
            *self._moved(step, now, known),
            *self._inserted(step, now),
        ]
        found = _paired(found)
        yield from sorted(found, key=lambda d: -1 if d.index is None else d.index)
        self._learn(step, now)

    def _halves(self, ids: frozenset[str]) -> set[str]:
        """The calls of exchanges that a summary covers, if only in part."""
        covered = [e.message for e in self._entries.values() if e.key[0] in ids]
        return {c for m in covered for c in (*calls_of(m), answered(m)) if c}

    def _lost(
        self, step: Step, now: _Now, known: Sequence[Key], halves: set[str]
    ) -> Iterator[Departure]:
        """Half an exchange is the matter of the rules on exchanges and on compaction."""
        calls = {c for p in now.places for c in calls_of(p.message)} | halves
        results = {answered(p.message) for p in now.places} | halves
        index = now.places[0].index if now.places else None
        found = []
        for key in known:
            place = now.by_key.get(key)
            if place is not None:
                index = now.behind(place)
                continue
            entry = self._entries[key]
            half = answered(entry.message) in calls or results.intersection(calls_of(entry.message))
            if entry.loose or half:
                continue
            elsewhere = _elsewhere(step, entry) if is_diff(entry.message) else None
            if elsewhere is not None:
                found.append(self._departure(Change.MOVED, step, entry, elsewhere.index, elsewhere))
            else:
                found.append(self._departure(Change.LOST, step, entry, index))
        yield from found

    def _rewritten(self, step: Step, now: _Now) -> Iterator[Departure]:
        for place in now.places:
            entry = self._entries.get(place.key)
            if entry and _bytes(place.message) not in entry.bytes_seen:
                entry.bytes_seen.add(_bytes(place.message))
                yield self._departure(Change.REWRITTEN, step, entry, place.index, place)

    def _moved(self, step: Step, now: _Now, known: Sequence[Key]) -> Iterator[Departure]:
        common = [k for k in known if k in now.by_key and not self._entries[k].loose]
        for key in self._strayed(step, now, common):
            entry, place = self._entries[key], now.by_key[key]
            yield self._departure(Change.MOVED, step, entry, place.index, place)

    def _strayed(self, step: Step, now: _Now, common: Sequence[Key]) -> list[Key]:
        """Those that have left their segment, and those that have left their neighbours."""
        left = [k for k in common if self._misplaced(step, now.by_key[k], self._entries[k])]
        if left:
            return left
        movable = [k for k in common if not answered(self._entries[k].message)]
        core = [k for k in movable if not is_diff(self._entries[k].message)]
        at = [now.by_key[k].rank for k in core]
        strayed = [core[i] for i in out_of_order(at)]
        if strayed:
            return strayed
        at = [now.by_key[k].rank for k in movable]
        if at == sorted(at):
            return []
        return self._strayed_diffs(now, movable)

    def _strayed_diffs(self, now: _Now, movable: Sequence[Key]) -> list[Key]:
        """The diffs that have another number of other messages before them, else those out of
        order among themselves."""
        diffs = [k for k in movable if is_diff(self._entries[k].message)]
        was = _ranks(movable, set(diffs))
        at = _ranks(sorted(movable, key=lambda k: now.by_key[k].rank), set(diffs))
        strayed = [k for k in diffs if was[k] != at[k]]
        return strayed or [diffs[i] for i in out_of_order([now.by_key[k].rank for k in diffs])]

    def _misplaced(self, step: Step, place: Place, entry: Entry) -> bool:
        if entry.run == step.run:
            return place.segment != entry.home
        return place.segment != OLD

    def _inserted(self, step: Step, now: _Now) -> Iterator[Departure]:
        """New messages in front of known ones of their segment; in segments 9 and 10 new ones
        behind the first prompt of the run."""
        last_known: dict[int, int] = {}
        for place in now.places:
            if self._holds(place.key):
                last_known[place.segment] = place.index
        for place in now.places:
            if place.key in self._entries:
                continue
            in_front = place.index < last_known.get(place.segment, -1)
            late = place.segment in (SKILLS, RUN_STATE) and not step.opens_run
            if (in_front or late) and not self._of_known_exchange(place.message):
                entry = Entry(place.key, place.message, step.run, place.segment, set())
                if place.segment == OLD:
                    entry.run = ""
                yield self._departure(Change.INSERTED, step, entry, place.index, place)

    def _holds(self, key: Key) -> bool:
        """Whether others can be placed by where this one stands."""
        return key in self._entries and not self._entries[key].loose

    def _of_known_exchange(self, message: CheckedMessage) -> bool:
        """Results, and calls whose results were shown: the exchange's own rule speaks of them."""
        if answered(message):
            return True
        calls = set(calls_of(message))
        return bool(calls) and any(answered(e.message) in calls for e in self._entries.values())

    def _departure(
        self,
        change: Change,
        step: Step,
        entry: Entry,
        index: int | None,
        place: Place | None = None,
    ) -> Departure:
        found = Departure(
            change,
            step,
            index,
            entry.message,
            entry.run == step.run,
            entry.home,
            place.message if place else None,
            place.segment if place else 0,
        )
        if change in (Change.LOST, Change.MOVED) and rule_of(found):
            entry.loose = True
        return found

    def _learn(self, step: Step, now: _Now) -> None:
        """Add what is new behind what stands in front of it."""
        later: dict[Key | None, list[Key]] = {}
        anchor: Key | None = None
        for place in now.places:
            if self._holds(place.key):
                anchor = place.key
            elif place.key not in self._entries:
                later.setdefault(anchor, []).append(
                    self._add(place.key, place.message, place.segment, step)
                )
        order = list(later.get(None, []))
        for key in self._order:
            order.append(key)
            order += later.get(key, [])
        self._order = order


def rule_of(departure: Departure) -> str:
    """The rule that speaks of a departure; empty where none does."""
    message, home = departure.message, departure.home
    if departure.change is Change.REWRITTEN and _retold(departure):
        fixed = departure.own_run and home in (SKILLS, RUN_STATE)
        return "initial-stays-initial" if fixed else "history-not-reread"
    if is_diff(message) and (
        departure.own_run or departure.change is Change.MOVED or departure.change is Change.INSERTED
    ):
        return "diff-at-its-time"
    if not departure.own_run:
        return "run-joins-history"
    if departure.change is Change.INSERTED:
        return "initial-stays-initial" if home in (SKILLS, RUN_STATE) else ""
    if home == INPUTS:
        return "inputs-kept"
    if home in (SKILLS, RUN_STATE):
        return "initial-stays-initial"
    if home == TIMELINE and message.note.kind == "skill_body":
        return "initial-stays-initial"
    return ""


def _retold(departure: Departure) -> bool:
    """Whether what was written anew is a skill's text or an attachment, be it inside a message."""
    before, now = departure.message, departure.now
    if before.note.kind in RETOLD:
        return True
    if now is None or len(now.blocks) != len(before.blocks) or now.role != before.role:
        return False
    differ = [a.kind for a, b in zip(before.blocks, now.blocks, strict=True) if a != b]
    return bool(differ) and all(kind in ATTACHED for kind in differ)


def _paired(found: list[Departure]) -> list[Departure]:
    """A skill's or an attachment's text that was written anew under another id is a rewritten one,
    not one that is lost and one that is inserted."""
    out = list(found)
    for new in [d for d in found if d.change is Change.INSERTED and d.now is not None]:
        note = new.message.note
        for old in [d for d in out if d.change is Change.LOST and d.message.note.kind in RETOLD]:
            same = (old.message.note.kind, old.message.note.skill) == (note.kind, note.skill)
            together = old.own_run == new.own_run and (old.home == new.home or not new.own_run)
            if same and together:
                out = [d for d in out if d is not old and d is not new]
                out.append(
                    Departure(
                        Change.REWRITTEN, new.step, new.index, old.message, old.own_run,
                        old.home, new.now, new.segment,
                    )
                )  # fmt: skip
                break
    return out


def _elsewhere(step: Step, entry: Entry) -> Place | None:
    """Where a message stands outside the history."""
    for i in step.indexes(*PREFIX, *TAIL):
        if key_of(step.messages[i]) == entry.key[0]:
            return Place(entry.key, step.messages[i], step.segment_of(i), i, -1)
    return None


def _now(step: Step, indexes: Sequence[int]) -> _Now:
    places: list[Place] = []
    counts: Counter[str | bytes] = Counter()
    for i in indexes:
        message, segment = step.messages[i], step.segment_of(i)
        if not _left_out(message, segment):
            base = key_of(message)
            places.append(Place((base, counts[base]), message, segment, i, len(places)))
            counts[base] += 1
    following = {a.index: b.index for a, b in zip(places, places[1:], strict=False)}
    return _Now(places, {place.key: place for place in places}, following)


def _left_out(message: CheckedMessage, segment: int) -> bool:
    """What other rules say does not belong here at all."""
    if message.note.kind in TAIL_KINDS or is_full(message, "session"):
        return True
    return is_full(message, "run") and segment not in (OLD, RUN_STATE)


def _bytes(message: CheckedMessage) -> tuple[str, bytes]:
    return (message.role, message.wire_hash)


def _ranks(keys: Sequence[Key], diffs: set[Key]) -> dict[Key, int]:
    """How many other messages stand before each diff."""
    ranks, count = {}, 0
    for key in keys:
        if key in diffs:
            ranks[key] = count
        else:
            count += 1
    return ranks
