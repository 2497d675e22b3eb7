"""Verdicts as use cases: one explained, all of a session in short, misses ranked, a session's sums.

What is stored is used as it is. Where something was stored since the verdicts were given, or
another version of the rules gave them, they are worked out anew in memory.
"""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

import msgspec

from tracer.cache import RULES_VERSION
from tracer.cache.diagnostics import compare, parse_diagnostics
from tracer.cache.prices import PriceTable, miss_cost
from tracer.cache.session import (
    CauseSum,
    InFlight,
    Judged,
    LaneCache,
    Rate,
    SessionCache,
    session_cache,
)
from tracer.errors import NotFoundError, UsageError
from tracer.masking import MASK
from tracer.model.compare_views import RequestChoice
from tracer.model.verdict import CallFacts, Result, Verdict, VerdictBrief
from tracer.model.verdict_views import (
    CauseTotal,
    DiagnosticView,
    FirstChange,
    Misses,
    MissView,
    VerdictView,
)
from tracer.service.cached import RevisionCache
from tracer.service.judging.facts import SessionCalls, billed_facts, load_calls
from tracer.service.judging.first_change import first_change
from tracer.service.judging.judge import Judge, provider_of
from tracer.service.judging.storing import (
    SessionVerdicts,
    known_verdicts,
    session_verdicts,
    verdict_of,
)
from tracer.service.requests import is_side_call
from tracer.service.standing import Numbered, Order
from tracer.service.stopped_in import named_stop
from tracer.store.layout_reading import session_layouts
from tracer.store.reading import (
    AnyRequest,
    RequestRow,
    request_of_key,
    sessions_by_id,
)
from tracer.store.standing import EarlierRow
from tracer.store.verdicts import (
    MissRow,
    VerdictRow,
    cause_rows,
    judged_by,
    miss_rows,
    request_numbers,
    shown_by,
    stored_verdict,
    stored_verdicts,
    unjudged_count,
    verdict_results,
    verdicts_of,
)

KEPT_SESSIONS = 2
BRIEF_AT_ONCE = 200
"""Of a session of so many requests the verdicts are worked out for a list; of a longer one, which
is being read just now, those that are stored are shown."""

CHOICES = 30
_RESULTS = {result.value: result for result in Result}

__all__ = [
    "CauseSum",
    "InFlight",
    "LaneCache",
    "Rate",
    "SessionCache",
    "VerdictReader",
]


class ResultOf(NamedTuple):
    """What the outline of a session tells of a verdict."""

    result: Result
    baseline_key: str


