"""What the texts of blocks say of reminders: read once a block, when it is stored.

A block in which nothing is found has no row, and most have none. The rules' version is stored with
the rows; where it is another than this program's, everything is read again.
"""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tracer.anatomy.messages import BlockReading, read_block
from tracer.anatomy.reminders import RULES_VERSION, ReminderSpan, Trust, Unverified
from tracer.hashing import digest
from tracer.model.prompt import Block, Kind, Tier
from tracer.store.tokens import block_text
from tracer.store.transactions import count_news
from tracer.tokens import estimate_tokens, utf16_length

PLUGIN_REFERENCE = "plugin://"
_BATCH_BLOCKS = 2_000
_NAME = "reading_rules"
# Reading a span of block ids is faster than asking for each, as long as most are asked for.
_SPAN_PER_BLOCK = 8
_TABLES = ("block_readings", "block_reminders", "block_unverified")


class SpanSize(NamedTuple):
    """The size of a reminder's body, and the hash that identifies its text."""

    chars: int
    estimate_tokens: int
    content_hash: bytes


class StoredReading(NamedTuple):
    """What a block's text says. `sizes` are those of the reading's spans, in order; `plugins` tells
    that a user's text names a plugin."""

    reading: BlockReading
    sizes: tuple[SpanSize, ...]
    plugins: bool


def span_size(text: str, start: int, end: int) -> SpanSize:
    """The size of a body at `start` to `end` of its block's text."""
    body = text[start:end]
    return SpanSize(
        utf16_length(body), estimate_tokens(body), digest(body.encode("utf-8", "surrogatepass"))
    )


