"""The settings file: which rules are switched off (docs/checks.md)."""

import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tracer.checks import all_rules
from tracer.errors import InputError, UsageError

SETTINGS_NAME = "tracer.toml"
SETTINGS_VARIABLE = "TRACER_CONFIG"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a settings file says. `rules_off` are names of rules."""

    rules_off: frozenset[str] = frozenset()


def load_settings(path: Path | None = None) -> Settings:
    """The settings of a file: `path`, else that of TRACER_CONFIG, else `tracer.toml` in the working
    directory, where there is one.

    Raises InputError for a file that cannot be read or is not TOML, UsageError for a setting or a
    rule that does not exist: a gate with a misspelt rule must not pass.
    """
    named = path or (
        Path(os.environ[SETTINGS_VARIABLE]) if SETTINGS_VARIABLE in os.environ else None
    )
    file = named or Path(SETTINGS_NAME)
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        if named is None:
            return Settings()
        raise InputError(f"There is no settings file {file}.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The settings file {file} could not be read: {error}.") from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"The settings file {file} is not TOML: {error}.") from error
    except RecursionError as error:
        raise InputError(f"The settings file {file} is nested too deep to be read.") from error
    return Settings(_rules_off(file, data))


def _rules_off(file: Path, data: dict[str, Any]) -> frozenset[str]:
    unknown = [name for name in data if name != "checks"]
    checks = data.get("checks", {})
    if unknown or not isinstance(checks, dict) or set(checks) - {"off"}:
        raise UsageError(
            f"The settings file {file} may hold the table [checks] with the list `off`, nothing "
            "else."
        )
    off = checks.get("off", [])
    if not isinstance(off, list) or not all(isinstance(name, str) for name in off):
        raise UsageError(f"In {file}, `off` of [checks] is a list of the names of rules.")
    return frozenset(name for given in off for name in named_rules(given))


def named_rules(given: str) -> tuple[str, ...]:
    """The names of the rules that `given` means: one rule, or `FAMILY/*`. Raises UsageError."""
    names = [rule.name for rule in all_rules()]
    family, _, rest = given.partition("/")
    found = [n for n in names if n == given or (rest == "*" and n.startswith(f"{family}/"))]
    if not found:
        raise UsageError(f"There is no rule {given!r}. Known: {', '.join(names)}.")
    return tuple(found)
