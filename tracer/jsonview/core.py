"""The JSON that programs rely on: pure functions from dataclasses to plain values.

docs/json.md is its contract: keys are added, never renamed, and `schema` grows when a meaning
changes. Unknown is null, never 0 or an empty string; times are UTC in ISO 8601 with milliseconds.
The JSON of one request and its prompt is in `tracer.jsonview.request`.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from tracer.model.doctor_views import DoctorLine, DoctorReport, SessionEvidence
from tracer.model.ingest_views import FileResult, IngestResult, SkippedLine, SourceView
from tracer.model.source import SourceRef
from tracer.model.views import SessionPage, SessionSummary, UsageTotals

SCHEMA = 1
JsonObject: TypeAlias = dict[str, object]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def utc(value_ms: int | None) -> datetime | None:
    """Epoch milliseconds as a UTC time; None where unknown or outside the calendar."""
    if value_ms is None:
        return None
    try:
        return _EPOCH + timedelta(milliseconds=value_ms)
    except OverflowError:
        return None


def iso_time(value_ms: int | None) -> str | None:
    """Epoch milliseconds as `2026-03-01T09:15:02.118Z`."""
    at = utc(value_ms)
    if at is None:
        return None
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def known(text: str) -> str | None:
    """`text`, or null where it is empty: the log did not say."""
    return text or None


def embedded(text: str) -> object:
    """JSON text from a log as a value, as the text itself where it is not valid JSON, or null."""
    if not text:
        return None

    def finite(literal: str) -> float | str:
        value = float(literal)
        return value if math.isfinite(value) else literal

    try:
        value: object = json.loads(text, parse_float=finite, parse_constant=str)
    except (ValueError, RecursionError):
        return text
    return value


def source_ref(ref: SourceRef | None) -> JsonObject | None:
    """The line of a file in which a fact stands."""
    if ref is None:
        return None
    return {"path": ref.path, "line": ref.line, "offset": ref.offset_bytes}


def ingest_json(result: IngestResult) -> JsonObject:
    """What `tracer ingest --json` prints."""
    files = result.files
    statuses = Counter(file.status for file in files)
    return {
        "schema": SCHEMA,
        "files": [_file(file) for file in files],
        "left_out": [{"path": one.path, "reason": one.reason} for one in result.left_out],
        "left_out_total": result.left_out_total,
        "verdict_errors": list(result.verdict_errors),
        "count_error": known(result.count_error),
        "totals": {
            "files": len(files),
            "read": statuses["read"],
            "unchanged": statuses["unchanged"],
            "not_read": statuses["not-read"],
            "bytes": sum(file.bytes for file in files),
            "read_bytes": result.read_bytes,
            "records": sum(file.records for file in files),
            "new_records": result.new_records,
            "duplicates": sum(file.duplicates for file in files),
            "skipped": sum(file.skipped_total for file in files),
            "counted_blocks": result.counted_blocks,
            "verdicts": result.verdicts,
            "unjudged_sessions": result.unjudged_sessions,
            "elapsed_ms": result.elapsed_ms,
        },
    }


def _file(file: FileResult) -> JsonObject:
    return {
        "path": file.path,
        "format": file.format,
        "bytes": file.bytes,
        "records": file.records,
        "new_records": file.new_records,
        "duplicates": file.duplicates,
        "skipped": _skipped(file.skipped),
        "skipped_total": file.skipped_total,
        "status": file.status,
        "detail": known(file.detail),
    }


def _skipped(lines: Iterable[SkippedLine]) -> list[JsonObject]:
    return [
        {
            "line": skipped.line,
            "offset": skipped.offset_bytes,
            "kind": skipped.kind,
            "reason": skipped.reason,
            "excerpt": skipped.excerpt,
        }
        for skipped in lines
    ]


def sessions_json(page: SessionPage) -> JsonObject:
    """What `tracer sessions --json` prints."""
    return {
        "schema": SCHEMA,
        "total": page.total,
        "sessions": [session_json(session) for session in page.sessions],
    }


def session_json(session: SessionSummary) -> JsonObject:
    """One session. Findings are null until it is checked."""
    return {
        "session_id": session.session_id,
        "agent": known(session.agent),
        "title": known(session.title),
        "project": known(session.project),
        "started_at": iso_time(session.started_at_ms),
        "ended_at": iso_time(session.ended_at_ms),
        "requests": session.requests,
        "turns": session.turns,
        "side_calls": session.side_calls,
        "failed_requests": session.failed_requests,
        "models": list(session.models),
        "lanes": list(session.lanes),
        "usage": _usage_totals(session.usage),
        "hit_rate": session.usage.hit_rate,
        "corrected_rate": session.corrected_rate,
        "missed_tokens": session.missed_tokens,
        "avoidable_tokens": session.avoidable_tokens,
        "rebilled_tokens": session.rebilled_tokens,
        "misses": session.misses,
        "findings": session.findings,
        "observed": {
            "full": session.observed_full,
            "windowed": session.observed_windowed,
            "metadata": session.observed_metadata,
        },
        "parent_session_id": known(session.parent_session_id),
        "child_sessions": session.child_sessions,
        "task_type": known(session.task_type),
        "archived_at": iso_time(session.archived_at_ms),
        "removed_at": iso_time(session.removed_at_ms),
    }


def _usage_totals(usage: UsageTotals) -> JsonObject:
    reported = usage.reported_requests > 0
    read_known = reported and usage.read_reported_input_tokens > 0
    return {
        "input": usage.input_tokens if reported else None,
        # A sum of nothing known is unknown, not 0.
        "fresh": usage.fresh_tokens if read_known or usage.fresh_tokens else None,
        "cache_read": usage.cache_read_tokens if read_known else None,
        "cache_write": usage.cache_write_tokens,
        "output": usage.output_tokens if reported else None,
        "reported_requests": usage.reported_requests,
    }


def sources_json(sources: Iterable[SourceView]) -> JsonObject:
    """What `tracer sources --json` prints."""
    return {"schema": SCHEMA, "sources": [_source(source) for source in sources]}


def _source(source: SourceView) -> JsonObject:
    return {
        "source_id": source.source_id,
        "path": source.path,
        "segment": source.segment,
        "format": known(source.format),
        "status": source.status,
        "bytes": source.size_bytes,
        "offset": source.offset_bytes,
        "pending_bytes": source.pending_bytes,
        "lines": source.lines,
        "records": source.records,
        "duplicates": source.duplicates,
        "skipped": _skipped(source.skipped),
        "skipped_total": source.skipped_total,
        "last_read_at": iso_time(source.last_read_at_ms),
        "sessions": list(source.sessions),
    }


def doctor_json(report: DoctorReport) -> JsonObject:
    """What `tracer doctor --json` prints."""
    return {
        "schema": SCHEMA,
        "roots": list(report.roots),
        "findings": [doctor_line_json(line) for line in report.lines],
        "files": [
            {"path": path, "format": known(format_name), "bytes": size_bytes}
            for path, format_name, size_bytes in report.files
        ],
        "sessions": [_evidence(session) for session in report.sessions],
        "session_total": report.session_total,
    }


def _evidence(session: SessionEvidence) -> JsonObject:
    return {
        "session_id": session.session_id,
        "title": known(session.title),
        "requests": session.requests,
        "prompts": session.prompts,
        "windowed_prompts": session.windowed_prompts,
        "log_lines": session.log_lines,
        "section_lines": session.section_lines,
        "usage_rows": session.usage_rows,
        "messages": session.messages,
        "session_events": session.session_events,
        "missing_files": session.missing_files,
        "findings": [doctor_line_json(line) for line in session.lines],
    }


def doctor_line_json(line: DoctorLine) -> JsonObject:
    """What is there, what is missing, or what to know, and what to do about it."""
    return {
        "level": line.level,
        "title": line.title,
        "detail": line.detail,
        "fix": known(line.fix),
    }
