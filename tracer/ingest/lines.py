"""Reading whole lines from an offset, in bounded memory."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

CHUNK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its bytes without the newline, where it begins, and how long it is with it.

    `data` is None where the line is longer than the cap; `head` then holds its beginning.
    `torn` lines have no newline yet: their rest may still be written.
    """

    offset_bytes: int
    size_bytes: int
    data: bytes | None
    head: bytes = b""
    torn: bool = False


def read_lines(file: BinaryIO, offset: int, max_line_bytes: int) -> Iterator[Line]:
    """The lines from `offset` on. The file is read forward once; a line that is longer than
    `max_line_bytes` is passed over without being held in memory."""
    file.seek(offset)
    while True:
        data = file.readline(max_line_bytes + 1)
        if not data:
            return
        if data.endswith(b"\n"):
            yield Line(offset, len(data), data[:-1])
            offset += len(data)
        elif len(data) <= max_line_bytes:
            yield Line(offset, len(data), data, torn=True)
            return
        else:
            size, complete = _skip_rest(file, len(data))
            yield Line(offset, size, None, data[:4096], torn=not complete)
            offset += size
            if not complete:
                return


def _skip_rest(file: BinaryIO, size: int) -> tuple[int, bool]:
    while True:
        data = file.readline(CHUNK_BYTES)
        if not data:
            return size, False
        size += len(data)
        if data.endswith(b"\n"):
            return size, True
