"""What is said of a file after it was looked at."""

import re
import sqlite3

from tracer.model.ingest_views import FileResult
from tracer.model.source import SkipKind, Skipped
from tracer.store.records import MAX_STORED_SKIPS
from tracer.store.sources import SourceRow, skipped_lines

_LENGTH = re.compile(r"has ([\d,]+) bytes")


def file_result(
    connection: sqlite3.Connection, source: SourceRow, new_records: int, status: str
) -> FileResult:
    """The result of a file that was read, now or before."""
    return FileResult(
        path=source.path,
        format=source.format,
        bytes=source.size_bytes,
        records=source.records,
        new_records=new_records,
        duplicates=source.duplicates,
        skipped=tuple(skipped_lines(connection, source.id, MAX_STORED_SKIPS)),
        skipped_total=source.skipped,
        status=status,
    )


def not_read(path: str, detail: str) -> FileResult:
    """The result of a file that was not read, with the reason."""
    return FileResult(path, None, 0, 0, 0, 0, (), 0, "not-read", detail)


def torn(skip: Skipped) -> Skipped:
    """A last line that makes no sense as it is, and has no newline yet."""
    return Skipped(
        SkipKind.TORN,
        "The last line is not complete yet; it is read again when its rest has been written.",
        skip.excerpt,
    )


def too_long(size_bytes: int, limit_bytes: int, head: bytes) -> Skipped:
    """A line that is longer than the limit."""
    return Skipped(
        SkipKind.TOO_LONG,
        f"The line has {size_bytes:,} bytes, more than the limit of {limit_bytes:,}. "
        "Read the file again with a higher --max-line-mb.",
        head.decode("utf-8", "replace")[:200],
    )


def length_in(reason: str) -> int:
    """The length of a line that was too long, from the reason that says so."""
    found = _LENGTH.search(reason)
    return int(found[1].replace(",", "")) if found else 0
