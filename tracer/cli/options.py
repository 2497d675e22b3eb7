"""Options that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from tracer import service
from tracer.cli.text import visible
from tracer.errors import InputError
from tracer.service.settings import load_settings

F = TypeVar("F", bound=Callable[..., Any])
_REVEAL = "tracer.reveal_secrets"


def utf8(ctx: click.Context, parameter: click.Parameter, value: str) -> str:
    """A callback for text that is looked up: the text itself. Bytes that are not UTF-8 are wrong
    use."""
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise click.BadParameter(f"{visible(value)} is not valid UTF-8.") from error
    return value


def db_option(function: F) -> F:
    """Adds `--db`, given to the command as `db_path`: None where TRACER_DB is not set either."""
    return click.option(
        "--db",
        "db_path",
        type=click.Path(dir_okay=False, path_type=Path),
        envvar="TRACER_DB",
        show_envvar=True,
        help="The database. Default: the platform's data folder.",
    )(function)


def json_option(function: F) -> F:
    """Adds `--json`, given to the command as `as_json`."""
    return click.option(
        "--json", "as_json", is_flag=True, help="Print JSON as documented in docs/json.md."
    )(function)


def root_option(function: F) -> F:
    """Adds `--root`, given to the command as `root`: None where not set."""
    return click.option(
        "--root",
        type=click.Path(file_okay=False, path_type=Path),
        envvar="TRACER_ROOT",
        show_envvar=True,
        help="The folder in which ZCode writes. Default: ~/.zcode/cli.",
    )(function)


def check_root(root: Path | None) -> None:
    """Raises InputError if a folder was named that does not exist."""
    if root is not None and not root.is_dir():
        raise InputError(f"There is no folder {root}. Check --root or TRACER_ROOT.")


def db_path_or_default(db_path: Path | None) -> Path:
    """The database that a command works on."""
    return db_path or service.default_db_path()


def prices_option(function: F) -> F:
    """Adds `--prices`, given to the command as `prices`: None where TRACER_PRICES is not set."""
    return click.option(
        "--prices",
        type=click.Path(dir_okay=False, path_type=Path),
        envvar="TRACER_PRICES",
        show_envvar=True,
        help="A table of prices (TOML) instead of the shipped one, which tells its format.",
    )(function)


def config_option(function: F) -> F:
    """Adds `--config`, given to the command as `config`: None where not set."""
    return click.option(
        "--config",
        type=click.Path(dir_okay=False, path_type=Path),
        help="A settings file (TOML): see docs/checks.md. Default: that of TRACER_CONFIG, else "
        "tracer.toml here.",
    )(function)


def reveal_option(function: F) -> F:
    """Adds `--reveal-secrets`, which `open_service` looks at."""

    def note(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
        ctx.meta[_REVEAL] = value

    return click.option(
        "--reveal-secrets",
        is_flag=True,
        expose_value=False,
        callback=note,
        help="Show keys, tokens and passwords, which are masked otherwise.",
    )(function)


def open_service(
    db_path: Path | None, prices: Path | None = None, config: Path | None = None
) -> service.Service:
    """The use cases on an existing database, with a table of prices where one is named, and with
    the settings of `config` or those that are found. Raises InputError if there is no database,
    and for a settings file that cannot be read; UsageError for one that says nothing known. Secrets
    are masked unless `--reveal-secrets` was given to the command."""
    path = db_path_or_default(db_path)
    if not path.exists():
        raise InputError(
            f"There is no database at {path}. Run `tracer ingest` first, or name another with --db."
        )
    off = load_settings(config).rules_off
    context = click.get_current_context(silent=True)
    if context is not None and context.meta.get(_REVEAL):
        return service.Service(path, prices, off, reveal_secrets=True)
    if prices is None and not off:
        return service.Service(path)
    return service.Service(path, prices, off)
