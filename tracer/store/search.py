"""Looking through the stored texts, the last stored first.

There is no index. Content is stored once, so a gigabyte of prompts is some twenty megabytes of
text, and SQLite's LIKE reads a gigabyte of short texts a second; the long ones, stored compressed,
are unpacked and ruled out as bytes. That takes less time than the 150 ms that a search may take,
finds one Chinese character as well as half a word, and costs nothing at ingest and on disk
(benchmarks/search.py).
"""

import json
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tracer.matching import Matcher
from tracer.model.prompt import Block, Kind, Tier
from tracer.store.ordering import in_order
from tracer.store.tokens import block_text

TEXTS_AT_ONCE = 50_000
"""Texts that one statement looks through: between two of them a search can stop."""

MOST_UNPACKED_BYTES = 24 << 20

# The kind of a block for people: tracer.model.search_views.BLOCK_KINDS.
_KIND = """CASE WHEN b.tier = 'tools' THEN 'tool' WHEN b.role = 'section' THEN 'section'
  WHEN b.part = 'mcs' THEN 'mcs' WHEN b.part = 'context' THEN 'context'
  WHEN b.part = 'reminder' THEN 'reminder' WHEN b.tier = 'system' THEN 'system'
  WHEN b.kind = 'reasoning' THEN 'reasoning' WHEN b.kind = 'tool_call' THEN 'tool-call'
  WHEN b.kind = 'tool_result' THEN 'tool-result' WHEN b.kind <> 'text' THEN 'other'
  WHEN b.role = 'user' THEN 'user' WHEN b.role = 'assistant' THEN 'assistant' ELSE 'other' END"""


class BlockText(NamedTuple):
    """A block that may match, with its text."""

    id: int
    text: str


class BlockFacts(NamedTuple):
    """What a found block is, and the line that it was first read from."""

    id: int
    kind: str
    tier: str
    role: str
    part: str
    name: str
    wire_hash: bytes
    source_id: int | None
    line: int | None
    offset_bytes: int | None


class ReminderRow(NamedTuple):
    """A reminder inside a block's text."""

    block_id: int
    source: str
    start_char: int
    end_char: int


class RowText(NamedTuple):
    """A text beside the prompts: a row of one of the tables of `_ROWS`, and one of its columns."""

    kind: str
    row_id: int
    session_row: int
    name: str
    role: str
    at_ms: int | None
    request_key: str
    source_id: int | None
    line: int | None
    text: str


class Unpacked:
    """Long texts that were unpacked before, as bytes: whoever searches while typing asks for them
    again and again. Up to MOST_UNPACKED_BYTES with what they are unpacked from, by which they are
    known: the file of a database may be replaced."""

    def __init__(self) -> None:
        self._texts: dict[bytes, bytes] = {}
        self._room = MOST_UNPACKED_BYTES

    def text(self, packed: bytes) -> bytes:
        """The text that was packed."""
        data = self._texts.get(packed)
        if data is None:
            data = zlib.decompress(packed)
            size = len(packed) + len(data)
            if size <= self._room:
                self._room -= size
                self._texts[packed] = data
        return data


@dataclass(frozen=True, slots=True)
class Scope:
    """Which blocks are looked through: of some kinds (empty: of all), and of some row ids (None: of
    all)."""

    kind: str = ""
    ids: Sequence[int] | None = None


class _Rows(NamedTuple):
    """One kind of row: `columns` are the texts looked through, `facts` the columns of RowText from
    `row_id` to `line`, `packed` a compressed text instead of the first column."""

    kind: str
    table: str
    facts: str
    columns: tuple[str, ...]
    order: str
    packed: str = ""


