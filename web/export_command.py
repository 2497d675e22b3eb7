"""`tracer export`: a session or a comparison as one file that opens without a server."""

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click

from tracer import service
from tracer.errors import UsageError
from tracer.service.naming import key_of, session_id_of
from web.export import comparison_file, session_file


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="SESSION | KEY KEY")
@click.option(
    "--out",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write. Default: the terminal's output.",
)
@click.option("--no-texts", is_flag=True, help="Leave the texts of the prompts out.")
@click.option(
    "--db",
    type=click.Path(dir_okay=False, path_type=Path),
    envvar="TRACER_DB",
    help="The database. Default: the platform's data folder.",
)
def export(names: tuple[str, ...], out: Path | None, no_texts: bool, db: Path | None) -> None:
    """Write a session, or the comparison of two requests, as one HTML file.

    The file holds everything that it shows and opens from disk: no server, no script, no network.
    """
    reading = service.Service(db or service.default_db_path())
    now_ms = int(time.time() * 1000)
    if len(names) > 2:
        raise UsageError("Name one session, or two requests to compare.")
    if len(names) == 2:
        a_key, b_key = (key_of(reading, name) for name in names)
        made = comparison_file(reading, a_key, b_key, now_ms=now_ms)
    else:
        session_id = session_id_of(reading, names[0])
        made = session_file(reading, session_id, texts=not no_texts, now_ms=now_ms)
    if out is None:
        _to_output(made)
        return
    size = _write(made, out)
    click.echo(f"{out}: {size / 1e6:,.1f} MB", err=True)


def _to_output(pieces: Iterator[str]) -> None:
    for piece in pieces:
        sys.stdout.write(piece)


def _write(pieces: Iterator[str], out: Path) -> int:
    """Write a file whole or not at all; returns its size in bytes."""
    draft = out.with_name(f".{out.name}.{os.getpid()}.part")
    try:
        with draft.open("w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.writelines(pieces)
        size = draft.stat().st_size
        draft.replace(out)
    finally:
        draft.unlink(missing_ok=True)
    return size
