"""The statements of step m012: the views of what a request carried say what its record proves.

Frozen once it is released, like every step. What stands before a request's `verified_from` is
carried over from other records: an edit of it does not show there.
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
    "DROP VIEW v_presence",
    "DROP VIEW v_reminders",
    f"""CREATE VIEW v_reminders AS
SELECT r.key, s.session_id, r.lane,
  strftime('%Y-%m-%dT%H:%M:%fZ', r.started_at_ms / 1000.0, 'unixepoch') AS started_at,
  n.message_index, n.block_index, m.position, m.source,
  CASE n.role WHEN 'system' THEN 'mcs' WHEN 'tool' THEN 'inline' ELSE 'reminder' END AS via,
  m.ambiguous_with, m.presentation, m.trust <> 'place' AS counted, m.merged,
  m.start_char, m.end_char, m.chars, m.estimate_tokens,
  lower(hex(m.content_hash)) AS content_hash,
  substr(x.text, m.start_char + 1, m.end_char - m.start_char) AS text, n.block_id,
  n.message_index >= coalesce(r.verified_from, n.message_index + 1) AS verified
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
  1 AS count, b.chars, lower(hex(b.wire_hash)) AS content,
  CASE WHEN n.part = 'tools' THEN 1 WHEN n.part = 'system' AND r.system_from <> '' THEN 1
    ELSE n.message_index >= coalesce(r.verified_from, n.message_index + 1) END AS verified
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
  sum(v.chars), group_concat(v.content_hash, ' '), min(v.verified)
FROM requests r JOIN v_reminders v ON v.key = r.key
WHERE v.counted
GROUP BY v.session_id, v.key, v.source""",
)
