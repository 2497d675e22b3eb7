"""Reading what requests and log lines tell of a session's turns and tool calls."""

import json
import sqlite3
import zlib
from collections.abc import Sequence
from typing import NamedTuple

from tracer.store.ordering import in_order

WORDS_WITHIN_BLOCKS = 60
"""How far from the end of a prompt the user's words are looked for."""


class TurnRequest(NamedTuple):
    """A request, as far as its turn is concerned."""

    id: int
    turn_id: str
    key: str
    query_source: str
    attempt: int
    started_at_ms: int | None
    completed_at_ms: int | None
    node_id: int | None
    input_tokens: int | None
    cache_read_tokens: int | None
    output_tokens: int | None


class TurnLine(NamedTuple):
    """A line of the log, or a session event, about a turn as a whole."""

    event: str
    at_ms: int | None
    turn_id: str
    duration_ms: int | None
    status: str


class AnsweredCall(NamedTuple):
    """A tool call in the answer of a request."""

    call_id: str
    turn_id: str
    tool: str
    key: str


def turn_requests(connection: sqlite3.Connection, row_id: int) -> list[TurnRequest]:
    """The requests of a session that name their turn, in the order of its list."""
    rows = connection.execute(
        f"SELECT {', '.join(TurnRequest._fields)} FROM requests WHERE session_id = ? AND turn_id "
        f"<> '' ORDER BY {in_order()}",
        (row_id,),
    )
    return [TurnRequest(*row) for row in rows]


def turn_lines(connection: sqlite3.Connection, row_id: int) -> list[TurnLine]:
    """Starts and ends of turns, in the order of time."""
    rows = connection.execute(
        f"SELECT {', '.join(TurnLine._fields)} FROM log_events WHERE session_id = ? AND turn_id <> "
        "'' AND (event GLOB 'turn.*' OR event GLOB 'turn_*' OR (module = 'context trace' AND event "
        "GLOB 'run.*')) ORDER BY at_ms, id",
        (row_id,),
    )
    return [TurnLine(*row) for row in rows]


def answered_calls(connection: sqlite3.Connection, row_id: int) -> list[AnsweredCall]:
    """The tool calls in what the model answered, in order."""
    rows = connection.execute(
        "SELECT b.call_id, r.turn_id, b.name, r.key FROM requests r JOIN response_blocks p ON "
        "p.request_id = r.id JOIN blocks b ON b.id = p.block_id WHERE r.session_id = ? AND b.kind "
        f"= 'tool_call' AND b.call_id <> '' ORDER BY {in_order('r')}, p.position",
        (row_id,),
    )
    return [AnsweredCall(*row) for row in rows]


def last_user_words(connection: sqlite3.Connection, node_id: int) -> str:
    """The text of the last message of a prompt that is the user's own; empty where there is none
    near its end. Notes that the agent adds are other parts of the prompt."""
    rows = connection.execute(
        "WITH RECURSIVE up(id, far) AS (SELECT ?1, 0 UNION ALL SELECT n.parent_id, up.far + 1 FROM "
        "up JOIN nodes n ON n.id = up.id WHERE n.parent_id IS NOT NULL AND up.far < ?2) "
        "SELECT n.message_index, x.text, x.text_zlib FROM up JOIN nodes n ON n.id = up.id JOIN "
        "blocks b ON b.id = n.block_id LEFT JOIN block_texts x ON x.block_id = b.id WHERE n.role = "
        "'user' AND n.part IN ('history', 'new') AND b.kind = 'text' ORDER BY n.depth DESC",
        (node_id, WORDS_WITHIN_BLOCKS),
    )
    last, texts = None, list[str]()
    for message_index, text, packed in rows:
        if last is not None and message_index != last:
            break
        last = message_index
        texts.append(_text(text, packed))
    return "\n".join(reversed(texts))


def message_texts(connection: sqlite3.Connection, node_id: int, messages: Sequence[int]) -> str:
    """The texts of some messages of a prompt, in order."""
    rows = connection.execute(
        "WITH RECURSIVE up(id, parent_id, message_index, block_id, depth) AS (SELECT id, parent_id,"
        " message_index, block_id, depth FROM nodes WHERE id = ?1 UNION ALL SELECT n.id, "
        "n.parent_id, n.message_index, n.block_id, n.depth FROM up JOIN nodes n ON n.id = "
        "up.parent_id WHERE n.message_index >= ?2) SELECT x.text, x.text_zlib FROM up JOIN blocks "
        "b ON b.id = up.block_id LEFT JOIN block_texts x ON x.block_id = b.id WHERE b.kind = "
        "'text' AND up.message_index IN (SELECT value FROM json_each(?3)) ORDER BY up.depth",
        (node_id, min(messages), json.dumps(list(messages))),
    )
    return "\n".join(_text(text, packed) for text, packed in rows)


def _text(text: str | None, packed: bytes | None) -> str:
    return zlib.decompress(packed).decode("utf-8", "replace") if packed else text or ""
