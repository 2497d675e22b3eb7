"""The agents' own rules: one rule a file, found by name. Pure.

A family is a folder; a rule is a module in it, named like the rule (`tools_sorted` in `layout_14`
is `layout-14/tools-sorted`), with `LEVEL`, `TITLE`, `SOURCE`, a docstring that tells the rule to
people, and `check`. A module whose name begins with `_` is not one.
"""

import importlib
import pkgutil
from collections.abc import Iterable
from functools import cache
from types import ModuleType

from tracer.checks.base import Found, Rule
from tracer.checks.case import CheckedMessage, CheckedRequest, CheckedSession

__all__ = [
    "CheckedMessage",
    "CheckedRequest",
    "CheckedSession",
    "Found",
    "Rule",
    "all_rules",
    "rule_named",
]


def _modules(package: ModuleType) -> Iterable[tuple[str, bool]]:
    for info in pkgutil.iter_modules(package.__path__):
        if not info.name.startswith("_"):
            yield f"{package.__name__}.{info.name}", info.ispkg


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule of every family, by name."""
    families = [name for name, ispkg in _modules(importlib.import_module(__name__)) if ispkg]
    found = []
    for package in families:
        family = package.rpartition(".")[2].replace("_", "-")
        for name, _ in _modules(importlib.import_module(package)):
            module = importlib.import_module(name)
            rule = f"{family}/{name.rpartition('.')[2].replace('_', '-')}"
            text = " ".join((module.__doc__ or "").split())
            found.append(
                Rule(rule, family, module.LEVEL, module.TITLE, text, module.SOURCE, module.check)
            )
    return tuple(sorted(found, key=lambda rule: rule.name))


@cache
def rule_named(name: str) -> Rule | None:
    """The rule with that name, or None."""
    return next((rule for rule in all_rules() if rule.name == name), None)
