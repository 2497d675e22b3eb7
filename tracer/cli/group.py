"""The group of all commands: discovery, and what happens when a command fails.

A command is one module in `tracer/cli/commands/` whose `command` is a click command; the module's
name is the command's. Other packages join through entry points of the group `tracer.commands`.
Both are loaded only when needed: `tracer sessions` never pays for the web server.
"""

import gc
import importlib
import io
import os
import pkgutil
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points
from typing import Any, NoReturn

import click

from tracer.cli import commands
from tracer.cli.exits import ExitCode, exit_code_of
from tracer.cli.text import visible
from tracer.errors import TracerError, UsageError

ENTRY_POINT_GROUP = "tracer.commands"


def builtin_names() -> list[str]:
    """The names of the commands in `tracer/cli/commands/`."""
    modules = pkgutil.iter_modules(commands.__path__)
    return sorted(m.name.replace("_", "-") for m in modules if not m.name.startswith("_"))


def load_builtin(name: str) -> click.Command:
    """The command that the module of this name defines."""
    module = importlib.import_module(f"{commands.__name__}.{name.replace('-', '_')}")
    command = module.command
    assert isinstance(command, click.Command)
    return command


def plugins() -> dict[str, EntryPoint]:
    """The commands of other installed packages by name, not yet loaded."""
    return {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP)}


def load_plugin(point: EntryPoint) -> click.Command:
    """The command that an entry point names; one that explains itself if it cannot be loaded."""
    try:
        command = point.load()
    except Exception as error:  # a foreign package may fail in any way; the others must live
        return _unavailable(point, f"{type(error).__name__}: {error}")
    if not isinstance(command, click.Command):
        return _unavailable(point, "it is not a click command")
    return command


def _unavailable(point: EntryPoint, reason: str) -> click.Command:
    message = (
        f"`{point.name}` is not available: {point.value} could not be loaded ({reason}). "
        "Install context-tracer again with all that it depends on."
    )

    def refuse(arguments: tuple[str, ...]) -> None:
        raise UsageError(message)

    return click.Command(
        point.name,
        callback=refuse,
        params=[click.Argument(["arguments"], nargs=-1, type=click.UNPROCESSED)],
        context_settings={"ignore_unknown_options": True},
        help=message,
        short_help="Not available: its package could not be loaded.",
    )


class TracerGroup(click.Group):
    """All commands, the built-in ones first where two have the same name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names in alphabetical order."""
        return sorted({*super().list_commands(ctx), *builtin_names(), *plugins()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name, loaded now; None if there is none."""
        with _kept():
            if cmd_name in builtin_names():
                return load_builtin(cmd_name)
            point = plugins().get(cmd_name)
            return load_plugin(point) if point else super().get_command(ctx, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is named. Of one that is not there the error names the nearest."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = get_close_matches(args[0], self.list_commands(ctx), 1)
            if not near:
                raise
            meant = f"{error.message} Did you mean `tracer {near[0]}`?"
            raise click.UsageError(meant, ctx) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; every way to fail ends with its own exit code and no traceback,
        except for faults of tracer itself."""
        _make_streams_forgiving()
        try:
            result = super().invoke(ctx)
            if sys.stdout is not None:
                sys.stdout.flush()
            return result
        except (click.ClickException, click.exceptions.Exit):
            raise
        except TracerError as error:
            _fail(ctx, error, exit_code_of(error))
        except (KeyboardInterrupt, click.Abort):
            click.echo("\nStopped.", err=True)
            ctx.exit(ExitCode.INTERRUPTED)
        except BrokenPipeError:
            _drop_stdout()
            ctx.exit(ExitCode.BROKEN_PIPE)
        except OSError as error:
            _drop_stdout()
            _fail(ctx, error, ExitCode.INPUT)
        except Exception:
            traceback.print_exc()
            ctx.exit(ExitCode.FAULT)


@contextmanager
def _kept() -> Iterator[None]:
    """No garbage collection while modules are loaded: they stay, and looking at them again and
    again takes a tenth of the time until the command begins."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_on:
            gc.enable()


def _fail(ctx: click.Context, error: Exception, code: ExitCode) -> NoReturn:
    click.echo(f"Error: {visible(str(error))}", err=True)
    ctx.exit(code)


def _make_streams_forgiving() -> None:
    """A terminal that cannot show a character gets an escape instead of an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _drop_stdout() -> None:
    """Keep the interpreter from flushing into a stream that is gone."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
