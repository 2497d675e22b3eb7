"""A format to copy: rename the file without the underscore, and the registry finds it.

The contract tests then ask of it: samples in `sample-logs/`, that it recognises its own files and
no others, that damaged lines give a reason and never an exception.
"""

from tracer.formats._json import decode_object, sniff_lines
from tracer.formats._time import epoch_ms
from tracer.model.events import Event, LogEvent
from tracer.model.source import Skipped


class Skeleton:
    """Says in one sentence which files it reads."""

    name = "skeleton"
    agent = "Example"
    title = "Example log"
    tells = "what one can learn from it"

    def sniff(self, head: bytes) -> float:
        """By content alone: a file's name is no evidence."""
        return 0.9 if any(b'"example-log"' in line for line in sniff_lines(head)) else 0.0

    def parse(self, line: bytes) -> Event | Skipped:
        """One line, one event, or the reason why not."""
        decoded = decode_object(line)
        if isinstance(decoded, Skipped):
            return decoded
        return LogEvent(epoch_ms(decoded[0].get("at")), "info", "example", "", "")


FORMAT = Skeleton()