_ROWS = (
    _Rows(
        "message",
        "parts t LEFT JOIN messages m ON m.session_id = t.session_id "
        "AND m.message_id = t.message_id",
        "t.id, t.session_id, coalesce(nullif(t.tool, ''), t.kind), coalesce(m.role, ''), "
        "t.created_at_ms, '', t.source_id, t.line",
        ("t.text", "t.input_json", "t.title", "t.raw"),
        "t.id",
        "t.text_zlib",
    ),
    _Rows(
        "tool-row",
        "tool_rows t",
        "t.line, t.session_id, t.tool, t.status, t.started_at_ms, '', t.source_id, t.line",
        ("t.error_message",),
        "t.started_at_ms",
    ),
    _Rows(
        "record",
        "session_records t",
        "t.line, t.session_id, t.kind, t.family, t.created_at_ms, '', t.source_id, t.line",
        ("t.data_json",),
        "t.created_at_ms",
    ),
    _Rows(
        "event",
        "log_events t",
        "t.id, coalesce(t.session_id, 0), t.event, t.level, t.at_ms, "
        "coalesce((SELECT min(r.key) FROM requests r WHERE t.request_id <> '' AND "
        "r.request_id = t.request_id AND r.session_id = t.session_id), ''), t.source_id, t.line",
        ("t.message", "t.error_json", "t.context_json"),
        "t.id",
    ),
    _Rows(
        "agent",
        "agent_runs t",
        "t.id, t.session_id, t.agent_type, t.status, t.created_at_ms, '', t.source_id, t.line",
        ("t.description", "t.prompt", "t.output", "t.error"),
        "t.id",
    ),
    _Rows(
        "todo",
        "todos t",
        "t.position, t.session_id, t.status, t.priority, t.updated_at_ms, '', t.source_id, t.line",
        ("t.content",),
        "t.updated_at_ms",
    ),
    _Rows(
        "title",
        "sessions t",
        "t.id, t.id, '', '', t.last_at_ms, '', NULL, NULL",
        ("t.title",),
        "t.id",
    ),
    _Rows(
        "error",
        "requests t",
        "t.id, t.session_id, t.error_name, t.status, t.started_at_ms, t.key, t.source_id, t.line",
        ("t.error_message",),
        "t.id",
    ),
)


def last_block(connection: sqlite3.Connection) -> int:
    """The highest row id of a block; 0 where there is none."""
    return int(connection.execute("SELECT max(block_id) FROM block_texts").fetchone()[0] or 0)


def candidates(
    connection: sqlite3.Connection,
    matcher: Matcher,
    scope: Scope,
    unpacked: Unpacked,
    low: int,
    high: int,
) -> Iterator[BlockText]:
    """Blocks with ids from `low` to `high` whose texts may match, the highest id first. All that
    match are among them."""
    terms = ["x.block_id BETWEEN ?1 AND ?2", "(x.text LIKE ?3 ESCAPE '\\' OR x.text IS NULL)"]
    values: list[object] = [low, high, matcher.like]
    tables = "block_texts x"
    if scope.ids is not None:
        values.append(json.dumps([i for i in scope.ids if low <= i <= high]))
        terms.append("x.block_id IN (SELECT value FROM json_each(?4))")
    if scope.kind:
        values.append(scope.kind)
        tables += " CROSS JOIN blocks b ON b.id = x.block_id"
        terms.append(f"{_KIND} = ?{len(values)}")
    rows = connection.execute(
        f"SELECT x.block_id, x.text, x.text_zlib FROM {tables} WHERE {' AND '.join(terms)} "
        "ORDER BY x.block_id DESC",
        values,
    )
    for block_id, text, packed in rows:
        if text is not None:
            yield BlockText(block_id, text)
        elif packed is not None:
            data = unpacked.text(packed)
            if matcher.may_be_in(data):
                yield BlockText(block_id, data.decode("utf-8"))


def row_candidates(
    connection: sqlite3.Connection, matcher: Matcher, kind: str, session_row: int | None
) -> Iterator[RowText]:
    """Texts beside the prompts that may match, kind by kind; of one kind, of one session."""
    for rows in _ROWS:
        if not kind or rows.kind == kind:
            yield from _of_rows(connection, matcher, rows, session_row)


