"""The statements of step m007: prompts of the open trace format.

Frozen once it is released, like every step. What a trace says of a message beside its content is
kept apart from the prompt, so that it never makes two equal prompts differ: a chain of notes runs
beside the chain of blocks, one note a message, shared by requests as far as they agree.
"""

STATEMENTS = (
    # A note of a message, or the notes of a list of tools: once, whatever the number of requests.
    """CREATE TABLE layout_texts (
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  json TEXT NOT NULL
) STRICT""",
    """CREATE TABLE note_nodes (
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  parent_id INTEGER REFERENCES note_nodes(id),
  note_id INTEGER NOT NULL REFERENCES layout_texts(id),
  depth INTEGER NOT NULL
) STRICT""",
    # How a request's prompt was laid out. `shared_from` is the request whose record carries the
    # prompt, where this one is another attempt of it.
    """CREATE TABLE request_layouts (
  request_id INTEGER PRIMARY KEY REFERENCES requests(id),
  layout TEXT NOT NULL,
  segments_json TEXT NOT NULL,
  tools_id INTEGER REFERENCES layout_texts(id),
  note_node_id INTEGER REFERENCES note_nodes(id),
  unresolved_json TEXT NOT NULL,
  extra_json TEXT NOT NULL,
  shared_from INTEGER REFERENCES requests(id)
) STRICT""",
    # Requests with references that nothing read so far defines: they are tried again.
    "CREATE INDEX idx_request_layouts_unresolved ON request_layouts(request_id) "
    "WHERE unresolved_json <> ''",
    # Where a session's messages were written in full. `name_hash` is that of session and message
    # id; `carried` marks a file that refers to what another file defined.
    """CREATE TABLE message_places (
  name_hash BLOB NOT NULL,
  source_id INTEGER NOT NULL REFERENCES sources(id),
  line INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  blocks_json TEXT NOT NULL,
  note_id INTEGER NOT NULL REFERENCES layout_texts(id),
  carried INTEGER NOT NULL,
  PRIMARY KEY (name_hash, source_id, line)
) STRICT, WITHOUT ROWID""",
    # What happened to the requests of a trace is looked for whenever its session is put together.
    "CREATE INDEX idx_log_events_trace ON log_events(session_id, event, at_ms) "
    "WHERE module = 'context trace'",
)
