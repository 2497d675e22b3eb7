"""What a cause is: a code, a title and an explanation for people, a fix, and a detection.

A detection sees the case and no other cause's result, and answers whether its condition holds,
whether or not it cost anything: a condition that held without a miss counts against it later.
Only `tracer.cache.rank` decides what explains a miss.
"""

from collections.abc import Callable
from dataclasses import dataclass

from tracer.cache.case import Case
from tracer.model.verdict import FoundCause


@dataclass(frozen=True, slots=True)
class Cause:
    """A registered cause. `title` names it in a few words, `order` is its row in cache-rules.md 2.3
    and decides ties."""

    code: str
    title: str
    order: int
    explanation: str
    fix: str
    detect: Callable[[Case], FoundCause | None]
