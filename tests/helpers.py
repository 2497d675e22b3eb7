"""What the ingest tests share: reading files into a database, and looking at what came of it."""

import hashlib
import json
import os
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.rebuild import PlacedBlock, rebuild_messages
from tracer.ingest import IngestOptions, Ingestor, find_files
from tracer.model.ingest_views import FileResult, IngestResult
from tracer.model.prompt import Block, Kind, Tier
from tracer.model.views import RequestDetail, RequestSummary
from tracer.service import Service
from tracer.store.connect import open_reader
from tracer.store.prompts import block_texts, prompt_blocks
from tracer.store.tokens import block_text

SAMPLES = Path(__file__).parents[1] / "sample-logs" / "zcode"
SESSION = "sess_0001"
HANG_S = 900
"""What waits longer hangs: not a measure of speed, but the end of a test that would have none."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\'"


# ---- reading ----------------------------------------------------------------------------------


def ingest(db: Path, *paths: Path, count_tokens: bool = False, **options: Any) -> IngestResult:
    """Read files or folders with a fresh ingestor, as a new process would."""
    ingestor = Ingestor(db, IngestOptions(count_tokens=count_tokens, **options))
    try:
        files = find_files([str(path) for path in paths], None)
        result = ingestor.ingest(files)
        ingestor.note_missing(files)
        return result
    finally:
        ingestor.close()


def ingest_one(db: Path, path: Path, **options: Any) -> FileResult:
    """Read one file, and return what was done with it."""
    (result,) = ingest(db, path, **options).files
    return result


@contextmanager
def reader(db: Path) -> Iterator[sqlite3.Connection]:
    """A read-only connection."""
    connection = open_reader(db)
    try:
        yield connection
    finally:
        connection.close()


# ---- what is stored ---------------------------------------------------------------------------


def rows(db: Path, sql: str, *values: object) -> list[tuple[Any, ...]]:
    """The rows of a query."""
    with reader(db) as connection:
        return connection.execute(sql, values).fetchall()


def segments(db: Path) -> list[tuple[int, str, int, int]]:
    """Segment, status, records and duplicates of each segment of each file."""
    return [
        (s.segment, s.status, s.records, s.duplicates)
        for s in sorted(Service(db).sources(), key=lambda s: (s.path, s.segment))
    ]


def row_counts(db: Path) -> dict[str, int]:
    """How many rows each table of ours has."""
    with reader(db) as connection:
        names = [row[0] for row in connection.execute(_TABLES)]
        return {
            name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0]
            for name in sorted(names)
        }


def v_requests(db: Path, *leave_out: str) -> list[dict[str, Any]]:
    """The rows of the view `v_requests` by key, without the columns named."""
    with reader(db) as connection:
        cursor = connection.execute("SELECT * FROM v_requests ORDER BY key")
        names = [column[0] for column in cursor.description]
        return [
            {n: v for n, v in zip(names, row, strict=True) if n not in leave_out} for row in cursor
        ]


def messages_of(db: Path, request: str) -> list[dict[str, Any] | None]:
    """The messages of a request (by key or request id) as rebuilt from the stored blocks; None
    where no record has shown one."""
    with reader(db) as connection:
        found = connection.execute(
            "SELECT node_id FROM requests WHERE key = ?1 OR request_id = ?1", (request,)
        ).fetchall()
        assert len(found) == 1, f"{len(found)} requests are called {request!r}"
        node_id = found[0][0]
        return [] if node_id is None else rebuild_messages(_content(connection, node_id))


def _content(connection: sqlite3.Connection, node_id: int) -> Iterator[PlacedBlock]:
    """All blocks of a prompt with everything that was logged of them, in order."""
    rows = prompt_blocks(connection, node_id)
    texts = block_texts(connection, [row.block_id for row in rows])
    for row in rows:
        block = Block(
            Tier(row.tier),
            row.role,
            Kind(row.kind),
            block_text(*texts[row.block_id]),
            row.shape,
            row.name,
            row.call_id,
            row.extra_json,
            row.message_json,
            row.span_messages,
        )
        yield PlacedBlock(row.message_index, block)


def all_messages(db: Path) -> dict[str, list[dict[str, Any] | None]]:
    """The rebuilt messages of every request, by key."""
    return {key: messages_of(db, key) for (key,) in rows(db, "SELECT key FROM requests")}


def contents(db: Path) -> dict[str, Any]:
    """Everything a user could see, in a form that two databases can be compared by: row ids and
    times of reading are left out."""
    with reader(db) as connection:
        query = connection.execute
        cursor = query(
            "SELECT r.*, s.session_id AS session, src.path FROM requests r "
            "JOIN sessions s ON s.id = r.session_id JOIN sources src ON src.id = r.source_id "
            "ORDER BY r.key"
        )
        names = [column[0] for column in cursor.description]
        hidden = {"id", "session_id", "source_id", "node_id", "params_id"}
        requests = [
            {n: v for n, v in zip(names, row, strict=True) if n not in hidden} for row in cursor
        ]
        found = {
            "requests": requests,
            "sessions": query(
                "SELECT session_id, agent, title, project, parent_session_id, title_at_ms, "
                "first_at_ms, last_at_ms FROM sessions ORDER BY session_id"
            ).fetchall(),
            "log": query("SELECT line_hash FROM log_events ORDER BY line_hash").fetchall(),
            "sections": query("SELECT * FROM v_sections ORDER BY 1, 3, 4").fetchall(),
            "blocks": query("SELECT wire_hash FROM blocks ORDER BY wire_hash").fetchall(),
            "nodes": query("SELECT hash FROM nodes ORDER BY hash").fetchall(),
            "skipped": query("SELECT * FROM v_skipped ORDER BY path, segment, line").fetchall(),
            "sources": query(
                "SELECT path, segment, format, offset_bytes, lines, records, duplicates, skipped, "
                "status FROM sources ORDER BY path, segment"
            ).fetchall(),
            "markers": query(
                "SELECT r.key, m.tier, m.tier_index, m.block_index, m.message_index, m.ttl, "
                "m.scope FROM markers m JOIN requests r ON r.id = m.request_id ORDER BY 1, 2, 3, 4"
            ).fetchall(),
            "responses": query(
                "SELECT r.key, p.position, b.wire_hash FROM response_blocks p JOIN requests r "
                "ON r.id = p.request_id JOIN blocks b ON b.id = p.block_id ORDER BY 1, 2"
            ).fetchall(),
        }
    return found | {"messages": all_messages(db)}


def only_request(db: Path, session_id: str = SESSION) -> RequestSummary:
    """The one request of a session."""
    (found,) = Service(db).requests(session_id)
    return found


def request(db: Path, request_id: str, session_id: str = SESSION) -> RequestSummary:
    """The request with this request id."""
    (found,) = (r for r in Service(db).requests(session_id) if r.request_id == request_id)
    return found


def detail(db: Path, request_id: str, session_id: str = SESSION, **options: Any) -> RequestDetail:
    """The request with this request id in full, with all blocks and their texts."""
    found = request(db, request_id, session_id)
    return Service(db).request(found.key, block_limit=None, text=True, **options)


def evidence_codes(db: Path, request_id: str) -> list[str]:
    """The codes of what is not known about a request."""
    return [e.code for e in detail(db, request_id).evidence]


def request_ids(db: Path, session_id: str = SESSION) -> list[str]:
    """The request ids of a session in its order."""
    return [r.request_id for r in Service(db).requests(session_id)]


# ---- messages ---------------------------------------------------------------------------------


def bare(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message without cache markers, and with U+FFFD for half surrogate pairs."""
    cleaned: dict[str, Any] = _clean(_unmarked(message))
    content = cleaned.get("content")
    if isinstance(content, list):
        cleaned["content"] = [_unmarked(c) if isinstance(c, dict) else c for c in content]
    return cleaned


