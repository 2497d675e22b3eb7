"""Keeping verdicts: given by whoever writes, at the end of a round of reading; read by everyone."""

import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from tracer.cache import RULES_VERSION
from tracer.cache.session import corrected_rate
from tracer.errors import StoreError
from tracer.model.prompt import Tier
from tracer.model.verdict import Result, Verdict
from tracer.service.judging.facts import Call, SessionCalls, load_calls
from tracer.service.judging.judge import Judge, Known, Outcome
from tracer.store.tokens import uncounted_total
from tracer.store.transactions import begin_writing, commit_news, commit_quietly, roll_back
from tracer.store.verdicts import (
    SumsRow,
    VerdictRow,
    judged_by,
    save_sums,
    save_verdicts,
    set_judged,
    stored_verdicts,
    unjudged_sessions,
)
from tracer.tokens import DEFAULT_ENCODING

BATCH_VERDICTS = 300
BATCH_SECONDS = 0.5
_MARKS = 1 << 32
"""A session that a process is judging is marked by this and the process: whoever stores something
meanwhile takes the mark away."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Verdict).decode


class SessionVerdicts(NamedTuple):
    """The verdicts of a session as they are stored, or would be: by request row id."""

    rows: Mapping[int, VerdictRow]
    sums: SumsRow


def verdict_of(row: VerdictRow) -> Verdict:
    """The whole verdict of a stored row."""
    return _decode(row.verdict_json)


def judge_all(
    connection: sqlite3.Connection,
    *,
    until: float | None = None,
    promptless_seconds: float | None = None,
    report: Callable[[int, int], None] | None = None,
    failed: Callable[[int, Exception], None] | None = None,
) -> int:
    """Judge every session in which something was stored, a batch of verdicts a transaction; returns
    how many are left.

    Stops at `until` (by `time.monotonic`), or when it is killed, without loss: what is stored is
    not worked out again. Sessions without any prompt come last, and only for
    `promptless_seconds`: there may be thousands of them, of years ago, and whoever looks at one
    gets its verdicts worked out then. `report` is told how many verdicts were given and how many
    sessions are left. A session that cannot be judged is left out until something new is stored of
    it, and `failed` is told why: it must not keep the others waiting.
    """
    counted = uncounted_total(connection, DEFAULT_ENCODING) == 0
    version = RULES_VERSION if counted else -RULES_VERSION
    given = 0
    waiting = unjudged_sessions(connection, RULES_VERSION, counted)
    for at, (row_id, prompts) in enumerate(waiting):
        if not prompts and promptless_seconds is not None:
            if not promptless_seconds:
                return len(waiting) - at
            until, promptless_seconds = time.monotonic() + promptless_seconds, None
        try:
            for stored in _judge_session(connection, row_id, version):
                given += stored
                if report:
                    report(given, len(waiting) - at)
                if until is not None and time.monotonic() > until:
                    return len(waiting) - at - int(judged_by(connection, row_id) == version)
        except (StoreError, sqlite3.Error):
            raise
        except Exception as error:  # a fault of ours: what was read is stored all the same
            _give_up(connection, row_id, version)
            if failed:
                failed(row_id, error)
    return 0


def _give_up(connection: sqlite3.Connection, row_id: int, version: int) -> None:
    roll_back(connection)
    begin_writing(connection)
    set_judged(connection, row_id, version)
    commit_news(connection)


def _judge_session(connection: sqlite3.Connection, row_id: int, version: int) -> Iterator[int]:
    """Judge one session; yields the number of verdicts of each batch after it was stored."""
    mark = _MARKS + os.getpid()
    begin_writing(connection)
    set_judged(connection, row_id, mark)
    commit_quietly(connection)
    calls = load_calls(connection, row_id)
    old = stored_verdicts(connection, row_id)
    rows: dict[int, VerdictRow] = {}
    batch: list[VerdictRow] = []
    began = time.monotonic()
    for outcome in Judge(connection, row_id, calls).all(_known(calls, old)):
        row = rows[outcome.call.row.id] = _row(row_id, outcome, old)
        if outcome.verdict is None:
            continue
        if not batch:  # what is known already is no part of a batch, however long it takes
            began = time.monotonic()
        batch.append(row)
        if len(batch) >= BATCH_VERDICTS or time.monotonic() - began > BATCH_SECONDS:
            _store(connection, batch)
            yield len(batch)
            batch = []
    begin_writing(connection)
    save_verdicts(connection, batch)
    save_sums(connection, _sums(row_id, calls, rows))
    set_judged(connection, row_id, version, mark)
    commit_news(connection)
    yield len(batch)


def session_verdicts(connection: sqlite3.Connection, row_id: int) -> SessionVerdicts:
    """The verdicts of a session: those that are stored, and where something was stored since they
    were given, what they would be. Nothing is written."""
    old = stored_verdicts(connection, row_id, whole=True)
    if abs(judged_by(connection, row_id)) == RULES_VERSION:
        return SessionVerdicts(old, _plain_sums(row_id, old.values()))
    calls = load_calls(connection, row_id)
    judge = Judge(connection, row_id, calls)
    rows = {o.call.row.id: _row(row_id, o, old) for o in judge.all(_known(calls, old))}
    return SessionVerdicts(rows, _sums(row_id, calls, rows))


def known_verdicts(calls: SessionCalls, rows: Mapping[int, VerdictRow]) -> dict[str, Known]:
    """What is stored of the verdicts of a session, by key."""
    return _known(calls, rows)


def _known(calls: SessionCalls, rows: Mapping[int, VerdictRow]) -> dict[str, Known]:
    found = {}
    for call in calls.calls:
        row = rows.get(call.row.id)
        if row is not None and row.rules_version == RULES_VERSION:
            missed = row.result in (Result.PARTIAL, Result.MISS)
            found[call.facts.key] = Known(
                row.inputs_hash, tuple(s for s in row.signals.split(",") if s), missed
            )
    return found


def _row(row_id: int, outcome: Outcome, old: Mapping[int, VerdictRow]) -> VerdictRow:
    verdict = outcome.verdict
    if verdict is None:
        return old[outcome.call.row.id]
    return verdict_row(row_id, outcome.call, outcome.inputs_hash, verdict)


def verdict_row(row_id: int, call: Call, inputs_hash: bytes, verdict: Verdict) -> VerdictRow:
    """A verdict as it is stored."""
    cause = verdict.causes[0] if verdict.causes else None
    tier: Tier | None = cause.tier if cause else None
    return VerdictRow(
        request_id=call.row.id,
        session_id=row_id,
        rules_version=RULES_VERSION,
        inputs_hash=inputs_hash,
        result=verdict.result.value,
        baseline_key=verdict.baseline_key,
        expected_tokens=verdict.expected_read_tokens,
        actual_tokens=verdict.actual_read_tokens,
        missed_tokens=verdict.missed_tokens,
        avoidable_tokens=verdict.avoidable_tokens,
        rebilled_tokens=verdict.rebilled_tokens,
        code=cause.code if cause else "",
        subtype=cause.subtype if cause else "",
        certainty=cause.certainty.value if cause else "",
        fault=cause.fault.value if cause else "",
        tier=tier.value if tier else "",
        block_index=cause.block_index if cause else None,
        message_index=cause.message_index if cause else None,
        section=cause.section if cause else "",
        reminder=cause.reminder if cause else "",
        one_line=verdict.one_line,
        signals=",".join(verdict.signals),
        verdict_json=_encode(verdict).decode(),
    )


def _plain_sums(row_id: int, rows: Iterable[VerdictRow]) -> SumsRow:
    """The sums of verdicts, without the rate."""
    found = list(rows)
    misses = [r for r in found if r.result in (Result.PARTIAL, Result.MISS)]
    return SumsRow(
        session_id=row_id,
        rules_version=RULES_VERSION,
        judged=sum(r.result not in (Result.NO_USAGE, Result.NOT_REPORTED) for r in found),
        misses=len(misses),
        expected_rebuilds=sum(r.result == Result.EXPECTED_REBUILD for r in found),
        missed_tokens=sum(r.missed_tokens for r in misses),
        avoidable_tokens=sum(r.avoidable_tokens for r in misses),
        rebilled_tokens=sum(r.rebilled_tokens for r in misses),
        corrected_read_tokens=0,
        corrected_of_tokens=0,
    )


def _sums(row_id: int, calls: SessionCalls, rows: Mapping[int, VerdictRow]) -> SumsRow:
    lanes: dict[str, list[Call]] = {}
    for call in calls.calls:
        lanes.setdefault(call.facts.lane, []).append(call)
    rates = [corrected_rate([c.facts for c in found]) for found in lanes.values()]
    return _plain_sums(row_id, rows.values())._replace(
        corrected_read_tokens=sum(r.read_tokens for r in rates),
        corrected_of_tokens=sum(r.of_tokens for r in rates),
    )


def _store(connection: sqlite3.Connection, rows: list[VerdictRow]) -> None:
    begin_writing(connection)
    save_verdicts(connection, rows)
    commit_news(connection)


__all__ = [
    "SessionVerdicts",
    "judge_all",
    "known_verdicts",
    "session_verdicts",
    "verdict_of",
    "verdict_row",
]
