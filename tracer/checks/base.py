"""What a rule is: a name, a level, its text and where it comes from, and a check."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from tracer.checks.case import CheckedRequest, CheckedSession
from tracer.model.findings import Finding, Level, NotApplicable

Found: TypeAlias = Finding | NotApplicable


@dataclass(frozen=True, slots=True)
class Rule:
    """A registered rule. `name` carries the family (`zcode/...`, `layout-14/...`); `text` says in
    our words what must hold and why; `source` is the section of a document that it comes from.
    `check` yields what it found over a session: nothing at all means that the rule could be decided
    and holds. `applies` tells whether a session is one of the family's."""

    name: str
    family: str
    level: Level
    title: str
    text: str
    source: str
    check: Callable[[CheckedSession], Iterator[Found]]
    applies: Callable[[CheckedSession], bool]


def rule_name(module: str) -> str:
    """The name of the rule in a module: `tracer.checks.zcode.four_markers` is
    `zcode/four-markers`."""
    family, name = module.split(".")[-2:]
    return f"{family}/{name}".replace("_", "-")


class Reporter:
    """Makes the findings of one rule: `REPORT = Reporter(__name__, LEVEL)`."""

    def __init__(self, module: str, level: Level) -> None:
        self.rule = rule_name(module)
        self._level = level

    def found(
        self,
        request: CheckedRequest,
        message: str,
        message_index: int | None = None,
        **evidence: object,
    ) -> Finding:
        """A finding at a request. `evidence` gives what was seen by label (`_` stands for a
        space), shown in the order given."""
        return Finding(
            self.rule,
            self._level,
            request.key,
            message,
            message_index,
            tuple((label.replace("_", " "), _shown(value)) for label, value in evidence.items()),
        )

    def needs(self, needs: str, *requests: CheckedRequest) -> NotApplicable:
        """That the log cannot decide the rule, at some requests or over the session."""
        return NotApplicable(self.rule, needs, tuple(request.key for request in requests))


def excerpt(text: str, chars: int = 80) -> str:
    """The beginning of a text on one line, with an ellipsis where something was cut."""
    line = " ".join(text.split())
    return line if len(line) <= chars else f"{line[: chars - 1]}…"


def _shown(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
