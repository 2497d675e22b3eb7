"""One full World State of the session in segment 5, one of the run in segment 10.

The full state of the session keeps its bytes from run to run: a new run alone never makes a new
one, what changes comes as a diff. After a compaction it may be built anew, for the diffs that the
summary covers are gone. The runs of the past keep theirs in segment 7.
"""

from collections.abc import Iterator

from tracer.checks.base import Found, Reporter
from tracer.checks.case import CheckedMessage, CheckedSession
from tracer.checks.layout_14._events import COMPACTED, EventsBefore
from tracer.checks.layout_14._steps import (
    OLD,
    RUN_STATE,
    SESSION_STATE,
    Scan,
    Step,
    excerpt,
    is_full,
    named,
    undecided,
    walk,
)
from tracer.model.findings import Level

LEVEL = Level.ERROR
TITLE = "One full World State a session in segment 5, one a run in segment 10"
SOURCE = "formats/context-trace.md 4"

REPORT = Reporter(__name__, LEVEL)


def check(session: CheckedSession) -> Iterator[Found]:
    """Yields a finding for each full World State too many, in another place, or made anew."""
    yield from undecided(session, REPORT)
    keeper = _Keeper(session)
    for step in walk(session):
        yield from keeper.at(step)


class _Keeper:
    def __init__(self, session: CheckedSession) -> None:
        self._scan = Scan(is_full)
        self._compactions = EventsBefore(session, COMPACTED)
        self._told: set[tuple[str, bytes]] = set()
        self._base: CheckedMessage | None = None
        self._lost = False

    def at(self, step: Step) -> Iterator[Found]:
        found = self._scan.at(step)
        placed = [(i, m, step.segment_of(i)) for i, m in found]
        run = [p for p in placed if p[1].note.scope == "run"]
        session = [p for p in placed if p[1].note.scope != "run"]
        yield from self._places(step, session, (SESSION_STATE,), SESSION_STATE)
        yield from self._places(step, run, (OLD, RUN_STATE), RUN_STATE)
        mine = [(i, m) for i, m, segment in session if segment == SESSION_STATE]
        yield from self._bytes(step, mine, bool(self._compactions.at(step)))

    def _places(
        self,
        step: Step,
        placed: list[tuple[int, CheckedMessage, int]],
        allowed: tuple[int, ...],
        home: int,
    ) -> Iterator[Found]:
        at_home = [p for p in placed if p[2] == home]
        for index, message, segment in placed:
            if segment in allowed and (segment != home or index == at_home[0][0]):
                continue
            where = "once more in" if segment == home else "in"
            if self._new("place", message):
                yield REPORT.found(
                    step.request,
                    f"A full World State of the {message.note.scope or 'session'} stands {where} "
                    f"segment {segment}; its one place is segment {home}.",
                    index,
                    state=excerpt(message),
                    full_states=len(placed),
                )

    def _bytes(
        self, step: Step, mine: list[tuple[int, CheckedMessage]], compacted: bool
    ) -> Iterator[Found]:
        if not mine:
            if self._base is not None and not self._lost:
                self._lost = True
                yield REPORT.found(
                    step.request,
                    "The full World State of the session is no longer in the prompt.",
                    None,
                    before=excerpt(self._base),
                )
            return
        self._lost = False
        index, message = mine[0]
        if self._base is None or compacted:
            self._base = message
        elif message.wire_hash != self._base.wire_hash and self._new("bytes", message):
            opens = " with a new run" if step.opens_run else ""
            yield REPORT.found(
                step.request,
                f"The full World State of the session was made anew{opens}: {named(message)} "
                "reads otherwise than the first one.",
                index,
                before=excerpt(self._base, 160),
                now=excerpt(message, 160),
            )

    def _new(self, what: str, message: CheckedMessage) -> bool:
        told = (what, message.wire_hash)
        fresh = told not in self._told
        self._told.add(told)
        return fresh