class VerdictReader:
    """Reads the verdicts of one database. Safe in threads."""

    def __init__(self) -> None:
        self._calls: RevisionCache[SessionCalls] = RevisionCache(KEPT_SESSIONS)
        self._verdicts: RevisionCache[SessionVerdicts] = RevisionCache(KEPT_SESSIONS)
        self._caches: RevisionCache[SessionCache] = RevisionCache(KEPT_SESSIONS)

    def briefs(self, connection: sqlite3.Connection, row_id: int) -> dict[int, VerdictBrief]:
        """The verdicts of a session in short, by request row id. Of a long session that is being
        read just now, the ones that are stored."""
        if abs(judged_by(connection, row_id)) == RULES_VERSION:
            rows: Mapping[int, VerdictRow] = stored_verdicts(connection, row_id)
        else:
            rows = _current(stored_verdicts(connection, row_id))
            if len(request_numbers(connection, [row_id])) <= BRIEF_AT_ONCE:
                rows = self._of(connection, row_id).rows
        return {request: brief_of(row) for request, row in rows.items()}

    def some_briefs(
        self, connection: sqlite3.Connection, row_id: int, requests: Sequence[int]
    ) -> dict[int, VerdictBrief] | None:
        """The same of some requests of a session that is judged; None for another one."""
        if abs(judged_by(connection, row_id)) != RULES_VERSION:
            return None
        return {i: brief_of(row) for i, row in verdicts_of(connection, requests).items()}

    def results(self, connection: sqlite3.Connection, row_id: int) -> dict[int, ResultOf]:
        """The result and the baseline of each verdict of a session, by request row id."""
        if abs(judged_by(connection, row_id)) != RULES_VERSION:
            briefs = self.briefs(connection, row_id)
            return {i: ResultOf(brief.result, brief.baseline_key) for i, brief in briefs.items()}
        rows = verdict_results(connection, row_id)
        return {i: ResultOf(_RESULTS[result], baseline) for i, result, baseline in rows}

    def brief(
        self, connection: sqlite3.Connection, row_id: int, request_row: int
    ) -> VerdictBrief | None:
        """The verdict of one request of a session in short."""
        if abs(judged_by(connection, row_id)) != RULES_VERSION:
            return self.briefs(connection, row_id).get(request_row)
        row = stored_verdict(connection, request_row)
        return brief_of(row) if row else None

    def explain(
        self,
        connection: sqlite3.Connection,
        row_id: int,
        order: Order,
        key: str,
        against: str,
        prices: PriceTable,
        *,
        reveal: bool = False,
    ) -> VerdictView:
        """The verdict on a request of a session, against its baseline or another request of it.
        Secrets in excerpts are masked unless `reveal`. Raises NotFoundError; UsageError where that
        is the request itself."""
        row = request_of_key(connection, key)
        if against == key:
            raise UsageError("A request cannot be its own baseline.")
        if against and order.number(against) is None:
            raise NotFoundError(
                f"Request {against!r} is not in the session of {key}: only requests of one session "
                "can have shared a prompt. `tracer diff` compares any two."
            )
        verdict = self._verdict(connection, row_id, row, against, reveal=reveal)
        if verdict.read_stop is not None:
            stop = named_stop(connection, row_id, row, verdict.read_stop)
            verdict = replace(verdict, read_stop=stop)
        facts = billed_facts(connection, row)
        known = order.number(verdict.baseline_key) if verdict.baseline_key else None
        before = request_of_key(connection, verdict.baseline_key) if known else None
        change = _change(connection, row_id, verdict, before, row, reveal=reveal)
        return VerdictView(
            key=key,
            seq=order.number(key) or 0,
            session_id=row.session_id,
            lane=row.lane,
            model=facts.model,
            provider=provider_of(facts).title,
            verdict=with_cost(verdict, facts, prices),
            baseline=_choice(before, known) if before and known else None,
            chosen=bool(against),
            choices=_choices(order.before(key)),
            change=_seen(connection, row_id, order, key, change),
            usage=facts.usage,
            diagnostics=_diagnostics(row, verdict),
            rules_version=RULES_VERSION,
        )

    def misses(
        self,
        connection: sqlite3.Connection,
        row_id: int | None,
        code: str,
        limit: int,
        offset: int,
    ) -> Misses:
        """Misses, the costliest first; of one session or of all, of one cause or of all."""
        if row_id is not None and abs(judged_by(connection, row_id)) != RULES_VERSION:
            return self._fresh_misses(connection, row_id, code, limit, offset)
        causes = [c for c in cause_rows(connection, row_id) if not code or c.code == code]
        rows = miss_rows(connection, row_id, code, limit, offset)
        numbers = request_numbers(connection, {r.session_row for r in rows}) if rows else {}
        unjudged = unjudged_count(connection, RULES_VERSION) if row_id is None else 0
        totals = tuple(CauseTotal(*c) for c in causes)
        made = tuple(_miss(r, numbers.get(r.verdict.request_id, 0)) for r in rows)
        return _misses(made, totals, unjudged)

    def session_cache(self, connection: sqlite3.Connection, row_id: int) -> SessionCache:
        """What the cache did over a session."""
        return self._caches.get(connection, row_id, lambda: self._cache(connection, row_id))

    def _cache(self, connection: sqlite3.Connection, row_id: int) -> SessionCache:
        rows = self._of(connection, row_id).rows
        calls = self._loaded(connection, row_id).calls
        return session_cache(
            Judged(c.facts, verdict_of(rows[c.row.id])) for c in calls if c.row.id in rows
        )

    def _of(self, connection: sqlite3.Connection, row_id: int) -> SessionVerdicts:
        return self._verdicts.get(connection, row_id, lambda: session_verdicts(connection, row_id))

    def _loaded(self, connection: sqlite3.Connection, row_id: int) -> SessionCalls:
        return self._calls.get(connection, row_id, lambda: load_calls(connection, row_id))

    def _verdict(
        self,
        connection: sqlite3.Connection,
        row_id: int,
        row: RequestRow,
        against: str,
        *,
        reveal: bool,
    ) -> Verdict:
        """A stored verdict is taken as it is, unless something is masked in it that is to be
        revealed: that is made again."""
        judged = abs(judged_by(connection, row_id)) == RULES_VERSION
        if judged and not against:
            stored = stored_verdict(connection, row.id)
            if stored is not None and not (reveal and MASK in stored.verdict_json):
                return verdict_of(stored)
        calls = self._loaded(connection, row_id)
        judge = Judge(connection, row_id, calls, reveal=reveal)
        known = known_verdicts(calls, stored_verdicts(connection, row_id))
        return judge.verdict(judge.one(row.key, known, against), brief=False)

    def _fresh_misses(
        self, connection: sqlite3.Connection, row_id: int, code: str, limit: int, offset: int
    ) -> Misses:
        keys = {c.row.id: c for c in self._loaded(connection, row_id).calls}
        numbers = request_numbers(connection, [row_id])
        rows = [r for r in self._of(connection, row_id).rows.values() if _is_miss(r)]
        rows = [r for r in rows if not code or r.code == code]
        rows.sort(key=lambda r: (-r.rebilled_tokens, keys[r.request_id].facts.key))
        page = rows[offset : offset + limit]
        title = sessions_by_id(connection, [row_id])[0].title
        made = []
        for row in page:
            call = keys[row.request_id]
            miss = MissRow(
                call.facts.key, call.row.session_id, row_id, title, call.row.lane,
                call.row.model_id, call.row.started_at_ms, row,
            )  # fmt: skip
            made.append(_miss(miss, numbers[row.request_id]))
        return _misses(tuple(made), _totals(rows), 0)


