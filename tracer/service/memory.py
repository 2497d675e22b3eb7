"""Memory that was freed, given back to the system: what a large value takes while it is made would
stay with the process otherwise. Where the C library is another one than glibc, nothing is done."""

import ctypes
import sys
from functools import cache
from typing import Any

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
_OWN_MAPPING_BYTES = 256 << 10
_KEPT_FREE_BYTES = 1 << 20
_ARENAS = 2


@cache
def _library() -> Any:
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    return library if library is not None and hasattr(library, "malloc_trim") else None


def keep_little() -> None:
    """Let this process keep little of what it frees: for one that lives long and has many threads,
    each of which would hold a heap of its own."""
    library = _library()
    if library is not None:
        library.mallopt(_ARENA_MAX, _ARENAS)
        library.mallopt(_MMAP_THRESHOLD, _OWN_MAPPING_BYTES)
        library.mallopt(_TRIM_THRESHOLD, _KEPT_FREE_BYTES)


def give_back() -> None:
    """Give what is free now back to the system."""
    library = _library()
    if library is not None:
        library.malloc_trim(0)
