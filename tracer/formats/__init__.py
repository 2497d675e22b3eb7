"""The log formats: one file a format, found by name.

A format is a module with `FORMAT` (lines), `TABLE_FORMAT` (a database) or `FILE_FORMAT` (a folder
of small files): an object with the attributes of the protocol of that kind in `base`. Nothing here
opens a file: bytes and rows come in, events and records go out. A module whose name begins with `_`
is not a format.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from tracer.formats._zcode_branch import active_branch
from tracer.formats.base import FileFormat, Format, TableFormat
from tracer.registry import members

__all__ = [
    "FileFormat",
    "Format",
    "TableFormat",
    "active_branch",
    "all_formats",
    "detect",
    "detect_database",
    "file_formats",
    "format_named",
    "table_formats",
]


def _found(attribute: str) -> list[Any]:
    found = [getattr(m, attribute) for m in members(__name__) if hasattr(m, attribute)]
    return sorted(found, key=lambda f: str(f.name))


@cache
def all_formats() -> tuple[Format, ...]:
    """Every format of lines in this package, by name."""
    return tuple(_found("FORMAT"))


@cache
def table_formats() -> tuple[TableFormat, ...]:
    """Every format of a database, by name."""
    return tuple(_found("TABLE_FORMAT"))


@cache
def file_formats() -> tuple[FileFormat, ...]:
    """Every format of a folder of small files, by name."""
    return tuple(_found("FILE_FORMAT"))


def detect_database(tables: Mapping[str, frozenset[str]]) -> TableFormat | None:
    """The format of a database with these tables and columns, or None."""
    scores = sorted(((f.sniff(tables), f.name, f) for f in table_formats()), reverse=True)
    return scores[0][2] if scores and scores[0][0] > 0 else None


def format_named(name: str) -> Format | None:
    """The format of that name, or None."""
    return next((f for f in all_formats() if f.name == name), None)


def detect(head: bytes) -> Format | None:
    """The format whose records `head` (the file's first bytes) most looks like, or None.

    Formats score by content alone; a tie means that the content does not decide, so: None.
    """
    scores = sorted(((f.sniff(head), f.name, f) for f in all_formats()), reverse=True)
    if not scores or scores[0][0] <= 0:
        return None
    if len(scores) > 1 and scores[0][0] == scores[1][0]:
        return None
    return scores[0][2]