def brief_of(row: VerdictRow) -> VerdictBrief:
    """A stored verdict in short."""
    return VerdictBrief(
        Result(row.result),
        row.code,
        row.subtype,
        row.certainty,
        row.one_line,
        row.baseline_key,
        row.expected_tokens,
        row.actual_tokens,
        row.missed_tokens,
        row.avoidable_tokens,
        row.rebilled_tokens,
    )


def with_cost(verdict: Verdict, call: CallFacts, prices: PriceTable) -> Verdict:
    """The verdict with what the rebilled tokens cost, where a price is known."""
    price = prices.of(provider_of(call).name, call.model, call.provider_id)
    if price is None or not verdict.rebilled_tokens:
        return verdict
    cost = miss_cost(
        verdict.rebilled_tokens,
        price,
        wrote=bool(call.write_tokens),
        hour=bool(call.write_1h_tokens),
    )
    return replace(verdict, cost=cost)


def _current(rows: Mapping[int, VerdictRow]) -> dict[int, VerdictRow]:
    return {i: row for i, row in rows.items() if row.rules_version == RULES_VERSION}


def _is_miss(row: VerdictRow) -> bool:
    return row.result in (Result.PARTIAL, Result.MISS)


def _seen(
    connection: sqlite3.Connection,
    row_id: int,
    order: Order,
    key: str,
    change: FirstChange | None,
) -> FirstChange | None:
    """The first difference, with the earlier request on which its verdict places it."""
    if change is None or change.message_index is None:
        return change
    seen = shown_by(connection, row_id, change.message_index, key)
    number = order.number(seen) if seen else None
    return replace(change, seen_key=seen, seen_seq=number) if number else change


