"""Requests of a session: one load, every request's summary."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from tracer.assemble.attempts import AttemptFacts, Grouped, group_attempts
from tracer.assemble.chains import Sums
from tracer.model.events import Status, WindowKind
from tracer.model.prompt import Marker
from tracer.model.source import SourceRef
from tracer.model.usage import Convention, Usage
from tracer.model.verdict import VerdictBrief
from tracer.model.views import RequestSummary, SectionView
from tracer.service.anatomy import RequestAnatomy, SessionAnatomy
from tracer.service.facts import NO_PROMPT, FactsMaker, PromptFacts, logged_section
from tracer.service.logged import LoggedSections
from tracer.service.placing import shown_by
from tracer.store.events import SectionRow, session_sections
from tracer.store.reading import CONVERSATIONS, RequestRow, session_markers, session_requests
from tracer.store.sources import source_paths

UNKNOWN_SOURCE = "unknown"
_CONTEXT_SOURCES = (
    ("As you answer the user's questions, you can", "context_prefix"),
    ("The following skills are available for use", "skills_listing"),
)


@dataclass(frozen=True, slots=True)
class SessionData:
    """A session's rows, loaded once. Where its prompts are, too, `sums` holds the path sums of
    every node, and `anatomies` and `facts` what each request's prompt contains, in order.
    `verdicts` are by request row id, as far as they were asked for."""

    rows: list[RequestRow]
    grouped: dict[str, Grouped]
    markers: Mapping[int, list[Marker]]
    sections: LoggedSections
    paths: dict[int, str]
    sums: dict[int, Sums] = field(default_factory=dict)
    anatomies: list[RequestAnatomy | None] = field(default_factory=list)
    facts: list[PromptFacts] = field(default_factory=list)
    verdicts: Mapping[int, VerdictBrief] = field(default_factory=dict)


def load_session(connection: sqlite3.Connection, row_id: int, *, prompts: bool) -> SessionData:
    """Everything that summaries need; `prompts` False leaves the prompts out."""
    rows = session_requests(connection, row_id)
    data = SessionData(
        rows=rows,
        grouped=group_attempts([attempt_facts(row) for row in rows]),
        markers=session_markers(connection, row_id),
        sections=LoggedSections(session_sections(connection, row_id)),
        paths=source_paths(connection),
    )
    if not prompts:
        return data
    session, maker = SessionAnatomy(connection, row_id, data.sections), FactsMaker()
    anatomies: list[RequestAnatomy | None] = []
    facts = []
    for seq, row in enumerate(rows, 1):
        if row.node_id is None:
            anatomies.append(None)
            facts.append(NO_PROMPT)
            continue
        found = session.of(row.node_id, row.started_at_ms)
        roles, logged = session.sums[row.node_id].roles, logged_before(data, row)
        anatomies.append(found)
        facts.append(
            maker.facts(
                found, roles, logged, purpose=row.query_source, seq=seq, shown=shown_by(row)
            )
        )
    return replace(data, sums=session.sums, anatomies=anatomies, facts=facts)


def logged_before(data: SessionData, row: RequestRow) -> Sequence[SectionRow]:
    """The sections that the log tells of a request: those of its last line before it; none for a
    side call, whose prefix is another one."""
    version = 0 if is_side_call(row) else data.sections.version(row.started_at_ms)
    return data.sections.newest(version)


def attempt_facts(row: RequestRow) -> AttemptFacts:
    """What grouping needs of a row."""
    return AttemptFacts(row.key, row.attempt, row.turn_id, row.query_source, is_side_call(row))


def is_side_call(row: RequestRow) -> bool:
    """True for calls beside the conversation: titles, compactions, checks."""
    return row.query_source not in CONVERSATIONS


def reminder_source(preview: str) -> str:
    """The source of a wrapped reminder as far as its opening tells; else `unknown`."""
    body = preview.removeprefix("<system-reminder>").lstrip()
    return next((s for opening, s in _CONTEXT_SOURCES if body.startswith(opening)), UNKNOWN_SOURCE)


def summarise(data: SessionData, session_id: str, seq: int, prompt: PromptFacts) -> RequestSummary:
    """The summary of the request that is number `seq` (from 1) in its session."""
    row = data.rows[seq - 1]
    grouped = data.grouped[row.key]
    error = ": ".join(text for text in (row.error_name, row.error_message) if text)
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
        error=error,
        finish_reason=row.finish_reason,
        observed=row.observed,
        verified_from=row.verified_from,
        carry=row.carry,
        window_kind=WindowKind(row.window_kind),
        message_count=row.message_count,
        roles=prompt.roles,
        usage=usage_of(row),
        markers=tuple(data.markers.get(row.id, ())),
        tools=prompt.tools or _logged_names(row),
        sections=_sections(data, row) if prompt.sections is None else prompt.sections,
        reminders=prompt.reminders,
        mcs=prompt.mcs,
        source=SourceRef(data.paths.get(row.source_id, ""), row.line, row.offset_bytes),
        variant=prompt.variant,
        mcs_state=prompt.mcs_state,
        verdict=data.verdicts.get(row.id),
    )


def baseline_of(data: SessionData, seq: int) -> RequestRow | None:
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


def _sections(data: SessionData, row: RequestRow) -> tuple[SectionView, ...]:
    """The sections of a request whose prompt was not read for them."""
    return tuple(logged_section(section) for section in logged_before(data, row))
