"""The schema, step by step. A step is never edited once it is released; new ones go at the end.

Steps import nothing but their own statements: they freeze history. `schema.sql` beside this
file is generated from them (`python -m tracer.store.schema --write`) and is what to read.
"""

from sqlite_utils import Migrations
from sqlite_utils.db import Database

from tracer.store import m002_anatomy as _m002
from tracer.store import m003_verdicts as _m003
from tracer.store import m004_session_database as _m004
from tracer.store import m006_checks as _m006
from tracer.store import m007_layouts as _m007
from tracer.store import m008_nul_texts as _m008
from tracer.store import m009_sessions_list as _m009
from tracer.store import m012_verified as _m012
from tracer.store import m013_contents as _m013

migrations = Migrations("context-tracer")

_M001 = (
    # One row a segment of a file: a file that shrank or was created anew begins a new segment.
    """CREATE TABLE sources (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL,
  segment INTEGER NOT NULL,
  format TEXT NOT NULL,
  agent TEXT NOT NULL,
  device INTEGER NOT NULL,
  inode INTEGER NOT NULL,
  head_bytes INTEGER NOT NULL,
  head_hash BLOB NOT NULL,
  tail_hash BLOB NOT NULL,
  size_bytes INTEGER NOT NULL,
  offset_bytes INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL,
  lines INTEGER NOT NULL DEFAULT 0,
  records INTEGER NOT NULL DEFAULT 0,
  duplicates INTEGER NOT NULL DEFAULT 0,
  skipped INTEGER NOT NULL DEFAULT 0,
  status TEXT NOT NULL DEFAULT 'current',
  last_read_at_ms INTEGER NOT NULL,
  UNIQUE (path, segment)
) STRICT""",
    """CREATE TABLE skipped_lines (
  source_id INTEGER NOT NULL REFERENCES sources(id),
  line INTEGER NOT NULL,
  offset_bytes INTEGER NOT NULL,
  kind TEXT NOT NULL,
  reason TEXT NOT NULL,
  excerpt TEXT NOT NULL,
  PRIMARY KEY (source_id, line)
) STRICT, WITHOUT ROWID""",
    """CREATE TABLE sessions (
  id INTEGER PRIMARY KEY,
  session_id TEXT NOT NULL UNIQUE,
  agent TEXT NOT NULL,
  title TEXT NOT NULL DEFAULT '',
  project TEXT NOT NULL DEFAULT '',
  parent_session_id TEXT NOT NULL DEFAULT '',
  title_at_ms INTEGER,
  title_request_id TEXT NOT NULL DEFAULT '',
  first_at_ms INTEGER,
  last_at_ms INTEGER
) STRICT""",
    # The sessions list runs by last activity; children are looked up from their parent's page.
    "CREATE INDEX idx_sessions_last ON sessions(last_at_ms)",
    "CREATE INDEX idx_sessions_parent ON sessions(parent_session_id)",
    # A block, stored once whatever the number of requests that carry it. Its text is apart, so
    # that what a timeline reads stays small.
    """CREATE TABLE blocks (
  id INTEGER PRIMARY KEY,
  wire_hash BLOB NOT NULL UNIQUE,
  norm_hash BLOB NOT NULL,
  tier TEXT NOT NULL,
  role TEXT NOT NULL,
  kind TEXT NOT NULL,
  part TEXT NOT NULL,
  shape TEXT NOT NULL,
  name TEXT NOT NULL,
  call_id TEXT NOT NULL,
  chars INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  estimate_tokens INTEGER NOT NULL,
  span_messages INTEGER NOT NULL,
  preview TEXT NOT NULL,
  extra_json TEXT NOT NULL,
  message_json TEXT NOT NULL,
  source_id INTEGER REFERENCES sources(id),
  line INTEGER,
  offset_bytes INTEGER
) STRICT""",
    # Long texts are zlib-compressed (`text_zlib`), short ones are plain (`text`).
    """CREATE TABLE block_texts (
  block_id INTEGER PRIMARY KEY REFERENCES blocks(id),
  text TEXT,
  text_zlib BLOB
) STRICT""",
    """CREATE TABLE block_tokens (
  block_id INTEGER NOT NULL REFERENCES blocks(id),
  counter TEXT NOT NULL,
  tokens INTEGER NOT NULL,
  exact INTEGER NOT NULL,
  PRIMARY KEY (block_id, counter)
) STRICT, WITHOUT ROWID""",
    # A prompt is a chain of nodes; a request points at its last one. A parent's id is always
    # smaller than its children's. `part` and `role` repeat the block's: a timeline reads the nodes
    # of a whole session and no blocks.
    """CREATE TABLE nodes (
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  parent_id INTEGER REFERENCES nodes(id),
  block_id INTEGER NOT NULL REFERENCES blocks(id),
  depth INTEGER NOT NULL,
  message_index INTEGER,
  block_index INTEGER NOT NULL,
  part TEXT NOT NULL,
  role TEXT NOT NULL,
  cum_chars INTEGER NOT NULL,
  cum_estimate_tokens INTEGER NOT NULL
) STRICT""",
    """CREATE TABLE params (
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  json TEXT NOT NULL
) STRICT""",
    """CREATE TABLE requests (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  session_id INTEGER NOT NULL REFERENCES sessions(id),
  request_id TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  trace_id TEXT NOT NULL,
  turn_id TEXT NOT NULL,
  query_source TEXT NOT NULL,
  lane TEXT NOT NULL,
  provider_id TEXT NOT NULL,
  model_id TEXT NOT NULL,
  returned_model_id TEXT NOT NULL,
  model_json TEXT NOT NULL,
  started_at_ms INTEGER,
  completed_at_ms INTEGER,
  duration_ms INTEGER,
  status TEXT NOT NULL,
  error_name TEXT NOT NULL,
  error_message TEXT NOT NULL,
  finish_reason TEXT NOT NULL,
  response_id TEXT NOT NULL,
  observed TEXT NOT NULL,
  carry TEXT NOT NULL,
  verified_from INTEGER,
  system_from TEXT NOT NULL,
  window_kind TEXT NOT NULL,
  window_offset INTEGER,
  message_count INTEGER,
  tool_names_json TEXT NOT NULL,
  node_id INTEGER REFERENCES nodes(id),
  params_id INTEGER REFERENCES params(id),
  headers_json TEXT NOT NULL,
  reset_json TEXT NOT NULL,
  notes_json TEXT NOT NULL,
  wire_json TEXT NOT NULL DEFAULT '',
  input_tokens INTEGER,
  fresh_tokens INTEGER,
  cache_read_tokens INTEGER,
  cache_write_tokens INTEGER,
  output_tokens INTEGER,
  reasoning_tokens INTEGER,
  usage_convention TEXT NOT NULL,
  usage_reason TEXT NOT NULL,
  usage_json TEXT NOT NULL,
  from_log INTEGER NOT NULL,
  record_hash BLOB NOT NULL,
  source_id INTEGER NOT NULL REFERENCES sources(id),
  line INTEGER NOT NULL,
  offset_bytes INTEGER NOT NULL
) STRICT""",
    # A session's page loads its requests by start time; the sessions list sums over them without
    # reading the wide rows.
    "CREATE INDEX idx_requests_session ON requests(session_id, started_at_ms, query_source, "
    "status, observed, turn_id, model_id, lane, input_tokens, fresh_tokens, cache_read_tokens, "
    "cache_write_tokens, output_tokens)",
    # A log line finds its request by the id of the attempt.
    "CREATE INDEX idx_requests_request ON requests(request_id)",
    """CREATE TABLE markers (
  request_id INTEGER NOT NULL REFERENCES requests(id),
  tier TEXT NOT NULL,
  tier_index INTEGER NOT NULL,
  block_index INTEGER NOT NULL,
  message_index INTEGER,
  ttl TEXT NOT NULL,
  scope TEXT NOT NULL,
  PRIMARY KEY (request_id, tier, tier_index, block_index)
) STRICT, WITHOUT ROWID""",
    """CREATE TABLE response_blocks (
  request_id INTEGER NOT NULL REFERENCES requests(id),
  position INTEGER NOT NULL,
  block_id INTEGER NOT NULL REFERENCES blocks(id),
  PRIMARY KEY (request_id, position)
) STRICT, WITHOUT ROWID""",
    # Every line in which a request was found: copies of a file, or a second file.
    """CREATE TABLE request_sources (
  request_id INTEGER NOT NULL REFERENCES requests(id),
  source_id INTEGER NOT NULL REFERENCES sources(id),
  line INTEGER NOT NULL,
  offset_bytes INTEGER NOT NULL,
  record_hash BLOB NOT NULL,
  PRIMARY KEY (request_id, source_id, line)
) STRICT, WITHOUT ROWID""",
    # Resuming a grown file asks for its newest records.
    "CREATE INDEX idx_request_sources_place ON request_sources(source_id, line)",
    """CREATE TABLE log_events (
  id INTEGER PRIMARY KEY,
  line_hash BLOB NOT NULL UNIQUE,
  session_id INTEGER REFERENCES sessions(id),
  at_ms INTEGER,
  level TEXT NOT NULL,
  event TEXT NOT NULL,
  module TEXT NOT NULL,
  message TEXT NOT NULL,
  trace_id TEXT NOT NULL,
  span_id TEXT NOT NULL,
  parent_span_id TEXT NOT NULL,
  turn_id TEXT NOT NULL,
  tool_call_id TEXT NOT NULL,
  duration_ms INTEGER,
  status TEXT NOT NULL,
  request_id TEXT NOT NULL,
  attempt INTEGER,
  query_source TEXT NOT NULL,
  provider_id TEXT NOT NULL,
  model_id TEXT NOT NULL,
  context_json TEXT NOT NULL,
  error_json TEXT NOT NULL,
  source_id INTEGER NOT NULL REFERENCES sources(id),
  line INTEGER NOT NULL,
  offset_bytes INTEGER NOT NULL
) STRICT""",
    # A request's page asks for the lines of its session around its time.
    "CREATE INDEX idx_log_events_session ON log_events(session_id, at_ms)",
    "CREATE INDEX idx_log_events_request ON log_events(request_id) WHERE request_id <> ''",
    """CREATE TABLE context_sections (
  event_id INTEGER NOT NULL REFERENCES log_events(id),
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  source TEXT NOT NULL,
  chars INTEGER,
  tokens INTEGER,
  tokens_redacted INTEGER NOT NULL,
  block_id INTEGER REFERENCES blocks(id),
  PRIMARY KEY (event_id, position)
) STRICT, WITHOUT ROWID""",
    """CREATE TABLE context_usage (
  event_id INTEGER NOT NULL REFERENCES log_events(id),
  scope TEXT NOT NULL,
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  source TEXT NOT NULL,
  chars INTEGER,
  tokens INTEGER,
  tokens_redacted INTEGER NOT NULL,
  fraction REAL,
  count INTEGER,
  contributors_json TEXT NOT NULL,
  PRIMARY KEY (event_id, scope, position)
) STRICT, WITHOUT ROWID""",
    """CREATE TABLE counters (
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID""",
    "INSERT INTO counters (name, value) VALUES ('revision', 0)",
)

