"""The statements of step m004: what session databases, agents' folders and session events tell.

Frozen once it is released, like every step. Rows of these tables are named by the agent's own ids
and carry the hash of what they say: a row that has not changed is not written again, whatever file
it is read from. `version_ms` is the row's own time, which decides between two files.
"""

from textwrap import fill

_PLACE = """row_hash BLOB NOT NULL, version_ms INTEGER NOT NULL,
  source_id INTEGER NOT NULL REFERENCES sources(id), line INTEGER NOT NULL"""
_TOKENS = "input_tokens INTEGER, output_tokens INTEGER, reasoning_tokens INTEGER,"

_TABLES = (
    # What to read next in a table of another program's database.
    """CREATE TABLE table_cursors (
  path TEXT NOT NULL, table_name TEXT NOT NULL, device INTEGER NOT NULL, inode INTEGER NOT NULL,
  changed_ms INTEGER NOT NULL, last_rowid INTEGER NOT NULL, rows INTEGER NOT NULL,
  PRIMARY KEY (path, table_name)
) STRICT, WITHOUT ROWID""",
    # Sessions whose requests have to be joined again with what other files say of them.
    "ALTER TABLE sessions ADD COLUMN unjoined INTEGER NOT NULL DEFAULT 0",
    "CREATE INDEX idx_sessions_unjoined ON sessions(id) WHERE unjoined",
    f"""CREATE TABLE session_facts (
  session_id INTEGER PRIMARY KEY REFERENCES sessions(id),
  title TEXT NOT NULL, title_source TEXT NOT NULL, project_id TEXT NOT NULL,
  workspace_id TEXT NOT NULL, directory TEXT NOT NULL, path TEXT NOT NULL, slug TEXT NOT NULL,
  version TEXT NOT NULL, task_type TEXT NOT NULL, parent_session_id TEXT NOT NULL,
  trace_id TEXT NOT NULL, revert_json TEXT NOT NULL, created_at_ms INTEGER, updated_at_ms INTEGER,
  compacting_at_ms INTEGER, archived_at_ms INTEGER, extra_json TEXT NOT NULL,
  {_PLACE}, removed_at_ms INTEGER
) STRICT""",
    f"""CREATE TABLE usage_rows (
  id INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES sessions(id), usage_id TEXT NOT NULL,
  logical_request_id TEXT NOT NULL, attempt_index INTEGER NOT NULL, turn_id TEXT NOT NULL,
  trace_id TEXT NOT NULL, span_id TEXT NOT NULL, message_id TEXT NOT NULL,
  parent_message_id TEXT NOT NULL, query_source TEXT NOT NULL, provider_id TEXT NOT NULL,
  model_id TEXT NOT NULL, variant TEXT NOT NULL, agent TEXT NOT NULL, mode TEXT NOT NULL,
  task_type TEXT NOT NULL, status TEXT NOT NULL, started_at_ms INTEGER, first_token_at_ms INTEGER,
  completed_at_ms INTEGER, duration_ms INTEGER, first_token_ms INTEGER,
  finish_reason TEXT NOT NULL, tool_calls INTEGER, {_TOKENS}
  cache_write_tokens INTEGER, cache_read_tokens INTEGER, provider_total_tokens INTEGER,
  computed_total_tokens INTEGER, retries INTEGER NOT NULL, retryable INTEGER NOT NULL,
  cancelled INTEGER NOT NULL, context_exceeded INTEGER NOT NULL, error_type TEXT NOT NULL,
  error_code TEXT NOT NULL, error_message TEXT NOT NULL, usage_json TEXT NOT NULL,
  metadata_json TEXT NOT NULL, extra_json TEXT NOT NULL,
  {_PLACE},
  origin TEXT NOT NULL, request_id INTEGER REFERENCES requests(id),
  join_strength TEXT NOT NULL DEFAULT '', join_key TEXT NOT NULL DEFAULT '',
  conflicts_json TEXT NOT NULL DEFAULT '',
  UNIQUE (session_id, usage_id)
) STRICT""",
    # A request's page asks which rows tell of it.
    "CREATE INDEX idx_usage_rows_request ON usage_rows(request_id) WHERE request_id IS NOT NULL",
    f"""CREATE TABLE turn_rows (
  session_id INTEGER NOT NULL REFERENCES sessions(id), turn_id TEXT NOT NULL,
  trace_id TEXT NOT NULL, user_message_id TEXT NOT NULL, status TEXT NOT NULL,
  started_at_ms INTEGER, first_model_at_ms INTEGER, first_token_at_ms INTEGER,
  completed_at_ms INTEGER, duration_ms INTEGER, first_token_ms INTEGER, model_requests INTEGER,
  model_retries INTEGER, tool_calls INTEGER, tool_errors INTEGER, {_TOKENS}
  cache_write_tokens INTEGER, cache_read_tokens INTEGER, computed_total_tokens INTEGER,
  retryable INTEGER NOT NULL, cancelled INTEGER NOT NULL, context_exceeded INTEGER NOT NULL,
  error_type TEXT NOT NULL, error_code TEXT NOT NULL, extra_json TEXT NOT NULL,
  {_PLACE},
  PRIMARY KEY (session_id, turn_id)
) STRICT, WITHOUT ROWID""",
    f"""CREATE TABLE tool_rows (
  session_id INTEGER NOT NULL REFERENCES sessions(id), call_id TEXT NOT NULL,
  usage_id TEXT NOT NULL, turn_id TEXT NOT NULL, trace_id TEXT NOT NULL, tool TEXT NOT NULL,
  side_effect_scope TEXT NOT NULL, read_only INTEGER, destructive INTEGER, approval TEXT NOT NULL,
  status TEXT NOT NULL, started_at_ms INTEGER, first_output_at_ms INTEGER,
  completed_at_ms INTEGER, duration_ms INTEGER, first_output_ms INTEGER, exit_code INTEGER,
  output_bytes INTEGER, stdout_bytes INTEGER, stderr_bytes INTEGER, truncated INTEGER NOT NULL,
  retries INTEGER NOT NULL, retryable INTEGER NOT NULL, cancelled INTEGER NOT NULL,
  error_type TEXT NOT NULL, error_code TEXT NOT NULL, error_message TEXT NOT NULL,
  extra_json TEXT NOT NULL,
  {_PLACE},
  PRIMARY KEY (session_id, call_id)
) STRICT, WITHOUT ROWID""",
    f"""CREATE TABLE messages (
  id INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES sessions(id), message_id TEXT NOT NULL,
  role TEXT NOT NULL, sequence INTEGER, created_at_ms INTEGER, updated_at_ms INTEGER,
  completed_at_ms INTEGER, turn_id TEXT NOT NULL, parent_message_id TEXT NOT NULL,
  source TEXT NOT NULL, origin TEXT NOT NULL, visibility TEXT NOT NULL,
  synthetic INTEGER NOT NULL, provider_id TEXT NOT NULL, model_id TEXT NOT NULL,
  agent TEXT NOT NULL, mode TEXT NOT NULL, finish TEXT NOT NULL, error_json TEXT NOT NULL,
  {_TOKENS} cache_read_tokens INTEGER, cache_write_tokens INTEGER, raw TEXT NOT NULL,
  extra_json TEXT NOT NULL,
  {_PLACE},
  UNIQUE (session_id, message_id)
) STRICT""",
    # Long texts are zlib-compressed (`text_zlib`), and then `text` is empty.
    f"""CREATE TABLE parts (
  id INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES sessions(id), part_id TEXT NOT NULL,
  message_id TEXT NOT NULL, kind TEXT NOT NULL, sequence INTEGER, created_at_ms INTEGER,
  updated_at_ms INTEGER, synthetic INTEGER NOT NULL, call_id TEXT NOT NULL, tool TEXT NOT NULL,
  state TEXT NOT NULL, title TEXT NOT NULL, started_at_ms INTEGER, ended_at_ms INTEGER,
  text TEXT NOT NULL, input_json TEXT NOT NULL, reason TEXT NOT NULL,
  {_TOKENS} cache_read_tokens INTEGER, cache_write_tokens INTEGER, context_used INTEGER,
  context_window INTEGER, context_json TEXT NOT NULL, detail_json TEXT NOT NULL,
  raw TEXT NOT NULL,
  {_PLACE}, text_zlib BLOB,
  UNIQUE (session_id, part_id)
) STRICT""",
    # A session's page reads what is short of its parts: steps, tools, compactions, user texts.
    "CREATE INDEX idx_parts_message ON parts(session_id, message_id)",
    f"""CREATE TABLE todos (
  session_id INTEGER NOT NULL REFERENCES sessions(id), position INTEGER NOT NULL,
  content TEXT NOT NULL, status TEXT NOT NULL, priority TEXT NOT NULL, created_at_ms INTEGER,
  updated_at_ms INTEGER,
  {_PLACE},
  PRIMARY KEY (session_id, position)
) STRICT, WITHOUT ROWID""",
    f"""CREATE TABLE session_records (
  session_id INTEGER NOT NULL REFERENCES sessions(id), record_id TEXT NOT NULL,
  family TEXT NOT NULL, kind TEXT NOT NULL, status TEXT NOT NULL, delivery TEXT NOT NULL,
  message_id TEXT NOT NULL, created_at_ms INTEGER, updated_at_ms INTEGER,
  data_json TEXT NOT NULL,
  {_PLACE},
  PRIMARY KEY (session_id, family, record_id)
) STRICT, WITHOUT ROWID""",
    f"""CREATE TABLE agent_runs (
  id INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES sessions(id), agent_id TEXT NOT NULL,
  child_session_id TEXT NOT NULL, parent_call_id TEXT NOT NULL, agent_type TEXT NOT NULL,
  description TEXT NOT NULL, prompt TEXT NOT NULL, status TEXT NOT NULL, created_at_ms INTEGER,
  updated_at_ms INTEGER, completed_at_ms INTEGER, duration_ms INTEGER, total_tokens INTEGER,
  tool_calls INTEGER, error TEXT NOT NULL, cwd TEXT NOT NULL, usage_json TEXT NOT NULL,
  output TEXT NOT NULL, extra_json TEXT NOT NULL,
  {_PLACE},
  UNIQUE (session_id, agent_id)
) STRICT""",
    "CREATE INDEX idx_agent_runs_child ON agent_runs(child_session_id)",
)

