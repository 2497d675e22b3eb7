"""How far an ingest is: one line on stderr that updates itself, on a terminal only."""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from tracer.cli.text import byte_size, clip, display_width, duration, visible
from tracer.model.ingest_views import Progress
from tracer.words import plural

UPDATE_EVERY_MS = 100
_FALLBACK_COLUMNS = 80


@contextmanager
def progress_line() -> Iterator["ProgressLine | None"]:
    """A progress line where stderr is a terminal, else None. It is gone when the block ends."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    line = ProgressLine(sys.stderr, shutil.get_terminal_size().columns)
    try:
        yield line
    finally:
        line.clear()


def describe(progress: Progress) -> str:
    """Bytes, share, rate, records, time left and file of a `Progress`, in one line of text."""
    if progress.phase == "counting":
        total = progress.counted_blocks + progress.uncounted_blocks
        return f"Counting tokens: {progress.counted_blocks:,} of {plural(total, 'block')}"
    if progress.phase == "judging":
        left = plural(progress.unjudged_sessions, "session")
        return f"Judging caches: {plural(progress.verdicts, 'verdict')}, {left} left"
    share = progress.done_bytes / progress.total_bytes if progress.total_bytes else 1.0
    parts = [
        f"Reading: {byte_size(progress.done_bytes)} of {byte_size(progress.total_bytes)}",
        f"{min(share, 1.0):.0%}",
        plural(progress.records, "record"),
    ]
    if progress.elapsed_ms > 0 and progress.done_bytes > 0:
        bytes_per_ms = progress.done_bytes / progress.elapsed_ms
        left_bytes = max(0, progress.total_bytes - progress.done_bytes)
        parts.append(f"{byte_size(round(bytes_per_ms * 1000))}/s")
        parts.append(f"{duration(round(left_bytes / bytes_per_ms))} left")
    name = progress.path.replace("\\", "/").rpartition("/")[2]
    return ", ".join([*parts, visible(name)] if name else parts)


class ProgressLine:
    """Shows what it is called with, at most ten times a second."""

    def __init__(self, stream: TextIO, columns: int = _FALLBACK_COLUMNS) -> None:
        self._stream = stream
        self._columns = max(20, columns) - 1
        self._shown_width = 0
        self._next_at_ms = 0

    def __call__(self, progress: Progress) -> None:
        """Show `progress`, unless the last update was a moment ago."""
        if progress.elapsed_ms < self._next_at_ms:
            return
        self._next_at_ms = progress.elapsed_ms + UPDATE_EVERY_MS
        self._replace(clip(describe(progress), self._columns))

    def _replace(self, text: str) -> None:
        width = display_width(text)
        self._stream.write(f"\r{text}{' ' * (self._shown_width - width)}")
        self._stream.flush()
        self._shown_width = width

    def clear(self) -> None:
        """Leave nothing on the line."""
        if self._shown_width:
            self._replace("")
            self._stream.write("\r")
            self._stream.flush()
