"""The statements of step m013: what a page about one request needs of the whole session.

Frozen once it is released, like every step. All of it belongs to the version of the rules that made
it and to the session as it was: whatever is stored of a session takes its row away.
"""

STATEMENTS = (
    # `counted` tells that every block of the prompts was counted; the JSON has, by lane, what was
    # billed for a counted token: the median, the least, the largest, the deviation, the requests.
    """CREATE TABLE session_contents (
  session_id INTEGER PRIMARY KEY REFERENCES sessions(id),
  rules TEXT NOT NULL,
  counted INTEGER NOT NULL,
  calibrations_json TEXT NOT NULL
) STRICT""",
    # How the sections of a request lived until then. A row holds for the later requests of its
    # purpose, up to the next one.
    """CREATE TABLE section_lives (
  session_id INTEGER NOT NULL REFERENCES sessions(id),
  query_source TEXT NOT NULL,
  seq INTEGER NOT NULL,
  sections_hash BLOB NOT NULL,
  lives_json TEXT NOT NULL,
  PRIMARY KEY (session_id, query_source, seq)
) STRICT, WITHOUT ROWID""",
)
