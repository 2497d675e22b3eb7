"""Everything beside the prompts of a session: turns, tools, children, rewinds, usage rows."""

import sqlite3
from collections.abc import Iterable, Sequence

import msgspec

from tracer.assemble.joins import Strength
from tracer.assemble.tool_calls import EventFact, ToolFact, merge_tools
from tracer.formats import active_branch
from tracer.model.conversation import ActiveBranch
from tracer.model.story import (
    CompactionView,
    ConflictView,
    FamilyLink,
    SessionStory,
    StoredSession,
    TodoView,
    ToolCallView,
    UsageRowView,
)
from tracer.service.prompt_calls import prompt_calls
from tracer.service.session_evidence import session_evidence
from tracer.service.story_turns import build_turns
from tracer.service.trace_compactions import trace_compactions
from tracer.store.events import trace_events
from tracer.store.session_reading import (
    FactsRow,
    LinkRow,
    PartStored,
    UsageJoinRow,
    child_links,
    parent_link,
    session_facts,
    session_todos,
    shown_parts,
    source_kinds,
    stored_messages,
    tool_events,
    tool_parts,
    tool_usage,
    usage_joins,
)
from tracer.store.sources import source_paths
from tracer.store.story_reading import AnsweredCall, answered_calls


def build_story(connection: sqlite3.Connection, row_id: int, session_id: str) -> SessionStory:
    """The story of a session."""
    facts = session_facts(connection, row_id)
    messages = stored_messages(connection, row_id)
    parts = shown_parts(connection, row_id)
    paths = source_paths(connection)
    branch = active_branch([m.message_id for m in messages], facts.revert_json if facts else "")
    rows = usage_joins(connection, row_id)
    children = [_link(link) for link in child_links(connection, row_id, session_id)]
    parent = parent_link(connection, row_id, session_id)
    return SessionStory(
        session_id=session_id,
        stored=_stored(facts, branch, paths) if facts else None,
        parent=_link(parent) if parent else None,
        children=tuple(children),
        turns=build_turns(connection, row_id, messages, branch),
        tools=_tools(connection, row_id, branch, rows, children),
        usage_rows=_usage_rows(rows, parts, paths),
        compactions=(
            *(_compaction(p) for p in parts if p.kind == "compaction"),
            *trace_compactions(trace_events(connection, row_id)),
        ),
        todos=tuple(TodoView(*row) for row in session_todos(connection, row_id)),
        abandoned_messages=len(branch.abandoned),
        evidence=session_evidence(source_kinds(connection, row_id, session_id), facts),
    )


def _stored(facts: FactsRow, branch: ActiveBranch, paths: dict[int, str]) -> StoredSession:
    return StoredSession(
        title=facts.title,
        title_source=facts.title_source,
        directory=facts.directory,
        task_type=facts.task_type,
        version=facts.version,
        removed_at_ms=facts.removed_at_ms,
        rewound_to_message_id=branch.target_message_id,
    )


def _link(link: LinkRow) -> FamilyLink:
    if link.call_id:
        strength, join = Strength.EXACT, "the tool call that started it"
    elif link.by_folder or link.by_database:
        strength, join = Strength.EXACT, "the session's own record of its parent"
    else:
        strength, join = Strength.SESSION, "the sessions only"
    return FamilyLink(
        link.session_id, link.title, link.task_type, link.call_id, link.agent_type, link.status,
        strength, join,
    )  # fmt: skip


def _tools(
    connection: sqlite3.Connection,
    row_id: int,
    branch: ActiveBranch,
    rows: Sequence[UsageJoinRow],
    children: Sequence[FamilyLink],
) -> tuple[ToolCallView, ...]:
    facts = [ToolFact("tool_usage", *row) for row in tool_usage(connection, row_id)]
    facts += [ToolFact("part", *row) for row in tool_parts(connection, row_id)]
    answered = answered_calls(connection, row_id)
    facts += [_answered(call) for call in answered]
    told = tool_events(connection, row_id)
    shown = [] if facts or told else prompt_calls(connection, row_id)
    facts += [call.fact for call in shown]
    events = [
        EventFact(
            e.event,
            e.at_ms,
            e.turn_id,
            e.call_id,
            e.message.partition(": ")[2],
            e.status,
            e.duration_ms,
        )  # fmt: skip
        for e in told
    ]
    request_of = {row.message_id: row.key or "" for row in rows if row.message_id}
    asked_by = {call.call_id: call.key for call in answered}
    asked_by |= {call.fact.call_id: call.asked_key for call in shown}
    results = {call.fact.call_id: call.result_key for call in shown}
    child_of = {child.call_id: child.session_id for child in children if child.call_id}
    abandoned = frozenset(branch.abandoned)
    return tuple(
        ToolCallView(
            fact.call_id,
            fact.turn_id,
            fact.tool,
            fact.status,
            fact.approval,
            fact.started_at_ms,
            fact.ended_at_ms,
            fact.duration_ms,
            permission_ms,
            fact.output_bytes,
            fact.error,
            fact.message_id,
            asked_by.get(fact.call_id) or request_of.get(fact.message_id, ""),
            child_of.get(fact.call_id, ""),
            known_from,
            fact.message_id in abandoned,
            results.get(fact.call_id, ""),
        )  # fmt: skip
        for fact, permission_ms, known_from in merge_tools(facts, events)
    )


def _answered(call: AnsweredCall) -> ToolFact:
    """What the answer alone says of a call: that it was asked for, not what became of it."""
    nothing = (None,) * 3
    return ToolFact("answer", call.call_id, call.turn_id, call.tool, "", "", *nothing, None, "", "")


def _usage_rows(
    rows: Sequence[UsageJoinRow],
    parts: Iterable[PartStored],
    paths: dict[int, str],
) -> tuple[UsageRowView, ...]:
    steps = {p.message_id: p for p in parts if p.kind == "step-finish"}
    views = []
    for row in rows:
        step = steps.get(row.message_id)
        views.append(
            UsageRowView(
                request_key=row.key or "",
                usage_id=row.usage_id,
                origin=row.origin,
                status=row.status,
                strength=row.join_strength,
                join=row.join_key,
                conflicts=_conflicts(row.conflicts_json),
                retries=row.retries,
                first_token_ms=row.first_token_ms,
                message_id=row.message_id,
                context_used=step.context_used if step else None,
                context_window=step.context_window if step else None,
                context_chars=_categories(step.context_json) if step else (),
            )
        )
    return tuple(views)


def _conflicts(text: str) -> tuple[ConflictView, ...]:
    return tuple(msgspec.json.decode(text, type=list[ConflictView])) if text else ()


def _compaction(part: PartStored) -> CompactionView:
    detail = msgspec.json.decode(part.detail_json) if part.detail_json else {}
    before, after = (
        value if isinstance(value := detail.get(name), int) else None
        for name in ("preCompactTokenCount", "postCompactTokenCount")
    )
    return CompactionView(part.created_at_ms, part.reason, part.state, before, after)


def _categories(text: str) -> tuple[tuple[str, int], ...]:
    """Source and characters of each category that says both."""
    found = msgspec.json.decode(text) if text else []
    return tuple(
        (str(item["source"]), item["chars"])
        for item in found
        if isinstance(item, dict) and "source" in item and isinstance(item.get("chars"), int)
    )
