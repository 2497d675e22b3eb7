"""A session with its prompts read, and what is made of them when it is first asked for.

All of it belongs to one revision of the database: `tracer.service.cached` keeps a session only as
long as that is the newest.
"""

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import islice

from tracer.anatomy.calibration import Calibration, Sample, calibrate
from tracer.assemble.chains import PARTS
from tracer.model.anatomy_views import AnatomyView, Presence
from tracer.model.prompt import Part
from tracer.model.verdict import VerdictBrief
from tracer.model.views import RequestSummary, Timeline
from tracer.service.presences import build_presence
from tracer.service.requests import SessionData, load_session, summarise
from tracer.service.sessions import summaries
from tracer.service.timelines import build_timeline
from tracer.store.reading import child_ids

KEPT_ANATOMIES = 8
_GAP = PARTS.index(Part.GAP)


class LoadedSession:
    """The requests of a session. Two threads may make the same thing at once: they make equals."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        row_id: int,
        session_id: str,
        verdicts: Mapping[int, VerdictBrief] | None = None,
    ) -> None:
        data = load_session(connection, row_id, prompts=True)
        self.data = replace(data, verdicts=verdicts or {})
        self.row_id = row_id
        self.session_id = session_id
        self.calibrations = _calibrations(self.data)
        self._timeline: Timeline | None = None
        self._anatomies: dict[str, AnatomyView | None] = {}

    @cached_property
    def requests(self) -> tuple[RequestSummary, ...]:
        """All requests by start time."""
        return tuple(
            summarise(self.data, self.session_id, seq, facts)
            for seq, facts in enumerate(self.data.facts, 1)
        )

    @cached_property
    def presence(self) -> Presence:
        """The presence matrix."""
        return build_presence(self.data, self.session_id)

    def timeline(self, connection: sqlite3.Connection) -> Timeline:
        """The timeline; `connection` must read the revision that the session was loaded from."""
        made = self._timeline
        if made is None:
            ids = [self.row_id, *child_ids(connection, self.session_id)]
            session, *children = summaries(connection, ids, sparks=False)
            made = self._timeline = build_timeline(
                connection, self.data, self.row_id, session, tuple(children), self.requests
            )
            self.data = replace(self.data, sums={})  # nothing else needs them
        return made

    def anatomy(self, key: str, make: Callable[[], AnatomyView | None]) -> AnatomyView | None:
        """The anatomy of a request, made where it is none of the last few."""
        if key not in self._anatomies:
            made = make()
            for oldest in list(
                islice(self._anatomies, max(0, len(self._anatomies) + 1 - KEPT_ANATOMIES))
            ):
                self._anatomies.pop(oldest, None)
            self._anatomies[key] = made
            return made
        return self._anatomies[key]


def _calibrations(data: SessionData) -> dict[str, Calibration | None]:
    """Billed tokens per counted token, lane by lane, over the prompts that are known as a whole."""
    samples: dict[str, list[Sample]] = {}
    for row in data.rows:
        own = samples.setdefault(row.lane, [])
        if row.node_id is None or not row.input_tokens or row.verified_from is None:
            continue
        sums = data.sums[row.node_id]
        if not sums.uncounted and not sums.blocks[_GAP]:
            own.append(Sample(sums.total_tokens, row.input_tokens))
    return {lane: calibrate(found) for lane, found in samples.items()}
