"""Reading the tool calls and results that stand in the prompts of a session."""

import sqlite3
from typing import NamedTuple

from tracer.store.ordering import in_order

_NODES = """WITH RECURSIVE up(id) AS (
  SELECT node_id FROM requests WHERE session_id = ?1 AND node_id IS NOT NULL
  UNION
  SELECT n.parent_id FROM up JOIN nodes n ON n.id = up.id WHERE n.parent_id IS NOT NULL
)
SELECT n.id, n.parent_id, b.kind, b.call_id, b.name, b.message_json FROM up
JOIN nodes n ON n.id = up.id JOIN blocks b ON b.id = n.block_id ORDER BY n.id"""


class PromptTip(NamedTuple):
    """A request and the node that ends its prompt."""

    key: str
    turn_id: str
    query_source: str
    status: str
    node_id: int | None


class PromptNode(NamedTuple):
    """A block of a prompt, as far as tool calls are concerned."""

    id: int
    parent_id: int | None
    kind: str
    call_id: str
    tool: str
    message_json: str


def prompt_tips(connection: sqlite3.Connection, row_id: int) -> list[PromptTip]:
    """The requests of a session, in the order of its list."""
    rows = connection.execute(
        f"SELECT {', '.join(PromptTip._fields)} FROM requests r WHERE session_id = ? "
        f"ORDER BY {in_order('r')}",
        (row_id,),
    )
    return [PromptTip(*row) for row in rows]


def prompt_nodes(connection: sqlite3.Connection, row_id: int) -> dict[int, PromptNode]:
    """Every node of a session's prompts by its id."""
    rows = connection.execute(_NODES, (row_id,))
    return {row[0]: PromptNode(*row) for row in rows}
