"""Requests of a session: one load, every request's summary."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from tracer.anatomy.sections import section_rule
from tracer.assemble.attempts import AttemptFacts, Grouped, group_attempts
from tracer.assemble.chains import Link, Mark, Sums, labelled_blocks, path_sums, unlink
from tracer.assemble.joins import SNAPSHOT_SLACK_MS
from tracer.model.events import Status, WindowKind
from tracer.model.prompt import Marker, Part
from tracer.model.source import SourceRef
from tracer.model.usage import Convention, Usage
from tracer.model.views import McsView, ReminderView, RequestSummary, SectionView
from tracer.store.events import SectionRow, session_sections
from tracer.store.prompts import block_labels, session_nodes
from tracer.store.reading import CONVERSATIONS, RequestRow, session_markers, session_requests
from tracer.store.sources import source_paths

UNKNOWN_SOURCE = "unknown"
_CONTEXT_SOURCES = (
    ("As you answer the user's questions, you can", "context_prefix"),
    ("The following skills are available for use", "skills_listing"),
)


@dataclass(frozen=True, slots=True)
class PromptFacts:
    """What a summary says of a prompt's content."""

    roles: dict[str, int]
    tools: tuple[str, ...]
    reminders: tuple[ReminderView, ...]
    mcs: tuple[McsView, ...]


NO_PROMPT = PromptFacts({}, (), (), ())


@dataclass(frozen=True, slots=True)
class SessionData:
    """A session's rows, loaded once. `sums` holds the path sums of every node; most requests share
    their lists of tools and reminders, so `tool_names` and `marks` keep each list once."""

    rows: list[RequestRow]
    grouped: dict[str, Grouped]
    markers: Mapping[int, list[Marker]]
    sections: list[SectionRow]
    paths: dict[int, str]
    sums: dict[int, Sums]
    tool_names: dict[int, tuple[str, ...]] = field(default_factory=dict)
    marks: dict[int, tuple[tuple[ReminderView, ...], tuple[McsView, ...]]] = field(
        default_factory=dict
    )


def load_session(connection: sqlite3.Connection, row_id: int, *, prompts: bool) -> SessionData:
    """Everything that summaries need; `prompts` False leaves the prompts out."""
    rows = session_requests(connection, row_id)
    return SessionData(
        rows=rows,
        grouped=group_attempts([attempt_facts(row) for row in rows]),
        markers=session_markers(connection, row_id),
        sections=session_sections(connection, row_id),
        paths=source_paths(connection),
        sums=_path_sums(connection, row_id) if prompts else {},
    )


def _path_sums(connection: sqlite3.Connection, row_id: int) -> dict[int, Sums]:
    nodes = session_nodes(connection, row_id)
    labels = block_labels(connection, labelled_blocks(nodes))
    return path_sums(
        nodes, {i: name or reminder_source(preview) for i, (name, preview) in labels.items()}
    )


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


def prompt_facts(data: SessionData, row: RequestRow) -> PromptFacts:
    """What a request's prompt contains, from the sums of its path."""
    sums = data.sums.get(row.node_id) if row.node_id is not None else None
    if sums is None:
        return NO_PROMPT
    tools = data.tool_names.get(id(sums.tools))
    if tools is None:
        tools = data.tool_names[id(sums.tools)] = tuple(unlink(sums.tools))
    marks = data.marks.get(id(sums.marks))
    if marks is None:
        marks = data.marks[id(sums.marks)] = _marks(sums.marks)
    return PromptFacts(sums.roles, tools, *marks)


def _marks(link: Link[Mark] | None) -> tuple[tuple[ReminderView, ...], tuple[McsView, ...]]:
    reminders, mcs = [], []
    for part, message_index, source in unlink(link):
        if message_index is None:
            continue
        if part is Part.MCS:
            mcs.append(McsView(message_index, ()))
        else:
            reminders.append(ReminderView(source, "reminder", message_index))
    return tuple(reminders), tuple(mcs)


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
        sections=() if is_side_call(row) else _sections(data.sections, row.started_at_ms),
        reminders=prompt.reminders,
        mcs=prompt.mcs,
        source=SourceRef(data.paths.get(row.source_id, ""), row.line, row.offset_bytes),
    )


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


def _sections(sections: Sequence[SectionRow], started_at_ms: int | None) -> tuple[SectionView, ...]:
    """The sections of the last `context.built` line before a request. It is written once a process
    and not at every rebuild of the prefix, so later requests may differ (formats/zcode.md 2.6)."""
    if started_at_ms is None:
        return ()
    limit = started_at_ms + SNAPSHOT_SLACK_MS
    latest = next(
        (s.event_id for s in reversed(sections) if s.at_ms is not None and s.at_ms <= limit), None
    )
    return tuple(
        SectionView(
            source=s.source,
            name=s.name,
            target=section_rule(s.source).target,
            cache_hint=section_rule(s.source).cache_hint,
            chars=s.chars,
            tokens_logged=s.tokens,
            tokens_estimate=s.estimate_tokens,
            message_index=None,
        )
        for s in sections
        if s.event_id == latest
    )
