"""`tracer ingest`: read log files into the database."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import FrameType

import click

from tracer import service
from tracer.cli import ingestview
from tracer.cli.exits import ExitCode
from tracer.cli.jsonview import ingest_json
from tracer.cli.options import db_option, db_path_or_default, json_option, root_option
from tracer.cli.output import print_json
from tracer.cli.progress import progress_line
from tracer.model.views import IngestResult


@click.command("ingest")
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
@root_option
@click.option(
    "--format",
    "format_name",
    metavar="NAME",
    help="Read every file as this format. Default: the format is found by content.",
)
@click.option("--watch", is_flag=True, help="Go on with what is appended, until Ctrl-C.")
@click.option("--no-count-tokens", is_flag=True, help="Keep estimates; count no tokens.")
@click.option(
    "--max-line-mb",
    type=click.IntRange(1, 4096),
    default=64,
    show_default=True,
    metavar="MB",
    help="Skip longer lines.",
)
@db_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    paths: tuple[str, ...],
    root: Path | None,
    format_name: str | None,
    watch: bool,
    no_count_tokens: bool,
    max_line_mb: int,
    db_path: Path | None,
    as_json: bool,
) -> None:
    """Read what is new in log files into the database.

    PATHS are files, folders or globs; with none, the places where the agents write. What was read
    before is not read again. Bad lines are recorded and shown, never fatal. With --watch and
    --json, each round that read something prints one line of JSON.
    """
    database = db_path_or_default(db_path)
    with progress_line() or nullcontext() as progress:
        result = service.ingest(
            database,
            paths,
            root=root,
            format_name=format_name,
            count_tokens=not no_count_tokens,
            max_line_bytes=max_line_mb << 20,
            progress=progress,
        )
    if not as_json:
        ingestview.print_summary(result)
    elif result.read_bytes or not watch:
        print_json(ingest_json(result), one_line=watch)
    unread = ingestview.unread_paths(paths, result)
    for path in unread:
        click.echo(f"Error: nothing could be read of {path}", err=True)
    if not watch:
        ctx.exit(ExitCode.INPUT if unread else ExitCode.FINE)
    if not as_json:
        click.echo("Watching. Ctrl-C ends.")
    with _stop_on_signal() as stop:
        service.follow(
            database,
            paths,
            root=root,
            format_name=format_name,
            count_tokens=not no_count_tokens,
            stop=stop,
            on_result=lambda result: _report_round(result, as_json),
        )


def _report_round(result: IngestResult, as_json: bool) -> None:
    if as_json:
        print_json(ingest_json(result), one_line=True)
    else:
        ingestview.print_round(result)


@contextmanager
def _stop_on_signal() -> Iterator[threading.Event]:
    """An event that the first Ctrl-C sets, so that no batch is cut; the second one interrupts."""
    stop = threading.Event()

    def on_signal(number: int, frame: FrameType | None) -> None:
        stop.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, on_signal) for number in numbers]
    try:
        yield stop
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
