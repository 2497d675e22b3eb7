"""The sessions list."""

import sqlite3
from collections.abc import Sequence

from tracer.model.views import SessionSummary, SparkPoint, UsageTotals
from tracer.store.reading import SessionRow, models_and_lanes, sessions_by_id, spark_rows
from tracer.store.verdicts import SumsRow, stored_sums

SPARK_BARS = 40


def summaries(
    connection: sqlite3.Connection, ids: Sequence[int], *, sparks: bool
) -> tuple[SessionSummary, ...]:
    """Summaries of sessions, in the order of their row ids; sparks only where they are shown."""
    if not ids:
        return ()
    used = models_and_lanes(connection, ids)
    bars = spark_rows(connection, ids) if sparks else {}
    sums = stored_sums(connection, ids)
    return tuple(
        _summary(row, *used[row.id], spark(bars.get(row.id, [])), sums.get(row.id))
        for row in sessions_by_id(connection, ids)
    )


def _summary(
    row: SessionRow,
    models: list[str],
    lanes: list[str],
    bars: tuple[SparkPoint, ...],
    sums: SumsRow | None,
) -> SessionSummary:
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
