"""What the prompts of a session contain, each made when it is asked for."""

import sqlite3
from collections.abc import Iterator

from tracer.model.views import SectionView
from tracer.service.anatomy import RequestAnatomy, SessionAnatomy
from tracer.service.facts import NO_PROMPT, FactsMaker, PromptFacts
from tracer.service.placing import shown_by
from tracer.service.requests import SessionData, logged_before
from tracer.service.traced import TracedAnatomies


class Contents:
    """The prompts of a session. `anatomies` are those of its requests in order, None without a
    prompt; `tree` holds their sizes."""

    def __init__(self, connection: sqlite3.Connection, row_id: int, data: SessionData) -> None:
        session = SessionAnatomy(connection, row_id, data.sections)
        self.tree = session.tree
        traced = TracedAnatomies(connection, row_id)
        self.anatomies: list[RequestAnatomy | None] = [
            None
            if row.node_id is None
            else traced.of(row, session.of(row.node_id, row.started_at_ms))
            for row in data.rows
        ]
        self._data = data
        self._maker = FactsMaker()
        self._sections: list[tuple[SectionView, ...]] | None = None

    def facts(self, seq: int) -> PromptFacts:
        """What the request number `seq` (from 1) contains."""
        row, anatomy = self._data.rows[seq - 1], self.anatomies[seq - 1]
        if anatomy is None:
            return NO_PROMPT
        if self._sections is None:
            self._sections = list(self._all_sections())
        roles = self.tree.sizes(row.node_id).roles
        return self._maker.facts(anatomy, roles, self._sections[seq - 1], shown_by(row))

    def _all_sections(self) -> Iterator[tuple[SectionView, ...]]:
        """The sections of each request: how they lived is told in order."""
        for seq, (row, anatomy) in enumerate(zip(self._data.rows, self.anatomies, strict=True), 1):
            if anatomy is None:
                yield ()
                continue
            logged = logged_before(self._data, row)
            shown = shown_by(row)
            yield self._maker.sections(
                anatomy, logged, purpose=row.query_source, seq=seq, shown=shown
            )
