"""What `tracer doctor FILE` prints: a block a file, a paragraph a problem."""

from collections.abc import Sequence

import click

from tracer.cli.exits import ExitCode
from tracer.cli.output import emphasis
from tracer.cli.text import visible
from tracer.model.trace_views import TraceFile, TraceProblem
from tracer.words import plural


def traces_exit(files: Sequence[TraceFile]) -> ExitCode:
    """INPUT where a file is no trace, FINDINGS where a line breaks the format."""
    if any(file.failed for file in files):
        return ExitCode.INPUT
    return ExitCode.FINDINGS if any(file.errors for file in files) else ExitCode.FINE


def print_traces(files: Sequence[TraceFile]) -> None:
    """Print what is to be said of each file."""
    for position, file in enumerate(files):
        if position:
            click.echo()
        _print_file(file)


def _print_file(file: TraceFile) -> None:
    click.echo(emphasis(visible(file.path)))
    if file.failed:
        click.echo(visible(file.failed))
        return
    click.echo(
        f"{plural(file.lines, 'line')}: {plural(file.events, 'event')}, "
        f"{plural(file.requests, 'prompt')}, {plural(file.sessions, 'session')}"
    )
    for problem in file.problems:
        _print_problem(file, problem)
    left = file.errors + file.notes - len(file.problems)
    if left:
        click.echo(f"{plural(left, 'more problem')}: see these first.")
    if file.errors:
        click.echo(f"{plural(file.errors, 'error')}, {plural(file.notes, 'note')}.")
    else:
        noted = f" {plural(file.notes, 'note')}." if file.notes else ""
        click.echo(f"A valid trace.{noted}")
        if file.requests:
            click.echo("The layout's own rules: `tracer check` after `tracer ingest`.")


def _print_problem(file: TraceFile, problem: TraceProblem) -> None:
    place = f"{visible(file.path)}:{problem.line}"
    what = f"{problem.where} {problem.what}".strip()
    click.echo(f"{emphasis(problem.level.value.ljust(5))}  {place}  {visible(what)}")
    click.echo(f"       {visible(problem.fix)}")
