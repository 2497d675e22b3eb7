"""Token counts: which blocks have none, and storing them."""

import sqlite3
import zlib
from collections.abc import Sequence
from typing import NamedTuple

from tracer.model.prompt import Kind


class UncountedBlock(NamedTuple):
    """A block without a count, with its text."""

    id: int
    text: str


class CountRow(NamedTuple):
    """The count of one block; `exact` is 0 where the text had to be cut to be counted."""

    block_id: int
    tokens: int
    exact: int


def uncounted_blocks(
    connection: sqlite3.Connection, counter: str, after_id: int, limit: int
) -> list[UncountedBlock]:
    """The next blocks after `after_id` that this counter has not counted, by id."""
    rows = connection.execute(
        "SELECT b.id, x.text, x.text_zlib FROM blocks b JOIN block_texts x ON x.block_id = b.id "
        "WHERE b.id > ?1 AND b.kind <> ?2 AND "
        "NOT EXISTS (SELECT 1 FROM block_tokens t WHERE t.block_id = b.id AND t.counter = ?3) "
        "ORDER BY b.id LIMIT ?4",
        (after_id, Kind.GAP, counter, limit),
    )
    return [UncountedBlock(row[0], block_text(row[1], row[2])) for row in rows]


def uncounted_total(connection: sqlite3.Connection, counter: str) -> int:
    """How many blocks this counter has not counted."""
    row = connection.execute(
        "SELECT (SELECT count(*) FROM blocks WHERE kind <> ?1) - "
        "(SELECT count(*) FROM block_tokens WHERE counter = ?2)",
        (Kind.GAP, counter),
    ).fetchone()
    return int(row[0])


def store_counts(connection: sqlite3.Connection, counter: str, counts: Sequence[CountRow]) -> None:
    """Store counts inside the caller's transaction."""
    connection.executemany(
        "INSERT OR IGNORE INTO block_tokens (block_id, counter, tokens, exact) VALUES (?, ?, ?, ?)",
        [(c.block_id, counter, c.tokens, c.exact) for c in counts],
    )


def block_text(text: str | None, packed: bytes | None) -> str:
    """A block's text from its two columns."""
    if packed is not None:
        return zlib.decompress(packed).decode("utf-8")
    return text or ""
