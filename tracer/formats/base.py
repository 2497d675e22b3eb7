"""What a format is: it recognises its files by content and turns what they hold into records.

Most logs are JSON lines (`Format`). A database is read by tables (`TableFormat`), a folder of small
files that are rewritten as a whole by their texts (`FileFormat`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from tracer.model.conversation import AgentRun, TableRecord
from tracer.model.events import Event
from tracer.model.source import Skipped


class Format(Protocol):
    """A log format of JSON lines.

    `name` is the short name used in JSON, SQL and `--format`; `agent` who writes it; `title` and
    `tells` are for people.
    """

    name: str
    agent: str
    title: str
    tells: str

    def sniff(self, head: bytes) -> float:
        """How sure this format is that a file that begins with `head` is its own: 0 to 1."""

    def parse(self, line: bytes) -> Event | Skipped:
        """The event of one line (without its newline). Never raises on content."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a database and how to see what changed in it.

    `key` are the columns that name a row, `changed` those that hold a time (epoch milliseconds) of
    its last change, in any of them. `open_where` selects rows that may still change without any
    of these times moving.
    """

    name: str
    key: tuple[str, ...]
    changed: tuple[str, ...]
    open_where: str = ""


class TableFormat(Protocol):
    """A database whose rows become records. `tables` are in the order they are read."""

    name: str
    agent: str
    title: str
    tells: str
    tables: tuple[Table, ...]

    def sniff(self, tables: Mapping[str, frozenset[str]]) -> float:
        """How sure this format is, from the names of all tables and their columns: 0 to 1."""

    def parse(self, table: str, row: Mapping[str, Any]) -> TableRecord | Skipped:
        """The record of one row. Never raises on content."""


class FileFormat(Protocol):
    """A folder of small files, each rewritten as a whole. `marker` is the name of the file that
    makes a folder one of these, `others` are the names of those read with it."""

    name: str
    agent: str
    title: str
    tells: str
    marker: str
    others: tuple[str, ...]

    def sniff(self, head: bytes) -> float:
        """How sure this format is that a marker file that begins with `head` is its own."""

    def parse(self, files: Mapping[str, bytes], folder: tuple[str, ...]) -> AgentRun | Skipped:
        """The run that a folder tells of: the files' contents by name, and the names of the folder
        and its parents, outermost first."""

    def merge(self, old: AgentRun | None, new: AgentRun) -> AgentRun:
        """What is known after a rewrite: a later file may say less than an earlier one."""
