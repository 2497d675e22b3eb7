"""The session database as a file: three generations of its schema (formats/zcode.md 5)."""

import sqlite3
import tempfile
from pathlib import Path

from generate.text import Json

Rows = dict[str, list[Json]]

_TIMES = "time_created integer not null, time_updated integer not null"
_COUNTS = (
    "input_tokens integer not null default 0, output_tokens integer not null default 0, "
    "reasoning_tokens integer not null default 0, cache_creation_input_tokens integer not null "
    "default 0, cache_read_input_tokens integer not null default 0"
)
_FLAGS = "retryable integer not null default 0, cancelled_by_user integer not null default 0"
_OWNER = "session_id text not null references session(id) on delete cascade"

TABLES = {
    "session": "id text primary key, project_id text not null, workspace_id text, parent_id text, "
    "slug text not null, directory text not null, path text, title text not null, version text "
    f"not null, share_url text, revert text, permission text, {_TIMES}, time_compacting integer, "
    "time_archived integer, task_type text not null default 'interactive', title_source text not "
    "null default 'first_input', title_message_id text, trace_id text",
    "message": f"id text primary key, {_OWNER}, {_TIMES}, data text not null, sequence integer",
    "part": "id text primary key, message_id text not null references message(id) on delete "
    f"cascade, session_id text not null, {_TIMES}, data text not null, sequence integer",
    "todo": f"{_OWNER}, content text not null, status text not null, priority text not null, "
    f"position integer not null, {_TIMES}, primary key (session_id, position)",
    "model_usage": "id text primary key, logical_request_id text not null, attempt_index integer "
    f"not null default 0, {_OWNER}, turn_id text, trace_id text, span_id text, "
    "assistant_message_id text, parent_user_message_id text, query_source text not null, "
    "provider_id text not null, model_id text not null, variant text, agent text, mode text, "
    "task_type text, status text not null, started_at integer not null, first_token_at integer, "
    "completed_at integer, duration_ms integer, time_to_first_token_ms integer, finish_reason "
    f"text, tool_call_count integer not null default 0, {_COUNTS}, provider_total_tokens integer, "
    "computed_total_tokens integer not null default 0, retry_count integer not null default 0, "
    f"{_FLAGS}, context_exceeded integer not null default 0, error_type text, error_code text, "
    "error_message text, raw_usage_json text, provider_metadata_json text",
    "turn_usage": f"{_OWNER}, turn_id text not null, trace_id text, user_message_id text, status "
    "text not null, started_at integer not null, first_model_start_at integer, first_token_at "
    "integer, completed_at integer, duration_ms integer, time_to_first_token_ms integer, "
    "model_request_count integer not null default 0, model_retry_count integer not null default "
    "0, tool_call_count integer not null default 0, tool_error_count integer not null default 0, "
    f"{_COUNTS}, computed_total_tokens integer not null default 0, {_FLAGS}, context_exceeded "
    "integer not null default 0, error_type text, error_code text, primary key (session_id, "
    "turn_id)",
    "tool_usage": f"id text primary key, {_OWNER}, turn_id text, trace_id text, tool_call_id text "
    "not null, tool_name text not null, side_effect_scope text, read_only integer, destructive "
    "integer, approval_status text, status text not null, started_at integer not null, "
    "first_output_at integer, completed_at integer, duration_ms integer, time_to_first_output_ms "
    "integer, exit_code integer, output_bytes integer not null default 0, stdout_bytes integer "
    "not null default 0, stderr_bytes integer not null default 0, truncated integer not null "
    f"default 0, retry_count integer not null default 0, {_FLAGS}, error_type text, error_code "
    "text, error_message text, unique (session_id, tool_call_id)",
    "session_input": f"id text primary key, {_OWNER}, kind text, delivery text, payload text, "
    "admitted_sequence integer, promoted_sequence integer, promoted_message_id text, status text, "
    f"status_reason text, {_TIMES}",
    "session_entry": f"id text primary key, {_OWNER}, type text not null, {_TIMES}, data text",
}
# What installs of an older build lack, and what later ones and forks have more.
OLDER_LACKS = {
    "session": ("task_type", "title_source", "title_message_id", "trace_id"),
    "message": ("sequence",),
    "part": ("sequence",),
    "model_usage": ("trace_id", "span_id", "task_type", "provider_metadata_json"),
}
OLDER_TABLES = ("session", "message", "part", "todo", "model_usage")
NEWER_RENAMES = {"model_usage": {"variant": "reasoning_level"}}
NEWER_HAS = {"session": "colour text default 'teal'", "tool_usage": "sandbox text"}
VARIANTS = ("described", "older", "newer")

