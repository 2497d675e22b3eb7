"""The statements of step m003: what is known of each request's cache.

Frozen once it is released, like every step. A verdict belongs to the version of the rules that gave
it and to what it was made from (`inputs_hash`); where either is another one, it is given again.
"""

STATEMENTS = (
    # By which version of the rules a session is judged: 0 not, or not since something was stored;
    # negative: while tokens of its prompts were not counted.
    "ALTER TABLE sessions ADD COLUMN judged INTEGER NOT NULL DEFAULT 0",
    """CREATE TABLE verdicts (
  request_id INTEGER PRIMARY KEY REFERENCES requests(id),
  session_id INTEGER NOT NULL REFERENCES sessions(id),
  rules_version INTEGER NOT NULL,
  inputs_hash BLOB NOT NULL,
  result TEXT NOT NULL,
  baseline_key TEXT NOT NULL,
  expected_tokens INTEGER,
  actual_tokens INTEGER,
  missed_tokens INTEGER NOT NULL,
  avoidable_tokens INTEGER NOT NULL,
  rebilled_tokens INTEGER NOT NULL,
  code TEXT NOT NULL,
  subtype TEXT NOT NULL,
  certainty TEXT NOT NULL,
  fault TEXT NOT NULL,
  tier TEXT NOT NULL,
  block_index INTEGER,
  message_index INTEGER,
  section TEXT NOT NULL,
  reminder TEXT NOT NULL,
  one_line TEXT NOT NULL,
  signals TEXT NOT NULL,
  verdict_json TEXT NOT NULL
) STRICT""",
    # A session's page reads what is short of its verdicts, in no order.
    """CREATE INDEX idx_verdicts_session ON verdicts(session_id, result, rebilled_tokens,
  missed_tokens, avoidable_tokens)""",
    # Ranking over everything reads the costliest misses only.
    """CREATE INDEX idx_verdicts_misses ON verdicts(rebilled_tokens, code, subtype, missed_tokens,
  avoidable_tokens, session_id) WHERE result IN ('partial', 'miss')""",
    # Sums of a judged session. `corrected_*`: the two sums of the growth-corrected rate.
    """CREATE TABLE session_verdicts (
  session_id INTEGER PRIMARY KEY REFERENCES sessions(id),
  rules_version INTEGER NOT NULL,
  judged INTEGER NOT NULL,
  misses INTEGER NOT NULL,
  expected_rebuilds INTEGER NOT NULL,
  missed_tokens INTEGER NOT NULL,
  avoidable_tokens INTEGER NOT NULL,
  rebilled_tokens INTEGER NOT NULL,
  corrected_read_tokens INTEGER NOT NULL,
  corrected_of_tokens INTEGER NOT NULL
) STRICT""",
    """CREATE VIEW v_verdicts AS
SELECT r.key, s.session_id, r.lane,
  strftime('%Y-%m-%dT%H:%M:%fZ', r.started_at_ms / 1000.0, 'unixepoch') AS started_at,
  v.result, v.baseline_key, v.expected_tokens, v.actual_tokens, v.missed_tokens,
  v.avoidable_tokens, v.rebilled_tokens, v.code, v.subtype, v.certainty, v.fault, v.tier,
  v.block_index, v.message_index, v.section, v.reminder, v.one_line, v.rules_version
FROM verdicts v JOIN requests r ON r.id = v.request_id JOIN sessions s ON s.id = v.session_id""",
    """CREATE VIEW v_misses AS
SELECT key, session_id, lane, started_at, rebilled_tokens, missed_tokens, avoidable_tokens, code,
  subtype, certainty, fault, section, reminder, message_index, one_line, baseline_key
FROM v_verdicts WHERE result IN ('partial', 'miss')""",
)
