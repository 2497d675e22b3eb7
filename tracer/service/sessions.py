"""The sessions list."""

import re
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from tracer.errors import UsageError
from tracer.model.session_list import SessionChoices, SessionFilter
from tracer.model.views import SessionPage, SessionSummary, SparkPoint, UsageTotals
from tracer.store.checks import finding_counts
from tracer.store.reading import SessionRow, models_and_lanes, sessions_by_id, spark_rows
from tracer.store.session_list import (
    FamilyRow,
    agent_names,
    family_rows,
    find_sessions,
    model_names,
    project_names,
)
from tracer.store.verdicts import SumsRow, stored_sums

SPARK_BARS = 40
_MOMENT = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}))?", re.ASCII)


def session_page(
    connection: sqlite3.Connection,
    wanted: SessionFilter | str,
    limit: int,
    offset: int,
    rules_off: frozenset[str] = frozenset(),
) -> SessionPage:
    """A page of the sessions that are wanted; a text alone asks for that text. Findings of
    `rules_off` do not count."""
    if isinstance(wanted, str):
        wanted = SessionFilter(text=wanted.strip())
    ids, total = find_sessions(connection, wanted, limit, offset)
    return SessionPage(summaries(connection, ids, sparks=True, rules_off=rules_off), total)


def time_range(since: str, until: str) -> tuple[int | None, int | None]:
    """Two moments in UTC as epoch milliseconds, None for an empty one. A day, or a minute of it, as
    `until` means its end. Raises UsageError for anything but `2026-01-12` or `2026-01-12T09:02`."""
    return _moment_ms(since, end=False), _moment_ms(until, end=True)


def _moment_ms(text: str, *, end: bool) -> int | None:
    text = text.strip()
    if not text:
        return None
    found = _MOMENT.fullmatch(text)
    try:
        if not found:
            raise ValueError
        start = datetime.fromisoformat(f"{found[1]}T{found[2] or '00:00'}").replace(tzinfo=UTC)
    except ValueError as error:
        raise UsageError(
            f"“{text[:40]}” is no time: write a day as 2026-01-12, or a minute as 2026-01-12T09:02."
        ) from error
    start_ms = int(start.timestamp()) * 1000
    length = timedelta(minutes=1) if found[2] else timedelta(days=1)
    return start_ms + int(length.total_seconds()) * 1000 - 1 if end else start_ms


def session_choices(connection: sqlite3.Connection) -> SessionChoices:
    """What the list can be filtered by."""
    return SessionChoices(
        projects=tuple(project_names(connection)),
        agents=tuple(agent_names(connection)),
        models=tuple(model_names(connection)),
    )


def summaries(
    connection: sqlite3.Connection,
    ids: Sequence[int],
    *,
    sparks: bool,
    rules_off: frozenset[str] = frozenset(),
) -> tuple[SessionSummary, ...]:
    """Summaries of sessions, in the order of their row ids; sparks only where they are shown.
    Findings of `rules_off` do not count."""
    if not ids:
        return ()
    used = models_and_lanes(connection, ids)
    bars = spark_rows(connection, ids) if sparks else {}
    sums = stored_sums(connection, ids)
    family = family_rows(connection, ids)
    found = finding_counts(connection, ids, rules_off)
    return tuple(
        replace(
            _summary(
                row, used[row.id], spark(bars.get(row.id, [])), sums.get(row.id), family[row.id]
            ),
            findings=found.get(row.id),
        )
        for row in sessions_by_id(connection, ids)
    )


def _summary(
    row: SessionRow,
    used: tuple[list[str], list[str]],
    bars: tuple[SparkPoint, ...],
    sums: SumsRow | None,
    family: FamilyRow,
) -> SessionSummary:
    models, lanes = used
    of_tokens = sums.corrected_of_tokens if sums else 0
    return SessionSummary(
        session_id=row.session_id,
        agent=row.agent,
        title=row.title,
        project=row.project,
        started_at_ms=row.first_at_ms,
        ended_at_ms=row.last_at_ms,
        requests=row.requests,
        turns=row.turns,
        side_calls=row.side_calls,
        failed_requests=row.failed,
        models=tuple(models),
        lanes=tuple(lanes),
        usage=UsageTotals(
            input_tokens=row.input_tokens or 0,
            fresh_tokens=row.fresh_tokens or 0,
            cache_read_tokens=row.cache_read_tokens or 0,
            cache_write_tokens=row.cache_write_tokens,
            output_tokens=row.output_tokens or 0,
            reported_requests=row.reported,
            read_reported_input_tokens=row.read_reported_input or 0,
        ),
        observed_full=row.full,
        observed_windowed=row.windowed,
        observed_metadata=row.metadata,
        parent_session_id=row.parent_session_id,
        spark=bars,
        misses=sums.misses if sums else None,
        missed_tokens=sums.missed_tokens if sums else None,
        avoidable_tokens=sums.avoidable_tokens if sums else None,
        rebilled_tokens=sums.rebilled_tokens if sums else None,
        corrected_rate=sums.corrected_read_tokens / of_tokens if sums and of_tokens else None,
        child_sessions=family.children,
        parent_stored=bool(family.parent_known),
        task_type=family.task_type,
        removed_at_ms=family.removed_at_ms,
        archived_at_ms=family.archived_at_ms,
    )


def spark(values: Sequence[tuple[int, int, int]]) -> tuple[SparkPoint, ...]:
    """At most SPARK_BARS bars; where there are more requests, a bar is the mean of its run."""
    if len(values) <= SPARK_BARS:
        return tuple(SparkPoint(*v) for v in values)
    points = []
    for bar in range(SPARK_BARS):
        run = values[bar * len(values) // SPARK_BARS : (bar + 1) * len(values) // SPARK_BARS]
        sums = [sum(v[i] for v in run) // len(run) for i in range(3)]
        points.append(SparkPoint(*sums))
    return tuple(points)
