"""What a format is: it recognises its files by content and turns a line into an event."""

from typing import Protocol

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