_M001_VIEWS = (
    """CREATE VIEW v_requests AS
SELECT r.key, s.session_id, r.request_id, r.attempt, r.turn_id, r.query_source, r.lane,
  r.provider_id, r.model_id,
  strftime('%Y-%m-%dT%H:%M:%fZ', r.started_at_ms / 1000.0, 'unixepoch') AS started_at,
  r.duration_ms, r.status, r.observed, r.verified_from, r.message_count,
  r.input_tokens, r.fresh_tokens, r.cache_read_tokens, r.cache_write_tokens, r.output_tokens,
  CASE WHEN r.input_tokens > 0 THEN round(1.0 * r.cache_read_tokens / r.input_tokens, 4) END
    AS read_share,
  n.depth + 1 AS blocks, n.cum_chars AS prompt_chars,
  n.cum_estimate_tokens AS prompt_estimate_tokens,
  src.path AS source_path, r.line AS source_line
FROM requests r
JOIN sessions s ON s.id = r.session_id
JOIN sources src ON src.id = r.source_id
LEFT JOIN nodes n ON n.id = r.node_id""",
    # json_each takes the chain of one request as its argument, so a filter on `key` walks that
    # chain only.
    """CREATE VIEW v_request_blocks AS
SELECT r.key, n.depth AS prompt_index, b.tier, n.message_index, n.block_index, b.role, b.kind,
  b.part, b.name, b.call_id, b.chars, b.estimate_tokens, t.tokens AS bpe_tokens,
  lower(hex(b.wire_hash)) AS wire_hash, b.preview, b.id AS block_id
FROM requests r
JOIN json_each((
  WITH RECURSIVE up(id) AS (
    SELECT r.node_id WHERE r.node_id IS NOT NULL
    UNION ALL
    SELECT p.parent_id FROM up JOIN nodes p ON p.id = up.id WHERE p.parent_id IS NOT NULL
  )
  SELECT json_group_array(id) FROM up
)) j
JOIN nodes n ON n.id = j.value
JOIN blocks b ON b.id = n.block_id
LEFT JOIN block_tokens t ON t.block_id = b.id AND t.counter = 'o200k_base'""",
    """CREATE VIEW v_sections AS
SELECT s.session_id, e.turn_id,
  strftime('%Y-%m-%dT%H:%M:%fZ', e.at_ms / 1000.0, 'unixepoch') AS logged_at,
  c.position, c.source, c.name, c.chars, c.tokens AS logged_tokens, b.estimate_tokens, x.text
FROM context_sections c
JOIN log_events e ON e.id = c.event_id
LEFT JOIN sessions s ON s.id = e.session_id
LEFT JOIN blocks b ON b.id = c.block_id
LEFT JOIN block_texts x ON x.block_id = c.block_id""",
    """CREATE VIEW v_log AS
SELECT strftime('%Y-%m-%dT%H:%M:%fZ', e.at_ms / 1000.0, 'unixepoch') AS at, e.level, e.event,
  e.message, s.session_id, e.turn_id, e.request_id, e.attempt, e.duration_ms, e.status,
  e.context_json, e.error_json, src.path AS source_path, e.line AS source_line
FROM log_events e
JOIN sources src ON src.id = e.source_id
LEFT JOIN sessions s ON s.id = e.session_id""",
    """CREATE VIEW v_skipped AS
SELECT src.path, src.segment, k.line, k.offset_bytes, k.kind, k.reason, k.excerpt
FROM skipped_lines k JOIN sources src ON src.id = k.source_id""",
)


