"""What a rule is: a name, a level, its text and where it comes from, and a check."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from tracer.checks.case import CheckedSession
from tracer.model.findings import Finding, Level, NotApplicable

Found: TypeAlias = Finding | NotApplicable


@dataclass(frozen=True, slots=True)
class Rule:
    """A registered rule. `name` carries the family (`zcode/...`, `layout-14/...`); `text` says in
    our words what must hold and why; `source` is the section of a document that it comes from.
    `check` yields what it found over a session: nothing at all means that the rule could be decided
    and holds."""

    name: str
    family: str
    level: Level
    title: str
    text: str
    source: str
    check: Callable[[CheckedSession], Iterator[Found]]
