"""Giving verdicts, and checking, at the end of a round of reading."""

import sqlite3
import time
from collections.abc import Callable
from dataclasses import replace

from tracer.model.ingest_views import IngestResult, Progress
from tracer.service.checking.keeping import check_all
from tracer.service.judging.storing import judge_all
from tracer.store.judging import session_name

PROMPTLESS_SECONDS = 1.0


def judged(
    connection: sqlite3.Connection,
    result: IngestResult,
    progress: Callable[[Progress], None] | None = None,
    *,
    promptless: bool = False,
) -> IngestResult:
    """Give the verdicts that are missing after a round, and check by the agents' rules; the round's
    result with the number of verdicts. Of sessions without prompts, verdicts of one second's work
    where the round read something, or all of them: `promptless`."""
    began = time.monotonic()
    given = 0
    problems: list[str] = []

    def elapsed_ms() -> int:
        return result.elapsed_ms + int((time.monotonic() - began) * 1000)

    def report(done: int, left: int) -> None:
        nonlocal given
        given = done
        if progress is not None:
            read = result.read_bytes
            progress(
                Progress(
                    "judging", "", read, read, result.new_records, elapsed_ms(),
                    verdicts=done, unjudged_sessions=left,
                )
            )  # fmt: skip

    def failed(row_id: int, error: Exception) -> None:
        name = session_name(connection, row_id)
        problems.append(f"{name}: {type(error).__name__}: {error}")

    seconds = None
    if not promptless:
        seconds = PROMPTLESS_SECONDS if result.read_bytes else 0.0
    left = judge_all(connection, promptless_seconds=seconds, report=report, failed=failed)
    check_all(connection, failed=failed)
    return replace(
        result,
        verdicts=given,
        verdict_errors=tuple(problems),
        unjudged_sessions=left,
        elapsed_ms=elapsed_ms(),
    )


def judge_for(connection: sqlite3.Connection, seconds: float) -> bool:
    """Give verdicts for a while; False where some are left for the next round."""
    return not judge_all(connection, until=time.monotonic() + seconds)
