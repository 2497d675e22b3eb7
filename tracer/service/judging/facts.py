"""What a session's requests are judged by, loaded once: the facts of each call, without texts."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from tracer.assemble.attempts import group_attempts
from tracer.cache.facts import purpose_of, written_lifetimes
from tracer.hashing import digest
from tracer.model.events import Status
from tracer.model.prompt import Marker
from tracer.model.verdict import CallFacts, HashLadder, LoggedEvent
from tracer.service.judging.paths import Paths
from tracer.service.requests import attempt_facts, usage_of
from tracer.store.judging import (
    AdapterRow,
    CallRow,
    SessionEvent,
    adapter_rows,
    call_rows,
    endpoint_contexts,
    explaining_events,
    one_call,
    param_texts,
)
from tracer.store.reading import RequestRow, session_markers, session_requests

_EVENT_KINDS = (
    ("microcompact", "clear"),
    ("compact", "compaction"),
    ("session_compact", "compaction"),
    ("mcp", "mcp"),
    ("session.resumed", "resume"),
    ("session_resumed", "resume"),
    ("session_forked", "resume"),
)
_IDLE = (".skipped", ".failed", "_failed")
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Call:
    """A request with its facts. `stamp` covers everything that the facts are made of."""

    row: RequestRow
    facts: CallFacts
    stamp: bytes


@dataclass(frozen=True, slots=True)
class SessionCalls:
    """A session's calls in the order in which a cache saw them, and what was logged beside."""

    calls: tuple[Call, ...]
    markers: Mapping[int, list[Marker]]
    events: tuple[LoggedEvent, ...]
    paths: Paths


def billed_facts(connection: sqlite3.Connection, row: RequestRow) -> CallFacts:
    """The facts of one request that tell whose rules and prices apply, without its prompt."""
    extra = one_call(connection, row.id)
    contexts = map(_object, endpoint_contexts(connection, row.request_id))
    urls = [url for c in contexts if isinstance(url := c.get("baseURL"), str)]
    lifetimes = written_lifetimes(_object(row.usage_json))
    return CallFacts(
        key=row.key,
        provider_id=row.provider_id,
        model_id=row.model_id,
        returned_model_id=extra.returned_model_id,
        lane=row.lane,
        endpoint=urls[0] if urls else "",
        usage=usage_of(row),
        write_5m_tokens=lifetimes[0],
        write_1h_tokens=lifetimes[1],
    )


@dataclass(slots=True)
class _Attempt:
    """What log lines say of one attempt."""

    endpoint: str = ""
    first_token_at_ms: int | None = None
    http_status: int | None = None


def load_calls(connection: sqlite3.Connection, row_id: int) -> SessionCalls:
    """All calls of a session."""
    rows = session_requests(connection, row_id)
    paths = Paths(connection, row_id, [r.node_id for r in rows if r.node_id is not None])
    extras = call_rows(connection, row_id)
    markers = session_markers(connection, row_id)
    texts = param_texts(connection, {e.params_id for e in extras.values() if e.params_id})
    params = {i: _object(text) for i, text in texts.items()}
    attempts = _attempts(adapter_rows(connection, row_id))
    grouped = group_attempts([attempt_facts(row) for row in rows])
    ladders = paths.ladders()
    made = [
        _call(row, extras[row.id], params, attempts, markers, grouped[row.key].step, paths, ladders)
        for row in rows
    ]
    made = _without_blind_markers(made)
    made.sort(key=lambda call: call.facts.order)
    events = sorted(_events(connection, row_id), key=lambda e: (e.at_ms or 0, e.kind, e.text))
    return SessionCalls(tuple(made), markers, tuple(events), paths)