def _unmarked(value: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in value.items() if k not in ("cacheControl", "cache_control")}


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        units = value.encode("utf-16-le", "surrogatepass")
        return units.decode("utf-16-le", "replace")
    if isinstance(value, list | tuple):
        return [_clean(v) for v in value]
    if isinstance(value, Mapping):
        return {_clean(k): _clean(v) for k, v in value.items()}
    return value


def message_sha256(message: Mapping[str, Any]) -> str:
    """The digest that `expected.json` keeps for a message (sample-logs/README.md)."""
    text = json.dumps(bare(message), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(_LONE_SURROGATE.sub("\ufffd", text).encode()).hexdigest()[:16]


# ---- lines ------------------------------------------------------------------------------------


def iso(ms: int) -> str:
    """A time on 2026-01-05 from 09:00 UTC on, as the logs write it."""
    seconds, millis = divmod(ms, 1000)
    minutes, seconds = divmod(seconds, 60)
    return f"2026-01-05T{9 + minutes // 60:02}:{minutes % 60:02}:{seconds:02}.{millis:03}Z"


def call(
    request_id: str,
    messages: Sequence[Any] | None = None,
    *,
    at: int = 0,
    kind: str | None = "full",
    offset: int = 0,
    count: int | None = None,
    session: str | None = SESSION,
    source: str | None = "main_turn",
    attempt: int | None = 1,
    turn: str = "turn_0001",
    body: Any = None,
    request: Mapping[str, Any] | None = None,
    response: Any = "usual",
    **top: Any,
) -> dict[str, Any]:
    """A model I/O record. `kind` None: without window fields. `request` and `top` add keys or
    replace them; a value of `...` removes the key."""
    listed = [user("hello")] if messages is None else list(messages)
    inner: dict[str, Any] = {"headers": {}, "messages": listed, "toolNames": []}
    if body is not None:
        inner["body"] = body
    if kind is not None:
        size = offset + len(listed) if count is None else count
        inner |= {"messageCount": size, "messagesKind": kind, "messageOffset": offset}
    usual = {
        "finishReason": "stop",
        "headers": {},
        "text": f"answer to {request_id}",
        "toolCalls": [],
        "usage": {"inputTokens": 100, "outputTokens": 5, "totalTokens": 105},
    }
    record: dict[str, Any] = {
        "completedAt": iso(at + 900),
        "durationMs": 900,
        "requestId": request_id,
        "attempt": ... if attempt is None else attempt,
        "model": {"modelId": "model-y", "providerId": "provider-x"},
        "request": _without({**inner, **(request or {})}),
        "response": usual if response == "usual" else response,
        "sessionId": ... if session is None else session,
        "querySource": ... if source is None else source,
        "startedAt": iso(at),
        "traceId": "trace_0001",
        "turnId": turn,
        "type": "model_io",
    }
    return _without(record | top)


def event(name: str | None, *, at: int = 0, level: str = "info", **keys: Any) -> dict[str, Any]:
    """A line of the structured log; `context` and the other keys as given, `...` removes one."""
    line: dict[str, Any] = {
        "timestamp": iso(at),
        "level": level,
        "event": ... if name is None else name,
        "module": "core.runtime",
        "message": name or "a line",
        "traceId": "trace_0001",
        "sessionId": SESSION,
        "turnId": "turn_0001",
    }
    return _without(line | keys)


def _without(value: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in value.items() if v is not ...}


def user(text: str, **keys: Any) -> dict[str, Any]:
    """A user message."""
    return {"role": "user", "content": text, **keys}


def assistant(text: str, **keys: Any) -> dict[str, Any]:
    """An assistant message."""
    return {"role": "assistant", "content": text, **keys}


def system(text: str, **keys: Any) -> dict[str, Any]:
    """A system message."""
    return {"role": "system", "content": text, **keys}


def talk(count: int, start: int = 0) -> list[dict[str, Any]]:
    """Messages `start` to `count` of one conversation."""
    return [(assistant if i % 2 else user)(f"message {i}") for i in range(start, count)]


def encode(record: Any) -> bytes:
    """A record as JavaScript writes it: one line, raw UTF-8, half surrogate pairs escaped."""
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


def joined(*records: Any, end: bytes = b"\n") -> bytes:
    """Records (bytes stay as they are) as lines, each with its newline."""
    return b"".join((r if isinstance(r, bytes) else encode(r)) + end for r in records)


def write(path: Path, *records: Any, end: bytes = b"\n") -> Path:
    """Create or overwrite a file with these records."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(joined(*records, end=end))
    return path


def append(path: Path, *records: Any, end: bytes = b"\n") -> Path:
    """Append records to a file."""
    with path.open("ab") as file:
        file.write(joined(*records, end=end))
    return path


def later(path: Path) -> None:
    """Move a file's time of change on, as a write some time later does."""
    found = path.stat()
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns + 1_000_000_000))