def _of_rows(
    connection: sqlite3.Connection, matcher: Matcher, rows: _Rows, session_row: int | None
) -> Iterator[RowText]:
    # LIKE ends at a NUL, which a tool may well print: such a text is looked at as a whole.
    fits = [
        f"{column} LIKE ?1 ESCAPE '\\' OR instr({column}, char(0)) > 0" for column in rows.columns
    ]
    if rows.packed:
        fits.append(f"{rows.packed} IS NOT NULL")
    session = "t.id" if rows.kind == "title" else "t.session_id"
    values: list[object] = [matcher.like]
    where = f"({' OR '.join(fits)})"
    if session_row is not None:
        values.append(session_row)
        where = f"{session} = ?2 AND {where}"
    found = connection.execute(
        f"SELECT {rows.packed or 'NULL'}, {', '.join(rows.columns)}, {rows.facts} "
        f"FROM {rows.table} WHERE {where} ORDER BY {rows.order} DESC",
        values,
    )
    count = len(rows.columns)
    for packed, *rest in found:
        texts = [text for text in rest[:count] if text]
        if packed is not None:
            data = zlib.decompress(packed)
            if matcher.may_be_in(data):
                texts.insert(0, data.decode("utf-8", "replace"))
        for text in texts:
            yield RowText._make((rows.kind, *rest[count:], text))


def block_facts(connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, BlockFacts]:
    """What blocks are, by row id."""
    rows = connection.execute(
        f"SELECT b.id, {_KIND}, b.tier, b.role, b.part, b.name, b.wire_hash, b.source_id, b.line, "
        "b.offset_bytes FROM json_each(?) j JOIN blocks b ON b.id = j.value",
        (json.dumps(list(ids)),),
    )
    return {row[0]: BlockFacts(*row) for row in rows}


def block_reminders(connection: sqlite3.Connection, ids: Sequence[int]) -> list[ReminderRow]:
    """The reminders in the texts of blocks."""
    rows = connection.execute(
        "SELECT r.block_id, r.source, r.start_char, r.end_char FROM json_each(?) j "
        "JOIN block_reminders r ON r.block_id = j.value ORDER BY r.block_id, r.position",
        (json.dumps(list(ids)),),
    )
    return [ReminderRow(*row) for row in rows]


def blocks_with_reminder(connection: sqlite3.Connection, source: str) -> list[int]:
    """The blocks that hold a reminder of a source."""
    rows = connection.execute(
        "SELECT DISTINCT block_id FROM block_reminders WHERE source = ?", (source,)
    )
    return [row[0] for row in rows]


def prefix_blocks(connection: sqlite3.Connection) -> list[int]:
    """The blocks that can hold sections: of prefixes, and the texts of logged sections."""
    rows = connection.execute(
        "SELECT id FROM blocks WHERE part IN ('system', 'context') OR role = 'section'"
    )
    return [row[0] for row in rows]


def reminder_sources(connection: sqlite3.Connection) -> list[str]:
    """Every source of a reminder that was found in any text."""
    rows = connection.execute("SELECT DISTINCT source FROM block_reminders ORDER BY source")
    return [row[0] for row in rows]


def logged_section_names(connection: sqlite3.Connection) -> list[str]:
    """Every section that the logs name."""
    rows = connection.execute("SELECT DISTINCT source FROM context_sections ORDER BY source")
    return [row[0] for row in rows]


class LoggedSection(NamedTuple):
    """A line that tells a section's text."""

    block_id: int
    source: str
    session_row: int
    at_ms: int | None


def logged_sections(connection: sqlite3.Connection, ids: Sequence[int]) -> list[LoggedSection]:
    """The lines that tell section texts, the oldest first."""
    rows = connection.execute(
        "SELECT c.block_id, c.source, coalesce(e.session_id, 0), e.at_ms FROM context_sections c "
        "JOIN log_events e ON e.id = c.event_id "
        "WHERE c.block_id IN (SELECT value FROM json_each(?)) ORDER BY e.at_ms, e.id",
        (json.dumps(list(ids)),),
    )
    return [LoggedSection(*row) for row in rows]


class AnswerRow(NamedTuple):
    """A request whose answer holds a block."""

    block_id: int
    key: str
    request_row: int
    session_row: int
    at_ms: int | None


