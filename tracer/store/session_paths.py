"""The prompts of a session as a tree of legs: what a session's page needs of tens of thousands of
nodes without fetching them.

Nearly all nodes are plain messages that follow each other (`tracer.assemble.marked.PLAIN_ROLES`).
Nodes that tell something, the ends of prompts and the places where prompts part are kept; what lies
between two of them is one leg, whose sums the database makes. As ids are given out in the order of
a prompt, a leg is a range of ids.
"""

import json
import sqlite3
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple, cast

import msgspec

from tracer.assemble.chains import Leg
from tracer.tokens import DEFAULT_ENCODING

# A session's nodes were mostly stored in one go. Looking through a span of ids takes a fraction of
# the time of following parents one by one, as long as it is not mostly other sessions'.
_SPAN_NODES_PER_REQUEST = 64
_PLAIN = """(n.part = 'history' AND n.message_index IS NOT NULL
  AND (n.role = 'assistant' OR n.role IN ('user', 'tool')
    AND n.block_id NOT IN (SELECT block_id FROM block_readings))
  AND (n.block_index = 0 OR n.role <> 'user'))"""


class _Run(NamedTuple):
    """Nodes with the ids `first` to `last`, each the parent of the next one."""

    first: int
    last: int
    parent_id: int | None


def session_legs(connection: sqlite3.Connection, row_id: int) -> list[Leg]:
    """The legs of a session's prompts, parents before children; each prompt ends with a leg."""
    tips = [
        row[0]
        for row in connection.execute(
            "SELECT DISTINCT node_id FROM requests WHERE session_id = ? AND node_id IS NOT NULL",
            (row_id,),
        )
    ]
    if not tips:
        return []
    runs = _runs(connection, tips)
    telling = _telling(connection, runs)
    ends = sorted(_ends(runs, telling).union(tips))
    columns = _columns(connection, ends)
    sizes = _Sizes(connection, runs)
    legs: list[tuple[object, ...]] = []
    at = base = 0
    for first, last, parent in runs:
        start = base
        while at < len(ends) and ends[at] <= last:
            end = ends[at]
            stop = base + end - first + 1
            tokens, uncounted, letters = sizes.of(start, stop)
            plain = "" if end in telling else letters
            legs.append((end, parent, *columns[at], tokens, uncounted, plain))
            start, parent = stop, end
            at += 1
        base += last - first + 1
    # An object for each of them would take longer than the query.
    return cast("list[Leg]", legs)


def _runs(connection: sqlite3.Connection, tips: Sequence[int]) -> list[_Run]:
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
        _Run(start, end, parent)
        for (start, parent), end in zip(rows, ends, strict=True)
        if end is not None
    ]
    return [*_walked_runs(connection, before), *own]


def _need(node: int, starts: list[int], ends: list[int | None]) -> None:
    at = bisect_right(starts, node) - 1
    known = ends[at]
    ends[at] = node if known is None else max(known, node)


def _walked_runs(connection: sqlite3.Connection, tips: Collection[int]) -> list[_Run]:
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
    runs: list[_Run] = []
    for node, parent in rows:
        if runs and runs[-1].last == parent == node - 1:
            runs[-1] = runs[-1]._replace(last=node)
        else:
            runs.append(_Run(node, node, parent))
    return runs


def _telling(connection: sqlite3.Connection, runs: Sequence[_Run]) -> dict[int, int]:
    """The nodes that are not plain, with the place of their block in its message."""
    rows = connection.execute(
        "SELECT n.id, n.block_index FROM json_each(?) j "
        f"JOIN nodes n ON n.id BETWEEN j.value ->> 0 AND j.value ->> 1 WHERE NOT {_PLAIN}",
        (json.dumps([run[:2] for run in runs]),),
    )
    return dict(rows.fetchall())


def _ends(runs: Sequence[_Run], telling: Mapping[int, int]) -> set[int]:
    """The nodes that end a leg beside the ends of prompts: those where prompts part, those that
    tell something, and before each of these the node above, so that it is a leg of its own, and the
    blocks before it in its message, which is read as a whole."""
    above = {run.first: run.parent_id for run in runs}
    ends = {parent for parent in above.values() if parent is not None}
    for node, block_index in telling.items():
        current: int | None = node
        for _ in range(block_index + 2):
            if current is None:
                break
            ends.add(current)
            current = above.get(current, current - 1)
    return ends


def _columns(connection: sqlite3.Connection, ends: Sequence[int]) -> list[tuple[object, ...]]:
    """The columns of a leg that are those of its last node, in the order of `ends`."""
    return connection.execute(
        "SELECT n.block_id, n.message_index, n.block_index, n.part, n.role, n.depth + 1, "
        "n.cum_chars FROM json_each(?) j JOIN nodes n ON n.id = j.value ORDER BY j.key",
        (json.dumps(ends),),
    ).fetchall()


class _Sizes:
    """The sizes of all nodes of some runs, one after the other. They come as two texts: tens of
    thousands of rows would take twice as long."""

    def __init__(self, connection: sqlite3.Connection, runs: Sequence[_Run]) -> None:
        # CROSS JOIN keeps the order: SQLite does not swap its sides. An estimate is told from a
        # count by its sign.
        letters, tokens = connection.execute(
            """SELECT
  group_concat(CASE n.role
    WHEN 'assistant' THEN iif(n.block_index, 'A', 'a')
    WHEN 'tool' THEN iif(n.block_index, 'T', 't')
    ELSE iif(n.block_index, 'U', 'u') END, ''),
  group_concat(coalesce(t.tokens, (
    SELECT iif(n.part = 'gap', b.estimate_tokens, -1 - b.estimate_tokens)
    FROM blocks b WHERE b.id = n.block_id)))
FROM json_each(?1) j
CROSS JOIN nodes n ON n.id BETWEEN j.value ->> 0 AND j.value ->> 1
LEFT JOIN block_tokens t ON t.block_id = n.block_id AND t.counter = ?2""",
            (json.dumps([run[:2] for run in runs]), DEFAULT_ENCODING),
        ).fetchone()
        known = msgspec.json.decode(f"[{tokens}]", type=list[int])
        self._letters: str = letters
        self._tokens = list(accumulate((n if n >= 0 else -1 - n for n in known), initial=0))
        self._uncounted = list(accumulate((n < 0 for n in known), initial=0))

    def of(self, start: int, stop: int) -> tuple[int, int, str]:
        """Tokens, blocks that are not counted, and letters of the nodes at `start` to `stop`."""
        return (
            self._tokens[stop] - self._tokens[start],
            self._uncounted[stop] - self._uncounted[start],
            self._letters[start:stop],
        )
