"""Writing and loading records: sources, sessions, requests, log events."""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from tracer.assemble.usage import normalise
from tracer.hashing import digest
from tracer.model.events import LogEvent, ModelCall, Status
from tracer.model.prompt import Block, Kind, Marker, Tier
from tracer.model.source import Skipped
from tracer.model.usage import Usage
from tracer.store.layouts import LayoutFacts, LayoutRows, layout_hash
from tracer.store.parents import note_parent
from tracer.store.writer import Place, StoredNode, Writer

MAX_STORED_SKIPS = 10_000
# Bits of `requests.from_log`: 0 where the request's own record was read, else what knows it, and
# whether its usage was taken from a session database, or its prompt from another attempt's record.
FROM_LOG, FROM_EVENT, FROM_DATABASE, FILLED, SHARED = 1, 2, 4, 8, 16
NO_SESSION = "no-session"

_encode = msgspec.json.Encoder().encode
_REQUEST_COLUMNS = tuple(
    """
    key session_id request_id attempt trace_id turn_id query_source lane provider_id
    model_id returned_model_id model_json started_at_ms completed_at_ms duration_ms status
    error_name error_message finish_reason response_id observed carry verified_from
    system_from window_kind window_offset message_count tool_names_json node_id params_id
    headers_json reset_json notes_json wire_json input_tokens fresh_tokens cache_read_tokens
    cache_write_tokens output_tokens reasoning_tokens usage_convention usage_reason
    usage_json from_log record_hash source_id line offset_bytes
    """.split()  # noqa: SIM905
)
_UNKNOWN_IN_LOG = tuple(
    """
    verified_from window_offset message_count node_id params_id input_tokens fresh_tokens
    cache_read_tokens cache_write_tokens output_tokens reasoning_tokens
    """.split()  # noqa: SIM905
)
_INSERT_REQUEST = (
    f"INSERT INTO requests ({', '.join(_REQUEST_COLUMNS)}) "
    f"VALUES ({','.join('?' * len(_REQUEST_COLUMNS))})"
)
_UPDATE_REQUEST = (
    f"UPDATE requests SET {', '.join(c + ' = ?' for c in _REQUEST_COLUMNS)} WHERE id = ?"
)
_INSERT_EVENT = (
    "INSERT OR IGNORE INTO log_events (line_hash, session_id, at_ms, level, event, module, "
    "message, trace_id, span_id, parent_span_id, turn_id, tool_call_id, duration_ms, status, "
    "request_id, attempt, query_source, provider_id, model_id, context_json, error_json, "
    f"source_id, line, offset_bytes) VALUES ({','.join('?' * 24)})"
)
_ATTEMPT_EVENTS = {
    "model.request.started": Status.UNKNOWN,
    "model.request.completed": Status.COMPLETED,
    "model.request.failed": Status.FAILED,
}


@dataclass(frozen=True, slots=True)
class PromptFacts:
    """What a request row keeps of its prompt."""

    node: StoredNode | None
    message_count: int | None
    verified_from: int | None
    carry: str
    observed: str
    system_from: str
    markers: tuple[Marker, ...]
    layout: LayoutFacts | None = None


def request_key(session_id: str, request_id: str, attempt: int, line_hash: bytes) -> str:
    """The 12 hex digits that name a request everywhere, whatever file it was read from. A record
    without a request id is named by its line's content."""
    identity = f"{session_id}|{request_id}|{attempt}".encode() if request_id else line_hash
    return digest(identity).hex()[:12]


def lane_of(query_source: str, provider_id: str, model_id: str) -> str:
    """`<purpose>@<provider>/<model>`: requests of one session and lane can share a cache."""
    return f"{query_source or 'unknown'}@{provider_id or 'unknown'}/{model_id or 'unknown'}"


