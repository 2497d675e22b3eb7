"""The agents' own rules: one rule a file, found by name. Pure.

A family is a folder; a rule is a module in it, named like the rule (`tools_sorted` in `layout_14`
is `layout-14/tools-sorted`), with `LEVEL`, `TITLE`, `SOURCE`, a docstring that tells the rule to
people, and `check`. A module whose name begins with `_` is not one. The family's package says in
`applies(session)` of which sessions its rules speak.
"""

import importlib
import pkgutil
from collections.abc import Iterable
from functools import cache
from types import ModuleType

from tracer.checks.base import Found, Reporter, Rule, rule_name
from tracer.checks.case import (
    CheckedMessage,
    CheckedRequest,
    CheckedSession,
    EventLog,
    event_log,
)

__all__ = [
    "RULES_VERSION",
    "CheckedMessage",
    "CheckedRequest",
    "CheckedSession",
    "EventLog",
    "Found",
    "Reporter",
    "Rule",
    "all_rules",
    "event_log",
    "rule_named",
]

RULES_VERSION = 1
"""Changes whenever a rule would find something else than before in the same session; rules that
come or go are noticed by their names."""


def _modules(package: ModuleType) -> Iterable[tuple[str, bool]]:
    for info in pkgutil.iter_modules(package.__path__):
        if not info.name.startswith("_"):
            yield f"{package.__name__}.{info.name}", info.ispkg


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule of every family, by name."""
    families = [name for name, ispkg in _modules(importlib.import_module(__name__)) if ispkg]
    found = []
    for package in map(importlib.import_module, families):
        family = package.__name__.rpartition(".")[2].replace("_", "-")
        for name, _ in _modules(package):
            module = importlib.import_module(name)
            found.append(
                Rule(
                    rule_name(name),
                    family,
                    module.LEVEL,
                    module.TITLE,
                    (module.__doc__ or "").strip(),
                    module.SOURCE,
                    module.check,
                    package.applies,
                )
            )
    return tuple(sorted(found, key=lambda rule: rule.name))


@cache
def rule_named(name: str) -> Rule | None:
    """The rule with that name, or None."""
    return next((rule for rule in all_rules() if rule.name == name), None)
