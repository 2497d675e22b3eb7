"""The prompts of a session as a tree of runs and legs: what a page needs of tens of thousands of
nodes without fetching them.

Nearly all nodes are plain messages that follow each other (`tracer.assemble.marked.PLAIN_ROLES`).
Nodes that tell something and the places where prompts part are looked up; what lies between two of
them is one leg. As ids are given out in the order of a prompt, a leg is a range of ids.
"""

import json
import sqlite3
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence

import msgspec

from tracer.assemble.marked import Leg
from tracer.assemble.trees import Run, TreeRows, estimated, known_tokens
from tracer.tokens import DEFAULT_ENCODING

# A session's nodes were mostly stored in one go. Looking through a span of ids takes a fraction of
# the time of following parents one by one, as long as it is not mostly other sessions'.
_SPAN_NODES_PER_REQUEST = 64
_PLAIN = """(n.part = 'history' AND n.message_index IS NOT NULL
  AND (n.role = 'assistant' OR n.role IN ('user', 'tool')
    AND n.block_id NOT IN (SELECT block_id FROM block_readings))
  AND (n.block_index = 0 OR n.role <> 'user'))"""


def session_tree(connection: sqlite3.Connection, row_id: int) -> TreeRows:
    """The prompts of a session."""
    tips = [
        row[0]
        for row in connection.execute(
            "SELECT DISTINCT node_id FROM requests WHERE session_id = ? AND node_id IS NOT NULL",
            (row_id,),
        )
    ]
    if not tips:
        return TreeRows((), (), "", (), ())
    runs = _runs(connection, tips)
    telling = _telling(connection, runs)
    ends = sorted(_ends(runs, telling))
    letters, *numbers = _nodes(connection, runs)
    tokens, cum_chars = (msgspec.json.decode(f"[{text}]", type=list[int]) for text in numbers)
    sizes, guesses = known_tokens(tokens), estimated(tokens)
    legs: list[Leg] = []
    columns = iter(_columns(connection, ends))
    at = base = 0
    for first, last, parent in runs:
        start = base
        while at < len(ends) and ends[at] <= last:
            stop = base + ends[at] - first + 1
            legs.append(
                Leg(
                    ends[at], parent, *next(columns),
                    cum_chars=cum_chars[stop - 1],
                    tokens=sum(sizes[start:stop]),
                    uncounted=sum(guesses[start:stop]),
                    plain="" if ends[at] in telling else letters[start:stop],
                )
            )  # fmt: skip
            start, parent = stop, ends[at]
            at += 1
        base += last - first + 1
    return TreeRows(runs, legs, letters, tokens, cum_chars)


def _runs(connection: sqlite3.Connection, tips: Sequence[int]) -> list[Run]:
    """All nodes of some prompts, in the order of their ids."""
    first, last = min(tips), max(tips)
    if last - first > _SPAN_NODES_PER_REQUEST * len(tips):
        return _walked_runs(connection, tips)
    rows = connection.execute(
        "SELECT id, parent_id FROM nodes WHERE id BETWEEN ?1 AND ?2 "
        "AND (id = ?1 OR parent_id IS NOT id - 1) ORDER BY id",
        (first, last),
    ).fetchall()
    starts = [row[0] for row in rows]
    ends: list[int | None] = [None] * len(rows)  # where a run is needed up to
    for tip in tips:
        _need(tip, starts, ends)
    before = set()
    for at in range(len(rows) - 1, -1, -1):
        parent = rows[at][1]
        if ends[at] is None or parent is None:
            continue
        if parent < first:
            before.add(parent)
        else:
            _need(parent, starts, ends)
    own = [
        Run(start, end, parent)
        for (start, parent), end in zip(rows, ends, strict=True)
        if end is not None
    ]
    return [*_walked_runs(connection, before), *own]


def _need(node: int, starts: list[int], ends: list[int | None]) -> None:
    at = bisect_right(starts, node) - 1
    known = ends[at]
    ends[at] = node if known is None else max(known, node)


def _walked_runs(connection: sqlite3.Connection, tips: Collection[int]) -> list[Run]:
    """The same by following parents."""
    if not tips:
        return []
    rows = connection.execute(
        """WITH RECURSIVE up(id, parent_id) AS (
  SELECT id, parent_id FROM nodes WHERE id IN (SELECT value FROM json_each(?))
  UNION
  SELECT n.id, n.parent_id FROM up JOIN nodes n ON n.id = up.parent_id
)
SELECT id, parent_id FROM up ORDER BY id""",
        (json.dumps(sorted(tips)),),
    )
    runs: list[Run] = []
    for node, parent in rows:
        if runs and runs[-1].last == parent == node - 1:
            runs[-1] = runs[-1]._replace(last=node)
        else:
            runs.append(Run(node, node, parent))
    return runs


def _telling(connection: sqlite3.Connection, runs: Sequence[Run]) -> dict[int, int]:
    """The nodes that are not plain, with the place of their block in its message."""
    rows = connection.execute(
        "SELECT n.id, n.block_index FROM json_each(?) j "
        f"JOIN nodes n ON n.id BETWEEN j.value ->> 0 AND j.value ->> 1 WHERE NOT {_PLAIN}",
        (json.dumps([run[:2] for run in runs]),),
    )
    return dict(rows.fetchall())


def _ends(runs: Sequence[Run], telling: Mapping[int, int]) -> set[int]:
    """The nodes that end a leg: those where a run ends or prompts part, those that tell something,
    and before each of these the node above, so that it is a leg of its own, and the blocks before
    it in its message, which is read as a whole."""
    above = {run.first: run.parent_id for run in runs}
    ends = {run.last for run in runs}
    ends.update(parent for parent in above.values() if parent is not None)
    for node, block_index in telling.items():
        current: int | None = node
        for _ in range(block_index + 2):
            if current is None:
                break
            ends.add(current)
            current = above.get(current, current - 1)
    return ends


def _columns(
    connection: sqlite3.Connection, ends: Sequence[int]
) -> list[tuple[int, int | None, int, str, str, int]]:
    """The columns of a leg that are those of its last node, in the order of `ends`."""
    return connection.execute(
        "SELECT n.block_id, n.message_index, n.block_index, n.part, n.role, n.depth + 1 "
        "FROM json_each(?) j JOIN nodes n ON n.id = j.value ORDER BY j.key",
        (json.dumps(ends),),
    ).fetchall()


def _nodes(connection: sqlite3.Connection, runs: Sequence[Run]) -> tuple[str, str, str]:
    """Of all nodes of the runs, one after the other, the columns of TreeRows: each is one text, as
    tens of thousands of rows would take twice as long."""
    # CROSS JOIN keeps the order: SQLite does not swap its sides.
    row: tuple[str, str, str] = connection.execute(
        """SELECT
  group_concat(CASE n.role
    WHEN 'assistant' THEN iif(n.block_index, 'A', 'a')
    WHEN 'tool' THEN iif(n.block_index, 'T', 't')
    ELSE iif(n.block_index, 'U', 'u') END, ''),
  group_concat(coalesce(t.tokens, (
    SELECT iif(n.part = 'gap', b.estimate_tokens, -1 - b.estimate_tokens)
    FROM blocks b WHERE b.id = n.block_id))),
  group_concat(n.cum_chars)
FROM json_each(?1) j
CROSS JOIN nodes n ON n.id BETWEEN j.value ->> 0 AND j.value ->> 1
LEFT JOIN block_tokens t ON t.block_id = n.block_id AND t.counter = ?2""",
        (json.dumps([run[:2] for run in runs]), DEFAULT_ENCODING),
    ).fetchone()
    return row
