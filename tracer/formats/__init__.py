"""The log formats: one file a format, found by name.

A format is a module with `FORMAT`, an object with the attributes of `base.Format`. Nothing here
opens a file: bytes come in, events go out. A module whose name begins with `_` is not a format.
"""

import importlib
import pkgutil
from functools import cache

from tracer.formats.base import Format

__all__ = ["Format", "all_formats", "detect", "format_named"]

_NOT_FORMATS = frozenset({"base"})


@cache
def all_formats() -> tuple[Format, ...]:
    """Every format of this package, by name."""
    found = []
    for info in pkgutil.iter_modules(__path__):
        if info.name.startswith("_") or info.name in _NOT_FORMATS:
            continue
        module = importlib.import_module(f"{__name__}.{info.name}")
        found.append(module.FORMAT)
    return tuple(sorted(found, key=lambda f: f.name))


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
