"""The statements of step m002: what the text of a block says of reminders.

Frozen once it is released, like every step. What a text says is stored once a block, with rows
only for the few blocks that say something; what its place in one prompt adds is not stored.
"""

# The node ids of a request's prompt whose block can carry a reminder there: of a user message that
# is reminders as a whole, of mid-conversation system text, of the last block of a tool's result.
_CARRIERS = """WITH RECURSIVE up(id) AS (
    SELECT r.node_id WHERE r.node_id IS NOT NULL
    UNION ALL
    SELECT p.parent_id FROM up JOIN nodes p ON p.id = up.id WHERE p.parent_id IS NOT NULL
  )
  SELECT json_group_array(id) FROM (
    SELECT c.id, c.role, c.block_index,
      min(coalesce(k.reminders, 0)) OVER message AS fewest,
      max(c.block_index) OVER message AS last_block
    FROM up JOIN nodes c ON c.id = up.id
    LEFT JOIN block_readings k ON k.block_id = c.block_id
    WHERE c.message_index IS NOT NULL
    WINDOW message AS (PARTITION BY c.message_index)
  ) WHERE role = 'system' OR (role = 'user' AND fewest > 0)
    OR (role = 'tool' AND block_index = last_block)"""

STATEMENTS = (
    # One row a block of the conversation in which something was found: how many reminders and
    # look-alike tags; does it start like another session's reply; does it name a plugin.
    """CREATE TABLE block_readings (
  block_id INTEGER PRIMARY KEY REFERENCES blocks(id),
  reminders INTEGER NOT NULL,
  unverified INTEGER NOT NULL,
  reply INTEGER NOT NULL,
  plugins INTEGER NOT NULL
) STRICT""",
    # Offsets are code points of the block's text; chars are UTF-16 units.
    """CREATE TABLE block_reminders (
  block_id INTEGER NOT NULL REFERENCES blocks(id),
  position INTEGER NOT NULL,
  source TEXT NOT NULL,
  ambiguous_with TEXT NOT NULL,
  presentation TEXT NOT NULL,
  trust TEXT NOT NULL,
  merged INTEGER NOT NULL,
  start_char INTEGER NOT NULL,
  end_char INTEGER NOT NULL,
  chars INTEGER NOT NULL,
  estimate_tokens INTEGER NOT NULL,
  content_hash BLOB NOT NULL,
  PRIMARY KEY (block_id, position)
) STRICT, WITHOUT ROWID""",
    """CREATE TABLE block_unverified (
  block_id INTEGER NOT NULL REFERENCES blocks(id),
  position INTEGER NOT NULL,
  start_char INTEGER NOT NULL,
  end_char INTEGER NOT NULL,
  why TEXT NOT NULL,
  PRIMARY KEY (block_id, position)
) STRICT, WITHOUT ROWID""",
    # The version of the rules that the blocks were read by; 0: not yet.
    "INSERT OR IGNORE INTO counters (name, value) VALUES ('reading_rules', 0)",
    f"""CREATE VIEW v_reminders AS
SELECT r.key, s.session_id, r.lane,
  strftime('%Y-%m-%dT%H:%M:%fZ', r.started_at_ms / 1000.0, 'unixepoch') AS started_at,
  n.message_index, n.block_index, m.position, m.source,
  CASE n.role WHEN 'system' THEN 'mcs' WHEN 'tool' THEN 'inline' ELSE 'reminder' END AS via,
  m.ambiguous_with, m.presentation, m.trust <> 'place' AS counted, m.merged,
  m.start_char, m.end_char, m.chars, m.estimate_tokens,
  lower(hex(m.content_hash)) AS content_hash,
  substr(x.text, m.start_char + 1, m.end_char - m.start_char) AS text, n.block_id
FROM requests r
JOIN sessions s ON s.id = r.session_id
JOIN json_each((
  {_CARRIERS}
)) j
JOIN nodes n ON n.id = j.value
JOIN block_reminders m ON m.block_id = n.block_id
LEFT JOIN block_texts x ON x.block_id = n.block_id""",
    """CREATE VIEW v_presence AS
SELECT s.session_id, r.query_source, r.key,
  strftime('%Y-%m-%dT%H:%M:%fZ', r.started_at_ms / 1000.0, 'unixepoch') AS started_at,
  CASE n.part WHEN 'tools' THEN 'tool' ELSE n.part END AS kind,
  CASE n.part WHEN 'tools' THEN b.name ELSE 'message ' || n.message_index ||
    CASE n.block_index WHEN 0 THEN '' ELSE ' block ' || n.block_index END END AS name,
  1 AS count, b.chars, lower(hex(b.wire_hash)) AS content
FROM requests r
JOIN sessions s ON s.id = r.session_id
JOIN json_each((
  WITH RECURSIVE up(id) AS (
    SELECT r.node_id WHERE r.node_id IS NOT NULL
    UNION ALL
    SELECT p.parent_id FROM up JOIN nodes p ON p.id = up.id WHERE p.parent_id IS NOT NULL
  )
  SELECT json_group_array(c.id) FROM up JOIN nodes c ON c.id = up.id
  WHERE c.part IN ('tools', 'system', 'mcs')
)) j
JOIN nodes n ON n.id = j.value
JOIN blocks b ON b.id = n.block_id
UNION ALL
SELECT v.session_id, r.query_source, v.key, v.started_at, 'reminder', v.source, count(*),
  sum(v.chars), group_concat(v.content_hash, ' ')
FROM requests r JOIN v_reminders v ON v.key = r.key
WHERE v.counted
GROUP BY v.session_id, v.key, v.source""",
)
