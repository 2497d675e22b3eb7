"""How the laid-out prompts of a session lived, put together from its requests and its events."""

import sqlite3
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import msgspec

from tracer.anatomy.segments import Group
from tracer.model.json_values import text_of, whole_of
from tracer.model.segment_story import (
    CapabilityLife,
    CapabilityRun,
    CompactionEvent,
    LaidOutRequest,
    SegmentStory,
    SkillLife,
    Switch,
    TransactionLife,
)
from tracer.model.segment_views import CapabilityView, RequestSegments
from tracer.service.existing import session_row
from tracer.service.loaded import LoadedSession
from tracer.store.events import EventRow, trace_events

Laid = tuple[int, RequestSegments]
_START, _ON_THE_WAY = "start", "on the way"


class SegmentsOfService:
    """The use case of segments, for a service that can read and loads sessions."""

    _read: Callable[[], AbstractContextManager[sqlite3.Connection]]
    _loaded: Callable[[sqlite3.Connection, int, str], LoadedSession]

    def segment_story(self, session_id: str) -> SegmentStory:
        """How the laid-out prompts of a session lived; nothing of a session of another format.
        Raises NotFoundError."""
        with self._read() as connection:
            loaded = self._loaded(connection, session_row(connection, session_id), session_id)
            return build_segment_story(connection, loaded)


def build_segment_story(connection: sqlite3.Connection, loaded: LoadedSession) -> SegmentStory:
    """The story of a loaded session."""
    segments, data = loaded.segments(connection), loaded.data(connection)
    found = [(seq, segments.get(row.id)) for seq, row in enumerate(data.rows, 1)]
    laid = [(seq, view) for seq, view in found if view is not None and view.segments]
    events = trace_events(connection, loaded.row_id)
    starts = [row.started_at_ms or 0 for row in data.rows]
    placed = [(event, bisect_right(starts, event.at_ms or 0)) for event in events]
    requests = []
    for seq, view in laid:
        row = data.rows[seq - 1]
        requests.append(_request(seq, row.key, data.grouped[row.key].turn_number, view))
    return SegmentStory(
        session_id=loaded.session_id,
        requests=tuple(requests),
        capabilities=_capabilities(laid, placed),
        skills=_skills(laid),
        compactions=tuple(
            _compaction(e, seq) for e, seq in placed if e.event.startswith("compaction.")
        ),
        transactions=_transactions(laid, placed),
    )


def _request(seq: int, key: str, run: int | None, view: RequestSegments) -> LaidOutRequest:
    prefix = tuple(
        s.name
        for s in view.segments
        if s.group == Group.PREFIX and s.change in ("changed", "grown", "new")
    )
    return LaidOutRequest(
        seq, key, run, view.layout, view.groups, prefix, view.world.changes, len(view.unresolved)
    )


def _capabilities(
    laid: Sequence[Laid], events: Sequence[tuple[EventRow, int]]
) -> tuple[CapabilityLife, ...]:
    switches: dict[str, list[Switch]] = {}
    for event, seq in events:
        if event.event == "capability.changed":
            said = _fields(event)
            switches.setdefault(text_of(said.get("name")), []).append(
                Switch(event.at_ms, seq, said.get("enabled") is True, text_of(said.get("reason")))
            )
    runs: dict[str, list[CapabilityRun]] = {}
    for seq, view in laid:
        for now in _all_capabilities(view, runs):
            own = runs.setdefault(now.name, [])
            if own and own[-1].view == now:
                own[-1] = CapabilityRun(own[-1].first_seq, seq, now)
            else:
                own.append(CapabilityRun(seq, seq, now))
    return tuple(
        CapabilityLife(
            name,
            tuple(runs.get(name, ())),
            tuple(switches.get(name, ())),
            _disagreed(runs.get(name, ())),
        )
        for name in sorted({*runs, *switches})
    )


def _all_capabilities(view: RequestSegments, known: Mapping[str, object]) -> list[CapabilityView]:
    """Those of a request, and those of earlier ones that are gone."""
    here = {c.name: c for c in view.capabilities}
    gone = [CapabilityView(name, 0, False, None) for name in known if name not in here]
    return [*here.values(), *gone]


def _disagreed(runs: Sequence[CapabilityRun]) -> tuple[int, ...]:
    """The requests at which what a capability consists of is not all there or all gone: its tools
    and its guide, if it has any in the session, and what the World State says."""
    has_tools = any(run.view.tools for run in runs)
    has_guide = any(run.view.guide for run in runs)
    found: list[int] = []
    for run in runs:
        signs = [run.view.state] if run.view.state is not None else []
        signs += [run.view.tools > 0] if has_tools else []
        signs += [run.view.guide] if has_guide else []
        if len(set(signs)) > 1:
            found += range(run.first_seq, run.last_seq + 1)
    return tuple(found)


def _skills(laid: Sequence[Laid]) -> tuple[SkillLife, ...]:
    lives: dict[str, SkillLife] = {}
    for seq, view in laid:
        for skill in view.skills:
            known = lives.get(skill.name)
            if known is None:
                lives[skill.name] = SkillLife(skill.name, seq, seq, skill.where)
            else:
                how = _ON_THE_WAY if _ON_THE_WAY in (known.how, skill.where) else known.how
                lives[skill.name] = SkillLife(skill.name, known.first_seq, seq, how)
    return tuple(lives.values())


def _compaction(event: EventRow, seq: int) -> CompactionEvent:
    said = _fields(event)
    covers = said.get("covers")
    ids = [c for c in covers if isinstance(c, str)] if isinstance(covers, list) else []
    return CompactionEvent(
        at_ms=event.at_ms,
        after_seq=seq,
        what=event.event.partition(".")[2],
        covers=len(ids),
        first=ids[0] if ids else "",
        last=ids[-1] if ids else "",
        before_tokens=whole_of(said.get("beforeTokens")),
        after_tokens=whole_of(said.get("afterTokens")),
        reason=text_of(said.get("reason")),
    )


def _transactions(
    laid: Sequence[Laid], events: Sequence[tuple[EventRow, int]]
) -> tuple[TransactionLife, ...]:
    steps: dict[str, list[tuple[str, str, int]]] = {}
    said: dict[str, dict[str, Any]] = {}
    for event, seq in events:
        if event.event.startswith("transaction."):
            fields = _fields(event)
            name = text_of(fields.get("transactionId"))
            steps.setdefault(name, []).append((event.event.partition(".")[2], event.status, seq))
            said[name] = said.get(name, {}) | fields
    snapshots: dict[str, list[int]] = {}
    for seq, view in laid:
        for value in view.transaction:
            if value.path == ("transactionId",):
                name = str(msgspec.json.decode(value.json))
                snapshots.setdefault(name, []).append(seq)
    return tuple(
        TransactionLife(
            name,
            text_of(said.get(name, {}).get("filePath")),
            text_of(said.get(name, {}).get("operation")),
            tuple(steps.get(name, ())),
            tuple(snapshots.get(name, ())),
            any(what == "closed" for what, _, _ in steps.get(name, ())),
        )
        for name in dict.fromkeys([*steps, *snapshots])
    )


def _fields(event: EventRow) -> dict[str, Any]:
    found = msgspec.json.decode(event.context_json) if event.context_json else {}
    return found if isinstance(found, dict) else {}
