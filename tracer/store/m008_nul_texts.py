"""Step m008: texts that hold a NUL are stored compressed, like long ones.

Frozen once it is released, like every step. SQLite's LIKE, length and substr end at a NUL: a search
would not see what stands behind it.
"""

import zlib

from sqlite_utils import Database

_LEVEL = 4
_HOLDS_NUL = "SELECT block_id, CAST(text AS BLOB) FROM block_texts WHERE instr(text, char(0)) > 0"


def pack_texts(db: Database) -> None:
    """Compress the texts that hold a NUL."""
    rows = db.execute(_HOLDS_NUL).fetchall()
    for block_id, data in rows:
        db.execute(
            "UPDATE block_texts SET text = NULL, text_zlib = ? WHERE block_id = ?",
            (zlib.compress(data, _LEVEL), block_id),
        )
