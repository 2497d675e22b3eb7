"""`tracer export`: a session or a comparison as one file that opens without a server."""

import os
import secrets
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click

from tracer import service
from tracer.errors import NotFoundError, TracerError, UsageError
from tracer.service.naming import key_of, session_id_of
from tracer.service.redacting import redacted_service
from web.export import comparison_file, session_file

REDACTED = "texts replaced by salted hashes and lengths"


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="SESSION | KEY KEY")
@click.option(
    "--out",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write. Default: the terminal's output.",
)
@click.option(
    "--redact",
    is_flag=True,
    help="Replace every text by a salted hash and its length: timeline, matrix and verdicts stay. "
    "Ids and names of tools, sections and models are kept.",
)
@click.option(
    "--salt",
    help="What the hashes are made with: the same one makes two files comparable. Default: a new "
    "one that nobody knows.",
)
@click.option(
    "--db",
    type=click.Path(dir_okay=False, path_type=Path),
    envvar="TRACER_DB",
    show_envvar=True,
    help="The database. Default: the platform's data folder.",
)
def export(
    names: tuple[str, ...],
    out: Path | None,
    redact: bool,
    salt: str | None,
    db: Path | None,
) -> None:
    """Write a session, or the comparison of two requests, as one HTML file.

    The file holds everything that it shows and opens from disk: no server, no script, no network.
    Keys, tokens and passwords are always masked in it, since a file is passed on.
    """
    reading = service.Service(db or service.default_db_path())
    if len(names) > 2:
        raise UsageError("Name one session, or two requests to compare.")
    if salt is not None and not redact:
        raise UsageError("--salt says how to redact: give --redact with it.")
    keys = [key_of(reading, name) for name in names] if len(names) == 2 else []
    session_id = "" if keys else _session_of(reading, names[0])
    note = ""
    if redact:
        secret = salt.encode("utf-8", "surrogatepass") if salt else secrets.token_bytes(16)
        reading, note = redacted_service(reading, secret), REDACTED
    now_ms = int(time.time() * 1000)
    if keys:
        made = comparison_file(reading, *keys, now_ms=now_ms, note=note)
    else:
        made = session_file(reading, session_id, now_ms=now_ms, note=note)
    if out is None:
        _to_output(made)
        return
    size = _write(made, out)
    click.echo(f"{out}: {size / 1e6:,.1f} MB", err=True)


def _session_of(reading: service.Service, name: str) -> str:
    """The session that is named. Raises UsageError where the name is a request's."""
    try:
        return session_id_of(reading, name)
    except NotFoundError:
        try:
            key_of(reading, name)
        except TracerError:
            is_request = False
        else:
            is_request = True
        if not is_request:
            raise
        raise UsageError(
            f"{name} is a request. Name its session, or two requests to compare: one request alone "
            "is no file."
        ) from None


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