class Records:
    """Writes records through a `Writer`'s transaction."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._execute = writer.connection.execute
        self._layouts = LayoutRows(writer)
        self._sessions: dict[str, int] = {}
        self._titled: dict[str, int] = {}
        self._spans: dict[int, tuple[int, int]] = {}
        self._timeless: set[int] = set()
        self._markers: list[tuple[object, ...]] = []
        self._responses: list[tuple[object, ...]] = []
        self._places: list[tuple[object, ...]] = []

    def forget(self) -> None:
        """Drop cached row ids after a rollback."""
        self._sessions.clear()
        self._titled.clear()
        self._clear_batch()

    def session(self, session_id: str, agent: str, at_ms: int | None) -> int:
        """The row id of a session of which a record tells: it has to be joined anew, and its time
        span is widened to `at_ms`."""
        row_id = self.session_row(session_id, agent)
        if at_ms is None:
            self._timeless.add(row_id)
        else:
            first, last = self._spans.get(row_id, (at_ms, at_ms))
            self._spans[row_id] = (min(first, at_ms), max(last, at_ms))
        return row_id

    def session_row(self, session_id: str, agent: str) -> int:
        """The row id of a session, of which nothing new may be told."""
        name = session_id or NO_SESSION
        row_id = self._sessions.get(name)
        if row_id is None:
            self._execute(
                "INSERT OR IGNORE INTO sessions (session_id, agent) VALUES (?, ?)", (name, agent)
            )
            row = self._execute("SELECT id FROM sessions WHERE session_id = ?", (name,)).fetchone()
            row_id = self._sessions[name] = int(row[0])
        return row_id

    def flush(self) -> None:
        """Write what was collected for the batch: before the writer commits."""
        many = self._writer.connection.executemany
        many(
            "UPDATE sessions SET first_at_ms = min(coalesce(first_at_ms, ?1), ?1), "
            "last_at_ms = max(coalesce(last_at_ms, ?2), ?2), unjoined = 1 WHERE id = ?3",
            [(first, last, row_id) for row_id, (first, last) in self._spans.items()],
        )
        timeless = self._timeless - self._spans.keys()
        many("UPDATE sessions SET unjoined = 1 WHERE id = ?", [(i,) for i in timeless])
        many("INSERT OR IGNORE INTO markers VALUES (?, ?, ?, ?, ?, ?, ?)", self._markers)
        many("INSERT OR REPLACE INTO response_blocks VALUES (?, ?, ?)", self._responses)
        many("INSERT OR IGNORE INTO request_sources VALUES (?, ?, ?, ?, ?)", self._places)
        self._clear_batch()

    def _clear_batch(self) -> None:
        self._spans.clear()
        self._timeless.clear()
        self._markers.clear()
        self._responses.clear()
        self._places.clear()

    def parent(self, child: str, parent: str, agent: str) -> None:
        """Note that one session was started by another."""
        row_id = self.session_row(child, agent)
        note_parent(self._writer.connection, row_id, child, parent)

    def title(self, call: ModelCall, agent: str, title_of: Callable[[ModelCall], str]) -> None:
        """Title a session by its earliest request that shows a user's text, whatever is read
        first. `title_of` is asked only where its answer would count."""
        started = call.started_at_ms
        known = self._titled.get(call.session_id)
        if started is None or (known is not None and started > known):
            return
        title = title_of(call)
        if not title:
            return
        row_id = self.session_row(call.session_id, agent)
        # Two calls may start in the same millisecond: the smaller request id decides, in whatever
        # order they are read; an edited record replaces its own title.
        self._execute(
            "UPDATE sessions SET title = ?1, title_at_ms = ?2, title_request_id = ?3 "
            "WHERE id = ?4 AND (title_at_ms IS NULL OR ?2 < title_at_ms OR "
            "(?2 = title_at_ms AND ?3 <= title_request_id))",
            (title, started, call.request_id, row_id),
        )
        row = self._execute("SELECT title_at_ms FROM sessions WHERE id = ?", (row_id,)).fetchone()
        self._titled[call.session_id] = int(row[0])

    def request(
        self,
        call: ModelCall,
        usage: Usage | None,
        prompt: PromptFacts,
        agent: str,
        place: Place,
        line_hash: bytes = b"",
    ) -> bool:
        """Store a model call; False if it was known already. `line_hash` names a call that has no
        request id.

        The record of a log line gives way to the model I/O record. A record that was edited in a
        file that was read anew replaces the one of the replaced segment; any other second record of
        the same attempt is a copy and only its place is kept. Records that share a request id and
        an attempt number but not their start are two attempts (formats/zcode.md 14, case 23).
        """
        response = [self._writer.block(block, place).id for block in call.response_blocks]
        row = self._request_row(call, usage, prompt, agent)
        record_hash = _record_hash(row, prompt, call)
        key = request_key(call.session_id, call.request_id, call.attempt, line_hash)
        old = self._known(key, place)
        if old is not None and not old[1] and old[4] != call.started_at_ms:
            name = f"{call.request_id}@{call.started_at_ms}"
            key = request_key(call.session_id, name, call.attempt, line_hash)
            old = self._known(key, place)
        row_id: int | None = old[0] if old else None
        stores = old is None or bool(old[1]) or bool(old[3] and old[2] != record_hash)
        if stores or row_id is None:
            row_id = self._put_request(row_id, (key, *row, 0, record_hash, *place))
            if old is not None and not old[1]:
                self._drop_details(row_id)
            self._markers += [
                (row_id, m.tier, m.index, m.block_index, m.message_index, m.ttl, m.scope)
                for m in prompt.markers
            ]
            self._responses += [(row_id, position, i) for position, i in enumerate(response)]
            if prompt.layout is not None:
                self._layouts.put(row_id, prompt.layout)
        self._places.append((row_id, *place, record_hash))
        return stores

    def _known(self, key: str, place: Place) -> tuple[Any, ...] | None:
        """The request of that key: row id, whether only log lines know it, the hash of its record,
        whether that stood in an earlier segment of the same file, and its start."""
        row: tuple[Any, ...] | None = self._execute(
            "SELECT r.id, r.from_log, r.record_hash, s.path = n.path AND s.id <> n.id, "
            "r.started_at_ms FROM requests r JOIN sources s ON s.id = r.source_id "
            "JOIN sources n ON n.id = ? WHERE r.key = ?",
            (place.source_id, key),
        ).fetchone()
        return row

    def _put_request(self, row_id: int | None, row: tuple[object, ...]) -> int:
        if row_id is None:
            return int(self._execute(_INSERT_REQUEST, row).lastrowid or 0)
        self._execute(_UPDATE_REQUEST, (*row, row_id))
        return row_id

    def _drop_details(self, row_id: int) -> None:
        """Forget what a replaced record said of markers and response."""
        self._execute("DELETE FROM markers WHERE request_id = ?", (row_id,))
        self._execute("DELETE FROM response_blocks WHERE request_id = ?", (row_id,))
        self._markers = [m for m in self._markers if m[0] != row_id]
        self._responses = [r for r in self._responses if r[0] != row_id]

    def _request_row(
        self, call: ModelCall, usage: Usage | None, prompt: PromptFacts, agent: str
    ) -> tuple[object, ...]:
        """The row's values from `session_id` to `usage_json`."""
        session = self.session(call.session_id, agent, call.started_at_ms)
        return (
            session, call.request_id, call.attempt, call.trace_id, call.turn_id,
            call.query_source, lane_of(call.query_source, call.provider_id, call.model_id),
            call.provider_id, call.model_id, call.returned_model_id, call.model_json,
            call.started_at_ms, call.completed_at_ms, call.duration_ms, call.status,
            call.error.name if call.error else "", call.error.message if call.error else "",
            call.finish_reason, call.response_id, prompt.observed, prompt.carry,
            prompt.verified_from, prompt.system_from, call.window.kind, call.window.offset,
            prompt.message_count, _json_list(() if call.tools else call.tool_names),
            prompt.node.id if prompt.node else None, self._writer.params(call.params_json),
            call.headers_json, call.reset_json, _json_list(call.notes), call.wire_json,
            usage.input_tokens if usage else None, usage.fresh_tokens if usage else None,
            usage.cache_read_tokens if usage else None,
            usage.cache_write_tokens if usage else None, usage.output_tokens if usage else None,
            usage.reasoning_tokens if usage else None, usage.convention if usage else "",
            usage.reason if usage else "", usage.raw_json if usage else "",
        )  # fmt: skip

    def log_event(self, event: LogEvent, agent: str, place: Place, record_hash: bytes) -> bool:
        """Store a log event; False if the same line was known already."""
        session = self.session(event.session_id, agent, event.at_ms) if event.session_id else None
        cursor = self._execute(
            _INSERT_EVENT,
            (
                record_hash, session, event.at_ms, event.level, event.event, event.module,
                event.message, event.trace_id, event.span_id, event.parent_span_id, event.turn_id,
                event.tool_call_id, event.duration_ms, event.status, event.request_id,
                event.attempt, event.query_source, event.provider_id, event.model_id,
                event.context_json, event.error_json, *place,
            ),
        )  # fmt: skip
        if not cursor.rowcount:
            return False
        event_id = int(cursor.lastrowid or 0)
        if event.built:
            self._sections(event_id, event, place)
        if event.usage:
            self._usage(event_id, event)
        if event.child_session_id and event.child_session_id != event.session_id:
            self.parent(event.child_session_id, event.session_id, agent)
        if session is not None and event.request_id and _attempt_event(event) in _ATTEMPT_EVENTS:
            self._request_from_log(session, event, place, record_hash)
        return True

    def _sections(self, event_id: int, event: LogEvent, place: Place) -> None:
        rows = []
        for position, section in enumerate(event.built.sections if event.built else ()):
            block_id = None
            if section.text is not None:
                block = Block(Tier.SYSTEM, "section", Kind.TEXT, section.text, name=section.source)
                block_id = self._writer.block(block, place).id
            rows.append(
                (event_id, position, section.name, section.source, section.chars, section.tokens,
                 section.tokens_redacted, block_id)
            )  # fmt: skip
        self._writer.connection.executemany(
            "INSERT INTO context_sections VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows
        )

    def _usage(self, event_id: int, event: LogEvent) -> None:
        if event.usage is None:
            return
        total = event.usage
        rows: list[tuple[object, ...]] = [
            (event_id, "total", 0, "Total", total.model, total.total_chars, total.total_tokens,
             total.tokens_redacted, None, None, _encode(dict(total.counts)).decode())
        ]  # fmt: skip
        for scope, items in (("category", total.categories), ("role", total.roles)):
            rows += [
                (event_id, scope, position, c.name, c.source, c.chars, c.tokens,
                 c.tokens_redacted, c.percent, c.count, c.contributors_json)
                for position, c in enumerate(items)
            ]  # fmt: skip
        self._writer.connection.executemany(
            "INSERT INTO context_usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows
        )

    def _request_from_log(
        self, session: int, event: LogEvent, place: Place, line_hash: bytes
    ) -> None:
        """An attempt that so far only the structured log knows: it is shown without a prompt.

        Its lines can come in any order, and from two files around midnight; what they tell is put
        together so that the order makes no difference.
        """
        attempt = event.attempt or 1
        key = request_key(event.session_id, event.request_id, attempt, line_hash)
        columns = ", ".join(f"r.{name}" for name in _REQUEST_COLUMNS)
        old = self._execute(
            f"SELECT r.id, e.at_ms, {columns} FROM requests r "
            "LEFT JOIN log_events e ON e.line_hash = r.record_hash WHERE r.key = ?",
            (key,),
        ).fetchone()
        row: dict[str, Any] = dict.fromkeys(_REQUEST_COLUMNS, "")
        row.update(dict.fromkeys(_UNKNOWN_IN_LOG))
        row |= {
            "key": key, "session_id": session, "request_id": event.request_id,
            "attempt": attempt, "started_at_ms": None, "completed_at_ms": None,
            "duration_ms": None, "status": Status.UNKNOWN, "observed": "metadata",
            "carry": "lost", "window_kind": "absent", "tool_names_json": "[]",
            "notes_json": "[]", "from_log": 0,
        }  # fmt: skip
        earliest: tuple[int, bytes] | None = None
        if old is not None:
            row = dict(zip(_REQUEST_COLUMNS, old[2:], strict=True))
            if not row["from_log"]:
                return  # its own record is known
            earliest = (_or_zero(old[1]), row["record_hash"])
        _add_event(row, event)
        if earliest is None or (_or_zero(event.at_ms), line_hash) < earliest:
            row |= {"record_hash": line_hash, **place._asdict()}
        self._put_request(old[0] if old else None, tuple(row[c] for c in _REQUEST_COLUMNS))

    def skipped(self, place: Place, skip: Skipped) -> None:
        """Keep a line that is no record, MAX_STORED_SKIPS a file at the most."""
        self._execute(
            "INSERT OR IGNORE INTO skipped_lines VALUES (?, ?, ?, ?, ?, ?)",
            (place.source_id, place.line, place.offset_bytes, skip.kind, skip.reason, skip.excerpt),
        )