@migrations()
def m001_foundations(db: Database) -> None:
    """Files, sessions, blocks, chains, requests, log events."""
    for statement in (*_M001, *_M001_VIEWS):
        db.execute(statement)


@migrations()
def m002_anatomy(db: Database) -> None:
    """What the texts of blocks say of reminders."""
    for statement in _m002.STATEMENTS:
        db.execute(statement)


@migrations()
def m003_verdicts(db: Database) -> None:
    """What became of each request's cache, and why."""
    for statement in _m003.STATEMENTS:
        db.execute(statement)


@migrations()
def m004_session_database(db: Database) -> None:
    """Session databases, agents' folders and session events: usage, turns, tools, messages."""
    for statement in _m004.STATEMENTS:
        db.execute(statement)


@migrations()
def m006_checks(db: Database) -> None:
    """What the agents' own rules found."""
    for statement in _m006.STATEMENTS:
        db.execute(statement)


@migrations()
def m007_layouts(db: Database) -> None:
    """How prompts of the open trace format are laid out."""
    for statement in _m007.STATEMENTS:
        db.execute(statement)


@migrations()
def m008_nul_texts(db: Database) -> None:
    """Texts that hold a NUL can be searched."""
    _m008.pack_texts(db)


@migrations()
def m009_sessions_list(db: Database) -> None:
    """The sessions list by model."""
    for statement in _m009.STATEMENTS:
        db.execute(statement)


@migrations()
def m012_verified(db: Database) -> None:
    """What a request carried, and whether its own record proves it."""
    for statement in _m012.STATEMENTS:
        db.execute(statement)


@migrations()
def m013_contents(db: Database) -> None:
    """What a page about one request needs of the whole session."""
    for statement in _m013.STATEMENTS:
        db.execute(statement)


# What this version knows; a database with any other step was written by a newer one.
KNOWN_STEPS = frozenset(
    {
        m001_foundations.__name__,
        m002_anatomy.__name__,
        m003_verdicts.__name__,
        m004_session_database.__name__,
        m006_checks.__name__,
        m007_layouts.__name__,
        m008_nul_texts.__name__,
        m009_sessions_list.__name__,
        m012_verified.__name__,
        m013_contents.__name__,
    }
)
