"""What commands print: JSON for programs, calm text for people."""

import os
import shutil
import sys
from collections.abc import Iterable, Sequence

import click

from tracer.cli.table import Column, render
from tracer.cli.text import visible
from tracer.jsonview.encoding import json_text


def print_json(value: object, *, one_line: bool = False) -> None:
    """Write `value` to stdout as one JSON document, in UTF-8 whatever the locale."""
    rest = memoryview(f"{json_text(value, one_line=one_line)}\n".encode())
    if sys.stdout is None:
        return
    sys.stdout.flush()
    while rest:  # an unbuffered stream (PYTHONUNBUFFERED) may take a part only, without an error
        rest = rest[sys.stdout.buffer.write(rest) or 0 :]
    sys.stdout.buffer.flush()


def terminal_width() -> int | None:
    """The width of the terminal that stdout is; None where stdout is a file or a pipe."""
    return shutil.get_terminal_size().columns if _is_terminal() else None


def print_table(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> None:
    """Print an aligned table with a header line."""
    header, *lines = render(columns, rows, terminal_width())
    click.echo(emphasis(header))
    for line in lines:
        click.echo(line)


def print_heading(text: str, *, first: bool = False) -> None:
    """Print a heading, which may hold names from a log; a blank line before it unless it is the
    first thing printed."""
    click.echo(("" if first else "\n") + emphasis(visible(text)))


def emphasis(text: str) -> str:
    """`text` in bold where stdout is a terminal that may show it, else as it is."""
    plain = not _is_terminal() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return text if plain else click.style(text, bold=True)


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()