def _change(
    connection: sqlite3.Connection,
    row_id: int,
    verdict: Verdict,
    before: RequestRow | None,
    row: RequestRow,
    *,
    reveal: bool,
) -> FirstChange | None:
    """The first difference with its lines, where the prompts' content is a cause."""
    told = any(c.tier is not None and c.block_index is not None for c in verdict.causes)
    if not told or before is None or before.node_id is None or row.node_id is None:
        return None
    layouts = session_layouts(connection, row_id)
    notes = layouts.notes_of(before.id), layouts.notes_of(row.id)
    return first_change(connection, before.node_id, row.node_id, notes, reveal=reveal)


def _choices(earlier: Iterable[Numbered]) -> tuple[RequestChoice, ...]:
    """The requests before this one that have a prompt, the latest first."""
    found = (_choice(row, seq) for seq, row in earlier if row.node_id is not None)
    return tuple(islice(found, CHOICES))


def _choice(row: AnyRequest | EarlierRow, seq: int) -> RequestChoice:
    return RequestChoice(
        row.key,
        seq,
        row.started_at_ms,
        row.model_id,
        row.query_source,
        is_side_call(row),
        row.node_id is not None,
    )


def _diagnostics(row: RequestRow, verdict: Verdict) -> tuple[DiagnosticView, ...]:
    """What the provider's answer says of its own cache."""
    if '"diagnostics"' not in row.usage_json:
        return ()
    usage = msgspec.json.decode(row.usage_json)
    found = usage.get("diagnostics") if isinstance(usage, dict) else None
    if not isinstance(found, dict):
        return ()
    views = []
    for diagnostic in parse_diagnostics(found):
        compared = compare(diagnostic, verdict)
        views.append(
            DiagnosticView(
                diagnostic.source,
                diagnostic.category,
                diagnostic.missed_tokens,
                compared.agreement.value,
                compared.sentence,
            )
        )
    return tuple(views)


def _miss(row: MissRow, seq: int) -> MissView:
    verdict = row.verdict
    return MissView(
        key=row.key,
        seq=seq,
        session_id=row.session_id,
        session_title=row.title,
        lane=row.lane,
        model=row.model_id,
        started_at_ms=row.started_at_ms,
        brief=brief_of(verdict),
        fault=verdict.fault,
        tier=verdict.tier,
        block_index=verdict.block_index,
        message_index=verdict.message_index,
        section=verdict.section,
        reminder=verdict.reminder,
    )


def _misses(made: tuple[MissView, ...], totals: tuple[CauseTotal, ...], unjudged: int) -> Misses:
    return Misses(
        misses=made,
        total=sum(t.requests for t in totals),
        causes=totals,
        missed_tokens=sum(t.missed_tokens for t in totals),
        avoidable_tokens=sum(t.avoidable_tokens for t in totals),
        rebilled_tokens=sum(t.rebilled_tokens for t in totals),
        unjudged_sessions=unjudged,
    )


def _totals(rows: Sequence[VerdictRow]) -> tuple[CauseTotal, ...]:
    found: dict[tuple[str, str], list[VerdictRow]] = {}
    for row in rows:
        found.setdefault((row.code, row.subtype), []).append(row)
    totals = [
        CauseTotal(
            code,
            subtype,
            len(own),
            sum(r.missed_tokens for r in own),
            sum(r.avoidable_tokens for r in own),
            sum(r.rebilled_tokens for r in own),
        )
        for (code, subtype), own in found.items()
    ]
    return tuple(sorted(totals, key=lambda t: (-t.rebilled_tokens, t.code, t.subtype)))