def _call(
    row: RequestRow,
    extra: CallRow,
    params: Mapping[int, Mapping[str, object]],
    attempts: Mapping[tuple[str, int], _Attempt],
    markers: Mapping[int, list[Marker]],
    step: int | None,
    paths: Paths,
    ladders: Mapping[int, HashLadder],
) -> Call:
    attempt = attempts.get((row.request_id, row.attempt)) or _NO_LINES
    own = tuple(markers.get(row.id, ()))
    path = paths.sums.get(row.node_id) if row.node_id is not None else None
    ladder = ladders.get(row.node_id, HashLadder()) if row.node_id is not None else HashLadder()
    first_token = extra.first_token_at_ms or attempt.first_token_at_ms
    lifetimes: tuple[int | None, int | None] = (None, None)
    if "ephemeral_" in row.usage_json:
        lifetimes = written_lifetimes(_object(row.usage_json))
    error = ": ".join(text for text in (row.error_name, row.error_message) if text)
    facts = CallFacts(
        key=row.key,
        provider_id=row.provider_id,
        model_id=row.model_id,
        returned_model_id=extra.returned_model_id,
        lane=row.lane,
        endpoint=attempt.endpoint,
        session_id=row.session_id,
        query_source=row.query_source,
        purpose=purpose_of(row.query_source),
        attempt=row.attempt,
        step=step,
        started_at_ms=row.started_at_ms,
        first_token_at_ms=first_token,
        completed_at_ms=row.completed_at_ms,
        status=Status(row.status),
        http_status=attempt.http_status,
        error=error,
        response_id=extra.response_id,
        usage=usage_of(row),
        write_5m_tokens=lifetimes[0],
        write_1h_tokens=lifetimes[1],
        markers=None if path is None else own,
        message_count=row.message_count,
        observed=row.observed,
        verified_from=row.verified_from,
        params=_params(extra, params),
        headers=_headers(extra.headers_json),
        hashes=ladder,
        line=row.line,
        prompt_tokens_estimate=path.tokens if path is not None and path.whole else None,
    )
    facts = replace(facts, client_version=facts.headers.get("user-agent", ""))
    sizes = (path.tokens, path.uncounted) if path is not None else None
    logged = (attempt.endpoint, first_token, attempt.http_status, step)
    stamp = _encode((row, extra, sizes, logged, [_plain(marker) for marker in own]))
    return Call(row, facts, digest(stamp))


def _plain(marker: Marker) -> tuple[str, int, int, str]:
    return (marker.tier.value, marker.index, marker.block_index, marker.ttl)


_NO_LINES = _Attempt()


def _without_blind_markers(calls: Sequence[Call]) -> list[Call]:
    """Where no call of a lane shows a marker and yet something was read, the log does not show
    markers: they are unknown, not absent."""
    lanes: dict[str, tuple[bool, bool]] = {}
    for call in calls:
        marked, read = lanes.get(call.facts.lane, (False, False))
        lanes[call.facts.lane] = (
            marked or bool(call.facts.markers),
            read or bool(call.facts.read_tokens or call.facts.write_tokens),
        )
    blind = {lane for lane, (marked, read) in lanes.items() if read and not marked}
    return [
        Call(c.row, replace(c.facts, markers=None), c.stamp + b"?") if c.facts.lane in blind else c
        for c in calls
    ]


def _params(extra: CallRow, params: Mapping[int, Mapping[str, object]]) -> Mapping[str, object]:
    """The parameters as logged, with the variant of the model that the agent asked for."""
    found = params.get(extra.params_id or 0, {})
    if '"variant"' in extra.model_json:
        variant = _object(extra.model_json).get("variant")
        if isinstance(variant, str) and variant:
            return {**found, "variant": variant}
    return found


def _headers(text: str) -> Mapping[str, str]:
    return {k.lower(): str(v) for k, v in _object(text).items()} if text else {}


def _object(text: str) -> Mapping[str, object]:
    if not text:
        return {}
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _attempts(rows: Sequence[AdapterRow]) -> dict[tuple[str, int], _Attempt]:
    found: dict[tuple[str, int], _Attempt] = {}
    for row in rows:
        attempt = found.setdefault((row.request_id, row.attempt or 1), _Attempt())
        context = _object(row.context_json)
        url = context.get("baseURL")
        if isinstance(url, str):
            attempt.endpoint = attempt.endpoint or url
        if row.event == "model_first_content" and attempt.first_token_at_ms is None:
            attempt.first_token_at_ms = row.at_ms
        status = context.get("statusCode")
        if isinstance(status, int) and not isinstance(status, bool):
            attempt.http_status = status
    return found


def _switch(event: SessionEvent) -> list[LoggedEvent]:
    """A capability switched on or off; nothing where the line does not tell which."""
    said = _object(event.context_json)
    name, enabled = said.get("name"), said.get("enabled")
    if not isinstance(name, str) or not isinstance(enabled, bool):
        return []
    kind = "capability_on" if enabled else "capability_off"
    return [LoggedEvent(event.at_ms, kind, event.message, name)]


def _events(connection: sqlite3.Connection, row_id: int) -> list[LoggedEvent]:
    found = []
    for event in explaining_events(connection, row_id):
        if event.event.endswith(_IDLE) or event.event == "compaction.started":
            continue
        if event.event == "capability.changed":
            found += _switch(event)
            continue
        kind = next((k for prefix, k in _EVENT_KINDS if event.event.startswith(prefix)), "")
        if not kind and "model" in event.event:
            kind = "model"
        if kind:
            found.append(LoggedEvent(event.at_ms, kind, event.message or event.event))
    return found