def answers(connection: sqlite3.Connection, ids: Sequence[int]) -> list[AnswerRow]:
    """The requests whose answers hold blocks, by start."""
    rows = connection.execute(
        "SELECT p.block_id, r.key, r.id, r.session_id, coalesce(r.completed_at_ms, "
        "r.started_at_ms) FROM response_blocks p JOIN requests r ON r.id = p.request_id "
        f"WHERE p.block_id IN (SELECT value FROM json_each(?)) ORDER BY {in_order('r')}",
        (json.dumps(list(ids)),),
    )
    return [AnswerRow(*row) for row in rows]


def answer_blocks(connection: sqlite3.Connection, session_row: int) -> list[int]:
    """The blocks of a session's answers and of its logged sections."""
    rows = connection.execute(
        "SELECT p.block_id FROM response_blocks p JOIN requests r ON r.id = p.request_id "
        "WHERE r.session_id = ?1 UNION SELECT c.block_id FROM context_sections c JOIN log_events e "
        "ON e.id = c.event_id WHERE e.session_id = ?1 AND c.block_id IS NOT NULL",
        (session_row,),
    )
    return [row[0] for row in rows]


def nodes_after(connection: sqlite3.Connection, after_id: int) -> list[tuple[int, int, int]]:
    """Row id, parent (0: none) and block of every node after one."""
    return connection.execute(
        "SELECT id, coalesce(parent_id, 0), block_id FROM nodes WHERE id > ? ORDER BY id",
        (after_id,),
    ).fetchall()


class Tip(NamedTuple):
    """A request with the node that ends its prompt."""

    row_id: int
    key: str
    session_row: int
    started_at_ms: int | None
    node_id: int


def tips(connection: sqlite3.Connection, session_row: int | None = None) -> list[Tip]:
    """The requests that have a prompt, of a session or of all, by start."""
    where, values = (
        ("AND r.session_id = ?", (session_row,)) if session_row is not None else ("", ())
    )
    rows = connection.execute(
        "SELECT r.id, r.key, r.session_id, r.started_at_ms, r.node_id FROM requests r WHERE "
        f"r.node_id IS NOT NULL {where} ORDER BY {in_order('r')}",
        values,
    )
    return [Tip(*row) for row in rows]


class NodePlace(NamedTuple):
    """A node's place in its prompts."""

    depth: int
    message_index: int | None
    block_index: int


def node_places(connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, NodePlace]:
    """Places of nodes by row id."""
    rows = connection.execute(
        "SELECT n.id, n.depth, n.message_index, n.block_index FROM json_each(?) j "
        "JOIN nodes n ON n.id = j.value",
        (json.dumps(list(ids)),),
    )
    return {row[0]: NodePlace(*row[1:]) for row in rows}


def session_names(connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, tuple[str, str]]:
    """Session id and title by row id."""
    rows = connection.execute(
        "SELECT s.id, s.session_id, s.title FROM json_each(?) j JOIN sessions s ON s.id = j.value",
        (json.dumps(list(ids)),),
    )
    return {row[0]: (row[1], row[2]) for row in rows}


class PrefixText(NamedTuple):
    """A block of a prompt's prefix at its place, with its text."""

    block_id: int
    message_index: int
    block_index: int
    block: Block


def prefix_texts(connection: sqlite3.Connection, nodes: Sequence[int]) -> list[PrefixText]:
    """The system messages and attachments among some nodes, in the order of the prompt."""
    rows = connection.execute(
        "SELECT n.block_id, n.message_index, n.block_index, b.tier, b.role, b.kind, x.text, "
        "x.text_zlib FROM json_each(?) j JOIN nodes n ON n.id = j.value "
        "JOIN blocks b ON b.id = n.block_id JOIN block_texts x ON x.block_id = b.id "
        "WHERE n.message_index IS NOT NULL AND n.part IN ('system', 'context') ORDER BY n.depth",
        (json.dumps(list(nodes)),),
    )
    return [
        PrefixText(block_id, message, inner, Block(Tier(tier), role, Kind(kind), block_text(*text)))
        for block_id, message, inner, tier, role, kind, *text in rows
    ]
