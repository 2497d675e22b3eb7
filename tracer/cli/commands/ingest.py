"""`tracer ingest`: read log files into the database."""

import signal
import threading
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any, Self

import click

from tracer import service
from tracer.cli import ingestview
from tracer.cli.exits import ExitCode
from tracer.cli.options import check_root, db_option, db_path_or_default, json_option, root_option
from tracer.cli.output import print_json
from tracer.cli.progress import ProgressLine, progress_line
from tracer.cli.text import visible
from tracer.jsonview.core import ingest_json
from tracer.model.ingest_views import IngestResult


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
    "--all-verdicts",
    is_flag=True,
    help="Judge all sessions now, those without any prompt too. Default: one second's worth of "
    "these, the rest when one is opened.",
)
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
    all_verdicts: bool,
    max_line_mb: int,
    db_path: Path | None,
    as_json: bool,
) -> None:
    """Read what is new in log files into the database.

    PATHS are files, folders or globs; with none, the places where the agents write. What was read
    before is not read again. Bad lines are recorded and shown, never fatal. With --watch and
    --json, each round that read something prints one line of JSON.
    """
    check_root(root)
    database = db_path_or_default(db_path)
    max_line_bytes = max_line_mb << 20
    with progress_line() as progress:
        if watch:
            watching = Watching(paths, as_json, progress)
            with watching:
                service.follow(
                    database,
                    paths,
                    root=root,
                    format_name=format_name,
                    count_tokens=not no_count_tokens,
                    max_line_bytes=max_line_bytes,
                    stop=watching.stop,
                    on_result=watching.report,
                    progress=progress,
                )
            return
        result = service.ingest(
            database,
            paths,
            root=root,
            format_name=format_name,
            count_tokens=not no_count_tokens,
            max_line_bytes=max_line_bytes,
            all_verdicts=all_verdicts,
            progress=progress,
        )
    if as_json:
        print_json(ingest_json(result))
    else:
        ingestview.print_summary(result)
    ctx.exit(ExitCode.INPUT if _name_unread(paths, result) else ExitCode.FINE)


def _name_unread(paths: Sequence[str], result: IngestResult) -> bool:
    unread = ingestview.unread_paths(paths, result)
    for path in unread:
        click.echo(f"Error: nothing could be read of {visible(path)}", err=True)
    return bool(unread)


class Watching:
    """Prints each round, and ends gently: after the first round, the first Ctrl-C sets `stop`, so
    that no batch is cut, and the second one interrupts."""

    def __init__(
        self, paths: Sequence[str], as_json: bool, progress: ProgressLine | None = None
    ) -> None:
        self.stop = threading.Event()
        self._paths = paths
        self._as_json = as_json
        self._progress = progress
        self._first = True
        self._handlers: dict[int, Any] = {}

    def report(self, result: IngestResult) -> None:
        """Print a round: with JSON only if it read something."""
        if self._progress is not None:
            self._progress.clear()
        if self._as_json:
            if result.read_bytes:
                print_json(ingest_json(result), one_line=True)
        elif self._first:
            ingestview.print_summary(result)
            click.echo("Watching. Ctrl-C ends.")
        else:
            ingestview.print_round(result)
        if self._first:
            _name_unread(self._paths, result)
            self._stop_on_signals()
        self._first = False

    def _stop_on_signals(self) -> None:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._handlers[number] = signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.stop.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
