"""The causes of a low read: one file a cause, found by name.

A cause is a module named like its code in lower case, with `CODE`, `TITLE`, `ORDER`, `FIX`,
`detect` and a docstring that explains it to people. A module whose name begins with `_` is not one.
"""

from functools import cache

from tracer.cache.case import Case
from tracer.cache.causes.base import Cause
from tracer.model.verdict import FoundCause
from tracer.registry import members

__all__ = ["Cause", "all_causes", "cause_named", "cause_words", "detect_all"]


@cache
def all_causes() -> tuple[Cause, ...]:
    """Every cause of this package, by its row in cache-rules.md 2.3."""
    found = []
    for module in members(__name__):
        found.append(
            Cause(
                module.CODE,
                module.TITLE,
                module.ORDER,
                module.__doc__ or "",
                module.FIX,
                module.detect,
            )
        )
    return tuple(sorted(found, key=lambda cause: (cause.order, cause.code)))


@cache
def cause_named(code: str) -> Cause | None:
    """The cause with that code, or None."""
    return next((cause for cause in all_causes() if cause.code == code), None)


def cause_words(code: str, subtype: str = "") -> str:
    """A cause in words: `history rewritten: tool result cleared`; a code that no cause has, and a
    subtype, are taken apart."""
    cause = cause_named(code)
    title = cause.title if cause else code.replace("_", " ").lower() or "not established"
    detail = subtype.replace("_", " ").lower()
    return f"{title}: {detail}" if detail else title


def detect_all(case: Case) -> tuple[FoundCause, ...]:
    """What every cause has to say, in the order of the causes."""
    found = (cause.detect(case) for cause in all_causes())
    return tuple(one for one in found if one is not None)