SMALL_PAGE_BYTES = 512
_VERSION_AT = 96  # in the header: the version number of the SQLite that wrote the file


def write_database(
    path: Path, rows: Rows, variant: str = "described", *, wal: bool = False
) -> None:
    """Write the rows into a new database; `wal` leaves them in WAL mode, checkpointed."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute(f"PRAGMA journal_mode={'WAL' if wal else 'DELETE'}")
        connection.execute("BEGIN")
        for table, found in create_tables(connection, variant).items():
            for row in rows.get(table, []):
                insert(connection, table, row, found, variant)
        connection.execute("COMMIT")
    finally:
        connection.close()


def database_bytes(rows: Rows) -> bytes:
    """Return a small database file of the rows. Which SQLite wrote it is not noted in it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "db.sqlite"
        write_database(path, rows)
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute(f"PRAGMA page_size={SMALL_PAGE_BYTES}")
        connection.execute("VACUUM")
        connection.close()
        data = path.read_bytes()
    return data[:_VERSION_AT] + bytes(4) + data[_VERSION_AT + 4 :]


def same_rows(one: bytes, other: bytes) -> bool:
    """Return whether two database files hold the same: another SQLite may lay them out in another
    way."""
    dumps = []
    for data in (one, other):
        connection = sqlite3.connect(":memory:")
        connection.deserialize(data)
        dumps.append(list(connection.iterdump()))
        connection.close()
    return dumps[0] == dumps[1]


def create_tables(connection: sqlite3.Connection, variant: str) -> dict[str, tuple[str, ...]]:
    """Create the tables of a variant; return their columns."""
    columns = {}
    for table, definition in TABLES.items():
        if variant == "older" and table not in OLDER_TABLES:
            continue
        parts = _split(definition)
        if variant == "older":
            lacking = OLDER_LACKS.get(table, ())
            parts = [part for part in parts if part.split()[0] not in lacking]
        if variant == "newer":
            renamed = NEWER_RENAMES.get(table, {})
            parts = [_renamed(part, renamed) for part in parts]
            keys = [part for part in parts if part.startswith(("primary", "unique"))]
            parts = [part for part in parts if part not in keys]
            parts += [NEWER_HAS[table]] if table in NEWER_HAS else []
            parts += keys
        connection.execute(f"CREATE TABLE {table} ({', '.join(parts)})")
        info = connection.execute(f"PRAGMA table_info({table})").fetchall()
        columns[table] = tuple(column[1] for column in info)
    connection.execute("CREATE TABLE schema_migration (id text primary key, checksum text)")
    return columns


def insert(
    connection: sqlite3.Connection,
    table: str,
    row: Json,
    columns: tuple[str, ...],
    variant: str = "described",
) -> None:
    """Insert one row, as far as the variant has its columns."""
    renamed = NEWER_RENAMES.get(table, {}) if variant == "newer" else {}
    values = {renamed.get(name, name): value for name, value in row.items()}
    kept = {name: value for name, value in values.items() if name in columns}
    marks = ",".join("?" * len(kept))
    connection.execute(
        f"INSERT INTO {table} ({', '.join(kept)}) VALUES ({marks})", tuple(kept.values())
    )


def _renamed(part: str, names: dict[str, str]) -> str:
    first, _, rest = part.partition(" ")
    return f"{names.get(first, first)} {rest}"


def _split(definition: str) -> list[str]:
    parts, depth, current = [], 0, ""
    for char in definition:
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += char
    return [*parts, current.strip()]
