"""The fixed clock and the counted identifiers that keep every run the same."""

import hashlib
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

DEFAULT_START = datetime(2026, 1, 12, 9, 2, 11, tzinfo=UTC)


def iso(moment: datetime) -> str:
    """Return the UTC ISO-8601 form with milliseconds that JavaScript writes."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


class Clock:
    """A clock that moves only when told to."""

    def __init__(self, start: datetime = DEFAULT_START) -> None:
        self.now = start

    def advance(self, milliseconds: int) -> datetime:
        """Move forward and return the new time."""
        self.now += timedelta(milliseconds=milliseconds)
        return self.now

    @contextmanager
    def overlapping(self, start: datetime) -> Iterator[None]:
        """Run a block that began at `start`; afterwards the later of both times is current."""
        outer, self.now = self.now, start
        yield
        self.now = max(outer, self.now)


class Ids:
    """Identifiers derived from a run's name and counters."""

    def __init__(self, run: str) -> None:
        self._run = run
        self._counts: dict[str, int] = {}

    def _digest(self, kind: str) -> bytes:
        count = self._counts.get(kind, 0)
        self._counts[kind] = count + 1
        return hashlib.sha256(f"{self._run}/{kind}/{count}".encode()).digest()

    def uuid(self, kind: str) -> str:
        """Return the next UUID of a kind."""
        return str(uuid.UUID(bytes=self._digest(kind)[:16], version=4))

    def short(self, kind: str, length: int = 12) -> str:
        """Return the next short hexadecimal id of a kind."""
        return self._digest(kind).hex()[:length]

    def number(self, kind: str, low: int, high: int) -> int:
        """Return the next number of a kind, from `low` up to and including `high`."""
        return low + int.from_bytes(self._digest(kind)[:4], "big") % (high - low + 1)
