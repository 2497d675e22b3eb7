"""The part of a stand-in that lists sessions."""

from collections.abc import Mapping

from tracer.model.session_list import ANY_SESSION, SessionChoices, SessionFilter
from tracer.model.views import SessionPage, SessionSummary, Timeline


class ListingFake:
    """Lists the sessions of `timelines`."""

    timelines: Mapping[str, Timeline]

    def sessions(
        self, wanted: SessionFilter | str = ANY_SESSION, *, limit: int = 100, offset: int = 0
    ) -> SessionPage:
        """Those that are wanted, in the order in which they were given."""
        asked = SessionFilter(text=wanted) if isinstance(wanted, str) else wanted
        found = [t.session for t in self.timelines.values() if _is_wanted(t.session, asked)]
        return SessionPage(tuple(found[offset : offset + limit]), len(found))

    def session_ids_like(self, prefix: str) -> tuple[str, ...]:
        """Those that begin with the prefix."""
        return tuple(name for name in self.timelines if name.startswith(prefix))

    def keys_like(self, prefix: str) -> tuple[str, ...]:
        """None: whole keys are asked for."""
        return ()

    def session_choices(self) -> SessionChoices:
        """Those of all sessions."""
        found = [timeline.session for timeline in self.timelines.values()]
        return SessionChoices(
            projects=tuple(dict.fromkeys(s.project for s in found)),
            agents=tuple(dict.fromkeys(s.agent for s in found)),
            models=tuple(dict.fromkeys(m for s in found for m in s.models)),
        )


def _is_wanted(session: SessionSummary, asked: SessionFilter) -> bool:
    words = " ".join((session.session_id, session.title, session.project, *session.models))
    return (
        asked.text.lower() in words.lower()
        and asked.project in ("", session.project)
        and asked.agent in ("", session.agent)
        and (not asked.model or asked.model in session.models)
        and (not asked.misses or bool(session.misses))
        and (asked.since_ms is None or (session.ended_at_ms or 0) >= asked.since_ms)
        and (asked.until_ms is None or (session.started_at_ms or 0) <= asked.until_ms)
    )
