"""The statements of step m006: what the agents' own rules found.

Frozen once it is released, like every step. Findings belong to the version of the rules that made
them and to the session as it was; where either is another one, they are made again.
"""

STATEMENTS = (
    # By which version of the rules a session is checked; empty: not, or not since something was
    # stored of it.
    "ALTER TABLE sessions ADD COLUMN checked TEXT NOT NULL DEFAULT ''",
    """CREATE TABLE findings (
  session_id INTEGER NOT NULL REFERENCES sessions(id),
  position INTEGER NOT NULL,
  request_id INTEGER NOT NULL REFERENCES requests(id),
  rule TEXT NOT NULL,
  level TEXT NOT NULL,
  message_index INTEGER,
  prompt_index INTEGER,
  message TEXT NOT NULL,
  evidence_json TEXT NOT NULL,
  PRIMARY KEY (session_id, position)
) STRICT, WITHOUT ROWID""",
    # The checks page reads the findings of one rule, over all sessions.
    "CREATE INDEX idx_findings_rule ON findings(rule, session_id)",
    # Which rules were asked about a session, and which its log cannot decide.
    """CREATE TABLE session_rules (
  session_id INTEGER NOT NULL REFERENCES sessions(id),
  rule TEXT NOT NULL,
  position INTEGER NOT NULL,
  needs TEXT NOT NULL,
  request_id INTEGER REFERENCES requests(id),
  requests INTEGER NOT NULL,
  PRIMARY KEY (session_id, rule, position)
) STRICT, WITHOUT ROWID""",
    """CREATE VIEW v_findings AS
SELECT f.rule, f.level, s.session_id, r.key, r.lane,
  strftime('%Y-%m-%dT%H:%M:%fZ', r.started_at_ms / 1000.0, 'unixepoch') AS started_at,
  f.message_index, f.prompt_index, f.message, f.evidence_json, s.checked = '' AS outdated
FROM findings f JOIN requests r ON r.id = f.request_id JOIN sessions s ON s.id = f.session_id""",
)