def _record_hash(row: tuple[object, ...], prompt: PromptFacts, call: ModelCall) -> bytes:
    """16 bytes over what a record says. Row ids are left out: they differ between databases."""
    at = _REQUEST_COLUMNS.index("node_id") - 1
    said: list[Any] = [
        call.session_id, row[1:at], row[at + 2 :], call.params_json,
        prompt.node.hash if prompt.node else None,
        [(m.tier, m.index, m.block_index, m.ttl, m.scope) for m in prompt.markers],
        [(b.kind, b.text, b.name, b.call_id) for b in call.response_blocks],
    ]  # fmt: skip
    if prompt.layout is not None:
        said.append(layout_hash(prompt.layout))
    return digest(_encode(said))


def _add_event(row: dict[str, Any], event: LogEvent) -> None:
    """Add what one line tells of an attempt to the row of a request that only the log knows."""
    row["from_log"] |= FROM_EVENT if event.attempt_event else FROM_LOG
    status = _ATTEMPT_EVENTS[_attempt_event(event)]
    if status is Status.FAILED and event.status == "cancelled":
        status = Status.CANCELLED
    started = event.at_ms
    if status is not Status.UNKNOWN:
        ended = (_or_zero(event.at_ms), str(status))
        if ended >= (_or_zero(row["completed_at_ms"]), str(row["status"])) or (
            row["status"] == Status.UNKNOWN
        ):
            row["status"], row["completed_at_ms"] = status, event.at_ms
            row["duration_ms"] = event.duration_ms
        if event.at_ms is not None and event.duration_ms is not None:
            started = event.at_ms - event.duration_ms
    known = row["started_at_ms"]
    if known is None or (started is not None and started < known):
        row["started_at_ms"] = started
    for name in ("trace_id", "turn_id", "query_source", "provider_id", "model_id"):
        row[name] = row[name] or getattr(event, name)
    row["lane"] = lane_of(row["query_source"], row["provider_id"], row["model_id"])
    if event.reported is not None and (not row["usage_convention"] or row["from_log"] & FILLED):
        usage = normalise(event.reported)
        row |= usage_columns(usage)
        row["from_log"] &= ~FILLED


def _attempt_event(event: LogEvent) -> str:
    """The structured log's name for what an event says of an attempt."""
    return event.attempt_event or event.event


def usage_columns(usage: Usage | None) -> dict[str, Any]:
    """The columns of a request's usage; all unknown for None."""
    return {
        "input_tokens": usage.input_tokens if usage else None,
        "fresh_tokens": usage.fresh_tokens if usage else None,
        "cache_read_tokens": usage.cache_read_tokens if usage else None,
        "cache_write_tokens": usage.cache_write_tokens if usage else None,
        "output_tokens": usage.output_tokens if usage else None,
        "reasoning_tokens": usage.reasoning_tokens if usage else None,
        "usage_convention": usage.convention if usage else "",
        "usage_reason": usage.reason if usage else "",
        "usage_json": usage.raw_json if usage else "",
    }


def _or_zero(value: int | None) -> int:
    return value if value is not None else 0


def _json_list(values: tuple[str, ...]) -> str:
    return _encode(list(values)).decode() if values else "[]"


def connection_revision(connection: sqlite3.Connection) -> int:
    """The number of batches stored so far."""
    row = connection.execute("SELECT value FROM counters WHERE name = 'revision'").fetchone()
    return int(row[0])
