"""How everything lived over a session: the presence matrix, a lane at a time."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from tracer.anatomy.presence import (
    Cell,
    Groups,
    Item,
    PresenceRow,
    Request,
    Run,
    numbered,
    presence_rows,
)
from tracer.anatomy.reminder_sources import REMINDER_SOURCES
from tracer.anatomy.sections import section_rule
from tracer.model.anatomy_views import (
    PRESENCE_GROUPS,
    Presence,
    PresenceLane,
    PresenceRowView,
    PresenceRun,
)
from tracer.service.anatomy import RequestAnatomy
from tracer.service.placing import EVERYTHING, Shown, shown_by
from tracer.service.requests import SessionData, is_side_call, logged_before

_UNSEEN = Groups(*[Request((), False, system_shown=False)] * 4)
_CHANGES = frozenset({Cell.CHANGED.value, Cell.MOVED.value, Cell.GONE.value})
_SHOWN = frozenset({Cell.APPEARED, Cell.SAME, Cell.CHANGED, Cell.MOVED})


def build_presence(
    data: SessionData, anatomies: Sequence[RequestAnatomy | None], session_id: str
) -> Presence:
    """The matrix of a session; `anatomies` are those of its requests, None without a prompt. The
    work is what changes from request to request, not what each carries. What a request's own record
    does not prove is unseen.

    A request is compared with the one before it that was made for the same purpose: a switch of
    the model begins a lane, and what it changed in the prefix is worth knowing.
    """
    purposes: dict[str, list[int]] = {}
    lanes: dict[str, list[int]] = {}
    for seq, row in enumerate(data.rows, 1):
        purposes.setdefault(row.query_source, []).append(seq)
        lanes.setdefault(row.lane, []).append(seq)
    told = {purpose: _Sequence(data, anatomies, seqs) for purpose, seqs in purposes.items()}
    order = sorted(lanes, key=lambda lane: is_side_call(data.rows[lanes[lane][0] - 1]))
    return Presence(
        session_id,
        len(data.rows),
        tuple(
            told[data.rows[lanes[lane][0] - 1].query_source].lane(lane, lanes[lane])
            for lane in order
        ),
    )


class _Sequence:
    """The requests of one purpose, and the rows of their matrix."""

    def __init__(
        self,
        data: SessionData,
        anatomies: Sequence[RequestAnatomy | None],
        seqs: Sequence[int],
    ) -> None:
        self._seqs = seqs
        self._keys = [data.rows[seq - 1].key for seq in seqs]
        self._anatomies = [anatomies[seq - 1] for seq in seqs]
        self._traced = any(found is not None and found.traced for found in self._anatomies)
        self._notes = _section_notes(self._anatomies) if self._traced else {}
        shown = [EVERYTHING] * len(seqs)
        if any(self._anatomies):
            groups = [_UNSEEN if found is None else found.groups for found in self._anatomies]
            shown = [shown_by(data.rows[seq - 1]) for seq in seqs]
        else:
            groups = [_logged(data, seq) for seq in seqs]
        self._rows = []
        for name, kind in PRESENCE_GROUPS.items():
            own = (getattr(group, name) for group in groups)
            told = own if kind == "tool" else _proven(own, shown)
            self._rows += [(kind, row) for row in presence_rows(told)]

    def lane(self, lane: str, seqs: Sequence[int]) -> PresenceLane:
        """The matrix of the requests of one lane."""
        places = [bisect_left(self._seqs, seq) for seq in seqs]
        rows = []
        for kind, row in self._rows:
            runs = [self._run(row, run, places) for run in _of_lane(row.runs, places)]
            if runs:
                found = _row(kind, row.key, tuple(runs), seqs)
                if self._traced:
                    found = replace(found, note=self._notes.get(row.key, ""))
                rows.append(found)
        return PresenceLane(lane, tuple(seqs), tuple(rows))

    def _run(self, row: PresenceRow, run: Run, places: Sequence[int]) -> PresenceRun:
        """A run of a lane, whose requests stand at `places` of the sequence."""
        first = places[run.first]
        before = _seen_before(row.runs, first)
        return PresenceRun(
            cell=run.cell.value,
            first_seq=self._seqs[first],
            last_seq=self._seqs[places[run.last]],
            first_key=self._keys[first],
            block_index=self._place(row.key, first) if run.cell in _SHOWN else None,
            baseline_key="" if before is None else self._keys[before],
            baseline_seq=None if before is None else self._seqs[before],
        )

    def _place(self, key: str, index: int) -> int | None:
        anatomy = self._anatomies[index]
        return None if anatomy is None else _place_of(key, anatomy)


def _section_notes(anatomies: Iterable[RequestAnatomy | None]) -> dict[str, str]:
    """What a trace says of each of its sections, by the key of its row."""
    return {
        f"section {section.source}": f"{section.target}, {section.cache_hint}"
        for found in anatomies
        if found is not None
        for section in found.sections
    }


def _proven(requests: Iterable[Request], shown: Iterable[Shown]) -> Iterator[Request]:
    """What the record of each request proves of its items; the same object where that is the same
    as of the request before: of items that are all hidden, no more can be."""
    last: Request | None = None
    for request, own in zip(requests, shown, strict=True):
        system = request.system_shown and own.system
        if (
            last is None
            or request.items is not last.items
            or (request.complete, system) != (last.complete, last.system_shown)
            or own.from_index < last.shown_from
            or (own.from_index > last.shown_from and not _all_before(last.items, last.shown_from))
        ):
            last = request._replace(shown_from=own.from_index, system_shown=system)
        yield last


def _all_before(items: Sequence[Item], message_index: int) -> bool:
    """Whether all items, which stand in the order of their places, begin before a message."""
    return not items or items[-1].first < message_index


def _seen_before(runs: Sequence[Run], index: int) -> int | None:
    """The last request before one, both by their place in the sequence, that did not leave open
    what became of a row: records in between may hide it."""
    while index:
        at = bisect_left(runs, index - 1, key=lambda run: run.last)
        run = runs[at] if at < len(runs) else None
        if run is None or run.first >= index or run.cell is not Cell.UNSEEN:
            return index - 1
        index = run.first
    return None


def _of_lane(runs: Sequence[Run], places: Sequence[int]) -> list[Run]:
    """The runs of a sequence as those of a lane, whose requests stand at `places` of it."""
    found: list[Run] = []
    for run in runs:
        first, end = bisect_left(places, run.first), bisect_right(places, run.last)
        if first == end:
            continue
        last = found[-1] if found else None
        if last and last.cell is run.cell and last.last == first - 1:
            found[-1] = Run(run.cell, last.first, end - 1)
        else:
            found.append(Run(run.cell, first, end - 1))
    return found


def _row(
    kind: str, key: str, runs: tuple[PresenceRun, ...], seqs: Sequence[int]
) -> PresenceRowView:
    name = key.removeprefix(f"{kind} ")
    source = name.partition(" ")[0]
    note = ""
    if kind == "section":
        rule = section_rule(source)
        note = f"{rule.target}, {rule.cache_hint}"
    elif kind == "reminder":
        known = REMINDER_SOURCES.get(source)
        note = known.channel if known else ""
    elif kind == "mcs":
        name = f"message {name}"
    changes = sum(
        bisect_right(seqs, run.last_seq) - bisect_left(seqs, run.first_seq)
        for run in runs
        if run.cell in _CHANGES
    )
    return PresenceRowView(kind, name, note, runs, changes)


def _logged(data: SessionData, seq: int) -> Groups:
    """What the log tells of a request of a purpose of which it shows no prompt: the sections of the
    newest line before it. Whatever else there was is unseen."""
    rows = logged_before(data.sections, data.rows[seq - 1])
    items = tuple(Item(f"section {row.source}", f"{row.block_id} {row.chars}") for row in rows)
    return _UNSEEN._replace(sections=Request(items, False))


def _place_of(key: str, anatomy: RequestAnatomy) -> int | None:
    """Where an item stands in a prompt: of a reminder source its last note."""
    first = anatomy.first_index
    kind, _, name = key.partition(" ")
    if kind == "mcs":
        return first.get(int(name))
    if kind == "reminder":
        notes = (n for n in reversed(anatomy.reminders) if n.source == name and n.counted)
        note = next(notes, None)
        if note is not None:
            return first[note.message_index] + note.block_index
        nameless = (m for m in reversed(anatomy.mcs) if name in m.sources)
        return next((first.get(m.message_index) for m in nameless), None)
    if kind == "tool":
        return numbered(anatomy.groups.tools.items).index(key)
    keys = numbered(anatomy.groups.sections.items)
    section = anatomy.sections[keys.index(key)]
    return first[section.message_index] + section.block_index