class ReadingRows:
    """The rows of new blocks, collected until they are inserted together."""

    def __init__(self) -> None:
        self._rows: tuple[list[tuple[object, ...]], ...] = ([], [], [])

    def add(self, block_id: int, block: Block) -> None:
        """Read a block of the conversation; sections of the prefix are read with whole prompts."""
        if block.tier is not Tier.MESSAGES or block.kind is Kind.GAP:
            return
        reading, text = read_block(block), block.text
        plugins = block.role == "user" and PLUGIN_REFERENCE in text
        if not (reading.spans or reading.unverified or reading.reply or plugins):
            return
        readings, reminders, unverified = self._rows
        counts = len(reading.spans), len(reading.unverified)
        readings.append((block_id, *counts, reading.reply, plugins))
        reminders += [
            (
                block_id, position, s.source, " ".join(s.ambiguous_with), s.presentation,
                s.trust.value, s.merged, s.start_char, s.end_char,
                *span_size(text, s.start_char, s.end_char),
            )
            for position, s in enumerate(reading.spans)
        ]  # fmt: skip
        unverified += [
            (block_id, position, look.start_char, look.end_char, look.why)
            for position, look in enumerate(reading.unverified)
        ]

    def insert(self, connection: sqlite3.Connection) -> None:
        """Insert what was collected, inside the caller's transaction."""
        for table, rows in zip(_TABLES, self._rows, strict=True):
            if rows:
                marks = ",".join("?" * len(rows[0]))
                connection.executemany(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", rows)
        self.clear()

    def clear(self) -> None:
        """Forget what was collected."""
        for rows in self._rows:
            rows.clear()


def rules_are_current(connection: sqlite3.Connection) -> bool:
    """True where the stored readings are those of this program's rules."""
    return stored_rules(connection) == RULES_VERSION


def stored_rules(connection: sqlite3.Connection) -> int | None:
    """The version of the rules that the stored readings are by."""
    row = connection.execute("SELECT value FROM counters WHERE name = ?", (_NAME,)).fetchone()
    return int(row[0]) if row is not None else None


def next_unread(connection: sqlite3.Connection, after_id: int) -> int | None:
    """The last id of the next batch of blocks to read again; None where there is none."""
    row = connection.execute(
        "SELECT max(id) FROM (SELECT id FROM blocks WHERE id > ? ORDER BY id LIMIT ?)",
        (after_id, _BATCH_BLOCKS),
    ).fetchone()
    return None if row[0] is None else int(row[0])


def read_again(connection: sqlite3.Connection, after_id: int, last_id: int) -> None:
    """Replace the readings of a batch of blocks, inside the caller's transaction."""
    for table in _TABLES:
        connection.execute(
            f"DELETE FROM {table} WHERE block_id > ? AND block_id <= ?", (after_id, last_id)
        )
    rows = ReadingRows()
    blocks = connection.execute(
        "SELECT b.id, b.tier, b.role, b.kind, x.text, x.text_zlib FROM blocks b "
        "JOIN block_texts x ON x.block_id = b.id "
        "WHERE b.id > ? AND b.id <= ? AND b.tier = ? AND b.kind <> ?",
        (after_id, last_id, Tier.MESSAGES, Kind.GAP),
    )
    for block_id, tier, role, kind, text, packed in blocks:
        rows.add(block_id, Block(Tier(tier), role, Kind(kind), block_text(text, packed)))
    rows.insert(connection)


def mark_current(connection: sqlite3.Connection, *, changed: bool) -> None:
    """Note that everything is read by this program's rules, inside the caller's transaction;
    `changed` tells that there were blocks to read."""
    connection.execute(
        "INSERT OR REPLACE INTO counters (name, value) VALUES (?, ?)", (_NAME, RULES_VERSION)
    )
    if changed:
        count_news(connection)


def telling_blocks(connection: sqlite3.Connection, block_ids: Iterable[int]) -> set[int]:
    """Those of the blocks in which something was found."""
    rows = connection.execute(
        "SELECT block_id FROM block_readings WHERE block_id IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(block_ids)),),
    )
    return {row[0] for row in rows}


def stored_readings(
    connection: sqlite3.Connection, block_ids: Iterable[int]
) -> dict[int, StoredReading]:
    """The readings of those of the blocks in which something was found."""
    wanted = set(block_ids)
    if not wanted:
        return {}
    first, last = min(wanted), max(wanted)
    if last - first <= _SPAN_PER_BLOCK * len(wanted):
        where = "BETWEEN ? AND ?"
        values: tuple[object, ...] = (first, last)
    else:
        where, values = "IN (SELECT value FROM json_each(?))", (json.dumps(sorted(wanted)),)
    spans = _spans(connection, where, values)
    looks = _looks(connection, where, values)
    rows = connection.execute(
        f"SELECT block_id, reply, plugins FROM block_readings WHERE block_id {where}", values
    )
    found = {}
    for block_id, reply, plugins in rows:
        if block_id in wanted:
            own = spans.get(block_id, ())
            reading = BlockReading(
                tuple(span for span, _ in own), tuple(looks.get(block_id, ())), bool(reply)
            )
            found[block_id] = StoredReading(reading, tuple(s for _, s in own), bool(plugins))
    return found


def _spans(
    connection: sqlite3.Connection, where: str, values: Sequence[object]
) -> dict[int, list[tuple[ReminderSpan, SpanSize]]]:
    found: dict[int, list[tuple[ReminderSpan, SpanSize]]] = {}
    rows = connection.execute(
        "SELECT block_id, source, start_char, end_char, ambiguous_with, presentation, trust, "
        "merged, chars, estimate_tokens, content_hash FROM block_reminders "
        f"WHERE block_id {where} ORDER BY block_id, position",
        values,
    )
    for block_id, source, start, end, others, presentation, trust, merged, *size in rows:
        span = ReminderSpan(
            source, start, end, tuple(others.split()), presentation, Trust(trust), bool(merged)
        )
        found.setdefault(block_id, []).append((span, SpanSize(*size)))
    return found


def _looks(
    connection: sqlite3.Connection, where: str, values: Sequence[object]
) -> dict[int, list[Unverified]]:
    found: dict[int, list[Unverified]] = {}
    rows = connection.execute(
        "SELECT block_id, start_char, end_char, why FROM block_unverified "
        f"WHERE block_id {where} ORDER BY block_id, position",
        values,
    )
    for block_id, *look in rows:
        found.setdefault(block_id, []).append(Unverified(*look))
    return found