_ISO = "strftime('%Y-%m-%dT%H:%M:%fZ', {} / 1000.0, 'unixepoch')"

_VIEWS = (
    f"""CREATE VIEW v_session_database AS
SELECT s.session_id, f.title, f.title_source, f.directory, f.task_type, f.parent_session_id,
  {_ISO.format("f.created_at_ms")} AS created_at, {_ISO.format("f.updated_at_ms")} AS updated_at,
  {_ISO.format("f.removed_at_ms")} AS removed_at, f.revert_json, src.path AS source_path
FROM session_facts f JOIN sessions s ON s.id = f.session_id JOIN sources src ON src.id = f.source_id
""".rstrip(),
    f"""CREATE VIEW v_usage AS
SELECT s.session_id, u.usage_id, u.origin, u.turn_id, u.query_source, u.provider_id, u.model_id,
  u.status, {_ISO.format("u.started_at_ms")} AS started_at, u.duration_ms, u.first_token_ms,
  u.input_tokens, u.cache_read_tokens, u.cache_write_tokens, u.output_tokens, u.retries,
  u.message_id, r.key AS request_key, u.join_strength, u.join_key, u.conflicts_json,
  src.path AS source_path
FROM usage_rows u JOIN sessions s ON s.id = u.session_id JOIN sources src ON src.id = u.source_id
LEFT JOIN requests r ON r.id = u.request_id""",
    f"""CREATE VIEW v_turns AS
SELECT s.session_id, t.turn_id, t.status, {_ISO.format("t.started_at_ms")} AS started_at,
  t.duration_ms, t.first_token_ms, t.model_requests, t.model_retries, t.tool_calls, t.tool_errors,
  t.input_tokens, t.cache_read_tokens, t.output_tokens, t.user_message_id
FROM turn_rows t JOIN sessions s ON s.id = t.session_id""",
    f"""CREATE VIEW v_tools AS
SELECT s.session_id, t.turn_id, t.call_id, t.tool, t.status, t.approval,
  {_ISO.format("t.started_at_ms")} AS started_at, t.duration_ms, t.output_bytes, t.error_message,
  p.message_id
FROM tool_rows t JOIN sessions s ON s.id = t.session_id
LEFT JOIN parts p ON p.session_id = t.session_id AND p.kind = 'tool' AND p.call_id = t.call_id""",
    f"""CREATE VIEW v_conversation AS
SELECT s.session_id, m.message_id, m.role, m.turn_id, m.source,
  {_ISO.format("m.created_at_ms")} AS created_at, p.part_id, p.kind, p.tool, p.state,
  coalesce(nullif(p.text, ''), p.raw) AS text, p.context_used, p.context_window
FROM messages m JOIN sessions s ON s.id = m.session_id
LEFT JOIN parts p ON p.session_id = m.session_id AND p.message_id = m.message_id""",
    f"""CREATE VIEW v_agents AS
SELECT s.session_id, a.agent_id, a.child_session_id, a.parent_call_id, a.agent_type, a.description,
  a.status, {_ISO.format("a.created_at_ms")} AS created_at, a.duration_ms, a.total_tokens,
  a.tool_calls, a.output, src.path AS source_path
FROM agent_runs a JOIN sessions s ON s.id = a.session_id
JOIN sources src ON src.id = a.source_id""",
)


def _packed(statement: str) -> str:
    """The statement in lines of up to 240 characters: the generated schema stays short."""
    return fill(
        " ".join(statement.split()), 240, subsequent_indent="  ", break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip


STATEMENTS = tuple(_packed(statement) for statement in (*_TABLES, *_VIEWS))
