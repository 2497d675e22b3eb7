"""What stands around the requests of a session, for the lanes of its timeline."""

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence

from tracer.cache import provider_for
from tracer.cache.markers import asked_ttl
from tracer.model.events import Status
from tracer.model.findings import Level
from tracer.model.surroundings import CacheClock, ChildRequest, ChildSession, Surroundings
from tracer.model.verdict import Result
from tracer.model.views import RequestSummary
from tracer.service.sessions import summaries
from tracer.store.checks import finding_marks
from tracer.store.reading import child_ids
from tracer.store.surroundings import child_requests, has_calls, response_calls


def build_surroundings(
    connection: sqlite3.Connection,
    row_id: int,
    session_id: str,
    requests: Sequence[RequestSummary],
    seqs: Mapping[str, int],
    first_seq: int,
    last_seq: int,
    rules_off: frozenset[str] = frozenset(),
) -> Surroundings:
    """The surroundings of some of a session's `requests`; `seqs` are their numbers by key. Findings
    of `rules_off` do not count."""
    shown = requests[max(first_seq, 1) - 1 : last_seq]
    keys = [request.key for request in shown]
    wanted = frozenset(keys)
    calls: dict[str, Counter[str]] = {}
    for key, name in response_calls(connection, row_id, keys):
        if key in wanted:
            calls.setdefault(key, Counter())[name] += 1
    findings: dict[str, dict[Level, int]] = {}
    for key, level, count in finding_marks(connection, row_id, rules_off):
        findings.setdefault(key, {})[Level(level)] = count
    return Surroundings(
        clocks=cache_clocks(
            shown,
            {
                key: requests[seqs[key] - 1]
                for key in {request.verdict.baseline_key for request in shown if request.verdict}
                if key in seqs
            },
        ),
        calls={key: tuple(found.items()) for key, found in calls.items()},
        children=_children(connection, session_id),
        has_calls=bool(calls) or has_calls(connection, row_id),
        findings=findings,
    )


def cache_clocks(
    shown: Sequence[RequestSummary], by_key: Mapping[str, RequestSummary]
) -> Mapping[str, CacheClock]:
    """The clock of each of the `shown` requests whose baseline is one of those given by their key,
    where both say when they started."""
    clocks = {}
    for request in shown:
        baseline = by_key.get(request.verdict.baseline_key) if request.verdict else None
        if baseline is None or baseline.started_at_ms is None or request.started_at_ms is None:
            continue
        provider = provider_for(request.provider_id, request.model_id)
        asked = asked_ttl(baseline.markers)
        named = provider.named_lifetime(asked) if asked else None
        value = named or provider.lifetime.of(request.model_id)
        clocks[request.key] = CacheClock(
            idle_ms=max(0, request.started_at_ms - baseline.started_at_ms),
            baseline_seq=baseline.seq,
            sure_ms=value.value.sure_ms,
            gone_ms=value.value.gone_ms,
            source=f"asked for by a marker: {asked}" if named else provider.title,
        )
    return clocks


def _children(connection: sqlite3.Connection, session_id: str) -> tuple[ChildSession, ...]:
    ids = child_ids(connection, session_id)
    if not ids:
        return ()
    found: dict[int, list[ChildRequest]] = {}
    for row in child_requests(connection, ids):
        own = found.setdefault(row.session_row, [])
        result = Result(row.result) if row.result else None
        own.append(
            ChildRequest(row.key, len(own) + 1, row.started_at_ms, Status(row.status), result)
        )
    made = [
        ChildSession(session, tuple(found.get(row_id, ())))
        for row_id, session in zip(ids, summaries(connection, ids, sparks=False), strict=True)
    ]
    return tuple(sorted(made, key=lambda child: child.session.started_at_ms or 0))
