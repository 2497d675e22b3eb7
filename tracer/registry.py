"""Registries are packages: a module in one is a member of it, found by being there."""

import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType

_BASE = "base"


def members(package: str) -> Iterator[ModuleType]:
    """The modules of a package but `base`, which says what a member is, and those whose names begin
    with an underscore: what several members share, and the skeleton of a new one."""
    for info in pkgutil.iter_modules(importlib.import_module(package).__path__):
        if info.name != _BASE and not info.name.startswith("_"):
            yield importlib.import_module(f"{package}.{info.name}")
