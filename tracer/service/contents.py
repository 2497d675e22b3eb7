"""What the prompts of a session contain, each made when it is asked for."""

import sqlite3
from collections.abc import Iterator, Sequence

from tracer.anatomy.calibration import Calibration, Sample, calibrate
from tracer.model.anatomy_views import SectionView
from tracer.service.anatomy import RequestAnatomy, SessionAnatomy
from tracer.service.facts import NO_PROMPT, FactsMaker, PromptFacts
from tracer.service.kept import MOST_REQUESTS, Kept
from tracer.service.logged import LoggedSections
from tracer.service.placing import shown_by
from tracer.service.requests import SessionData, logged_before
from tracer.service.traced import TracedAnatomies
from tracer.store.layout_reading import has_layouts
from tracer.store.reading import AnyRequest
from tracer.store.readings import stored_rules
from tracer.store.records import connection_revision


class Contents:
    """The prompts of a session. `anatomies` are those of its requests in order, None without a
    prompt; `tree` holds their sizes, `logged` the sections that the log tells, with their texts."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        row_id: int,
        rows: Sequence[AnyRequest],
        logged: LoggedSections,
        session: SessionAnatomy | None = None,
    ) -> None:
        """`rows` are the requests in order, `session` their anatomy where it was read already."""
        session = session or SessionAnatomy(connection, row_id, logged)
        self.tree = session.tree
        traced = TracedAnatomies(connection, row_id)
        self.anatomies: list[RequestAnatomy | None] = [
            None
            if row.node_id is None
            else traced.of(row, session.of(row.node_id, row.started_at_ms))
            for row in rows
        ]
        self.logged = logged
        self.rows = rows
        self._maker = FactsMaker()
        self._sections: list[tuple[SectionView, ...]] | None = None
        self._samples: dict[str, list[Sample]] | None = None
        self._calibrations: dict[str, Calibration | None] = {}

    def calibration(self, lane: str) -> Calibration | None:
        """Billed tokens per counted token in a lane, over the prompts that are known as a whole."""
        if lane not in self._calibrations:
            if self._samples is None:
                self._samples = self._by_lane()
            self._calibrations[lane] = calibrate(self._samples.get(lane, ()))
        return self._calibrations[lane]

    def _by_lane(self) -> dict[str, list[Sample]]:
        found: dict[str, list[Sample]] = {}
        for row in self.rows:
            node = row.node_id
            if node is None or not row.input_tokens or row.verified_from is None:
                continue
            _, tokens, uncounted = self.tree.measure(node)
            if not uncounted and not self.tree.told(node).has_gap:
                found.setdefault(row.lane, []).append(Sample(tokens, row.input_tokens))
        return found

    def facts(self, seq: int) -> PromptFacts:
        """What the request number `seq` (from 1) contains."""
        row, anatomy = self.rows[seq - 1], self.anatomies[seq - 1]
        if anatomy is None:
            return NO_PROMPT
        roles = self.tree.sizes(row.node_id).roles
        return self._maker.facts(anatomy, roles, self.sections[seq - 1], shown_by(row))

    @property
    def sections(self) -> Sequence[tuple[SectionView, ...]]:
        """The sections of each request, and how they lived: none without a prompt."""
        if self._sections is None:
            self._sections = list(self._all_sections())
        return self._sections

    def _all_sections(self) -> Iterator[tuple[SectionView, ...]]:
        """How sections lived is told in order."""
        for seq, (row, anatomy) in enumerate(zip(self.rows, self.anatomies, strict=True), 1):
            if anatomy is None:
                yield ()
                continue
            logged = logged_before(self.logged, row)
            shown = shown_by(row)
            yield self._maker.sections(
                anatomy, logged, purpose=row.query_source, seq=seq, shown=shown
            )


class KeptContents:
    """The contents of some sessions. Safe in threads."""

    def __init__(self) -> None:
        self._kept: Kept[Contents] = Kept(weigh=lambda of: len(of.rows), limit=MOST_REQUESTS)

    def get(self, connection: sqlite3.Connection, row_id: int, data: SessionData) -> Contents:
        """The contents of a session. They are made of its requests, the sections that its log
        tells, the blocks of its prompts, what these say by the rules that read them, and how a
        trace says that they are laid out: of a trace they are made anew in each revision, and of
        blocks that are still to be counted each time."""
        traced = has_layouts(connection, row_id)
        made_from = (
            data.rows,
            data.sections.rows,
            stored_rules(connection),
            connection_revision(connection) if traced else None,
        )
        return self._kept.get(
            row_id,
            made_from,
            lambda: Contents(connection, row_id, data.rows, data.sections),
            lambda made: made.tree.counted,
        )
