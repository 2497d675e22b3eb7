"""Requests of a session: what they are as a whole, and the summary of each."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import msgspec

from tracer.assemble.attempts import AttemptFacts, Grouped, group_attempts
from tracer.model.anatomy_views import SectionView
from tracer.model.events import Status, WindowKind
from tracer.model.prompt import Marker
from tracer.model.segment_views import RequestSegments
from tracer.model.source import SourceRef
from tracer.model.usage import Convention, Usage
from tracer.model.verdict import VerdictBrief
from tracer.model.views import RequestSummary
from tracer.service.facts import PromptFacts, logged_section
from tracer.service.logged import LoggedSections
from tracer.store.events import SectionRow, session_sections
from tracer.store.reading import (
    CONVERSATIONS,
    AnyRequest,
    MarkedRow,
    RequestLine,
    RequestRow,
    session_lines,
)
from tracer.store.sources import source_paths

_ROLES = {role: at for at, role in enumerate(("system", "user", "assistant", "tool"))}


class Purposed(Protocol):
    """Whatever tells what a request was made for."""

    @property
    def query_source(self) -> str:
        """What the log calls it."""


@dataclass(frozen=True, slots=True)
class SessionData:
    """A session's requests in order, without what they carry, and their numbers (from 1) by key.
    `paths` are those of all sources, by row id."""

    rows: list[RequestLine]
    seqs: dict[str, int]
    grouped: dict[str, Grouped]
    sections: LoggedSections
    paths: dict[int, str]


def load_session(connection: sqlite3.Connection, row_id: int) -> SessionData:
    """The requests of a session."""
    rows = session_lines(connection, row_id)
    return SessionData(
        rows=rows,
        seqs={row.key: seq for seq, row in enumerate(rows, 1)},
        grouped=group_attempts([attempt_facts(row) for row in rows]),
        sections=LoggedSections(session_sections(connection, row_id)),
        paths=source_paths(connection),
    )


def logged_before(sections: LoggedSections, row: AnyRequest) -> Sequence[SectionRow]:
    """The sections that the log tells of a request: those of its last line before it; none for a
    side call, whose prefix is another one."""
    version = 0 if is_side_call(row) else sections.version(row.started_at_ms)
    return sections.newest(version)


def attempt_facts(row: AnyRequest) -> AttemptFacts:
    """What grouping needs of a row."""
    return AttemptFacts(row.key, row.attempt, row.turn_id, row.query_source, is_side_call(row))


def is_side_call(row: Purposed) -> bool:
    """True for calls beside the conversation: titles, compactions, checks."""
    return row.query_source not in CONVERSATIONS


class ToldBeside(NamedTuple):
    """What other rows tell of a request: where it stands among the others, the sections that the
    session's log tells, and the paths of all sources, by row id."""

    grouped: Grouped
    sections: LoggedSections
    paths: Mapping[int, str]


def told_beside(data: SessionData, key: str) -> ToldBeside:
    """The same of a request of a loaded session."""
    return ToldBeside(data.grouped[key], data.sections, data.paths)


@dataclass(frozen=True, slots=True)
class WholeRequest:
    """A request's row, with what other tables hold of it."""

    row: RequestRow
    markers: Sequence[Marker] = ()
    verdict: VerdictBrief | None = None
    segments: RequestSegments | None = None


def summarise(
    told: ToldBeside, session_id: str, seq: int, request: WholeRequest, prompt: PromptFacts
) -> RequestSummary:
    """The summary of the request that is number `seq` (from 1) in its session."""
    row = request.row
    grouped = told.grouped
    return RequestSummary(
        key=row.key,
        seq=seq,
        session_id=session_id,
        request_id=row.request_id,
        attempt=row.attempt,
        attempts=grouped.attempts,
        call_key=grouped.call_key,
        trace_id=row.trace_id,
        turn_id=row.turn_id,
        turn_number=grouped.turn_number,
        step=grouped.step,
        query_source=row.query_source,
        lane=row.lane,
        side_call=is_side_call(row),
        provider_id=row.provider_id,
        model_id=row.model_id,
        started_at_ms=row.started_at_ms,
        completed_at_ms=row.completed_at_ms,
        duration_ms=row.duration_ms,
        status=Status(row.status),
        error=error_of(row),
        finish_reason=row.finish_reason,
        observed=row.observed,
        verified_from=row.verified_from,
        carry=row.carry,
        window_kind=WindowKind(row.window_kind),
        message_count=row.message_count,
        roles=_in_order(prompt.roles),
        usage=usage_of(row),
        markers=tuple(request.markers),
        tools=prompt.tools or _logged_names(row),
        sections=_sections(told.sections, row) if prompt.sections is None else prompt.sections,
        reminders=prompt.reminders,
        mcs=prompt.mcs,
        source=SourceRef(told.paths.get(row.source_id, ""), row.line, row.offset_bytes),
        variant=prompt.variant,
        mcs_state=prompt.mcs_state,
        verdict=request.verdict,
        segments=request.segments,
    )


def _in_order(roles: dict[str, int]) -> dict[str, int]:
    """The same in one order, however they were counted."""
    order = sorted(roles, key=lambda role: (_ROLES.get(role, len(_ROLES)), role))
    return {role: roles[role] for role in order}


def error_of(row: RequestRow | MarkedRow) -> str:
    """What a failed request ended with; empty for another one."""
    return ": ".join(text for text in (row.error_name, row.error_message) if text)


def baseline_of(data: SessionData, seq: int) -> RequestLine | None:
    """What request number `seq` (from 1) is compared with: the one before it in its lane of which
    the log holds a prompt. None where there is none."""
    lane = data.rows[seq - 1].lane
    earlier = reversed(data.rows[: seq - 1])
    return next((r for r in earlier if r.lane == lane and r.node_id is not None), None)


def usage_of(row: RequestRow) -> Usage | None:
    """The normalised usage of a row; None where nothing was reported."""
    if not row.usage_convention:
        return None
    return Usage(
        row.input_tokens,
        row.fresh_tokens,
        row.cache_read_tokens,
        row.cache_write_tokens,
        row.output_tokens,
        row.reasoning_tokens,
        Convention(row.usage_convention),
        row.usage_reason,
        row.usage_json,
    )


def _logged_names(row: RequestRow) -> tuple[str, ...]:
    return tuple(msgspec.json.decode(row.tool_names_json, type=list[str]))


def _sections(sections: LoggedSections, row: RequestRow) -> tuple[SectionView, ...]:
    """The sections of a request whose prompt was not read for them."""
    return tuple(logged_section(section) for section in logged_before(sections, row))
