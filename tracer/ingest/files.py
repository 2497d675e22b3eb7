"""Is a file new, unchanged, grown, or another one under the same name?

A file that grows keeps its beginning and everything up to the offset that was read. Anything else
(shorter, another inode, other bytes at either end) is a new segment of the same name: the old
segment's data is kept, and the file is read from its start; what was stored before is recognised.
"""

import os
import stat
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import BinaryIO

from tracer.hashing import digest
from tracer.store.sources import SourceRow

FINGERPRINT_BYTES = 4096
EMPTY_HASH = digest(b"")
UNFINISHED = -1
"""Stands for the time of change where reading was not at the file's end."""


class Change(Enum):
    """What happened to a file since it was read last."""

    NEW = "new"
    UNCHANGED = "unchanged"
    GROWN = "grown"
    REPLACED = "replaced"


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What `stat` says about a regular file."""

    path: Path
    device: int
    inode: int
    size_bytes: int
    mtime_ns: int


def file_facts(path: Path) -> FileFacts:
    """Facts of a regular file. Raises OSError."""
    found = os.stat(path)
    if not stat.S_ISREG(found.st_mode):
        raise OSError(f"{path_name(path)} is not a regular file")
    return FileFacts(path, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def open_regular(path: Path) -> BinaryIO:
    """A regular file, open for reading. Raises OSError, for all else at once: a pipe or a device
    may make its reader wait, or never end."""
    file_facts(path)
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # if swapped since
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path_name(path)} is not a regular file")
        return os.fdopen(descriptor, "rb", buffering=1 << 20)
    except OSError:
        os.close(descriptor)
        raise


def path_name(path: Path) -> str:
    """A path as text that can be stored and shown: bytes of its name that are no UTF-8 are written
    as escapes."""
    return str(path).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def same_stat(facts: FileFacts, known: SourceRow) -> bool:
    """True where nothing suggests that the file was touched: no need to open it."""
    return (
        facts.device == known.device
        and facts.inode == known.inode
        and facts.size_bytes == known.size_bytes
        and facts.mtime_ns == known.mtime_ns
    )


def change_of(file: BinaryIO, facts: FileFacts, known: SourceRow | None) -> Change:
    """What happened to an opened file; compares its two fingerprints."""
    if known is None:
        return Change.NEW
    if same_stat(facts, known):
        return Change.UNCHANGED
    moved = (facts.device, facts.inode) != (known.device, known.inode)
    if moved or facts.size_bytes < known.offset_bytes:
        return Change.REPLACED
    if facts.size_bytes == known.size_bytes and known.mtime_ns != UNFINISHED:
        return Change.REPLACED  # touched or edited in place: only reading it again can tell
    file.seek(0)
    head = file.read(known.head_bytes)
    if digest(head) != known.head_hash or tail_hash(file, known.offset_bytes) != known.tail_hash:
        return Change.REPLACED
    return Change.GROWN


def head_fingerprint(file: BinaryIO, size_bytes: int) -> tuple[int, bytes]:
    """How many bytes the fingerprint of the file's beginning covers, and their hash."""
    length = min(size_bytes, FINGERPRINT_BYTES)
    file.seek(0)
    return length, digest(file.read(length))


def tail_hash(file: BinaryIO, offset_bytes: int) -> bytes:
    """The hash of the bytes right before an offset."""
    start = max(0, offset_bytes - FINGERPRINT_BYTES)
    file.seek(start)
    return digest(file.read(offset_bytes - start))
