"""`tracer doctor`: which logs are there, which are missing, how to switch them on."""

from collections.abc import Sequence
from pathlib import Path

import click

from tracer import service
from tracer.cli.options import db_option, db_path_or_default, json_option, root_option
from tracer.cli.output import emphasis, print_heading, print_json, print_table
from tracer.cli.table import Column
from tracer.cli.text import UNKNOWN, byte_size, number, visible
from tracer.cli.traceview import print_traces, traces_exit
from tracer.jsonview.core import doctor_json
from tracer.jsonview.traces import traces_json
from tracer.model.doctor_views import DoctorLine, DoctorReport, SessionEvidence
from tracer.service.naming import session_id_of

_FILE_COLUMNS = (Column("format"), Column("size", right=True), Column("file"))
_SESSION_COLUMNS = (
    Column("session"),
    Column("requests", right=True),
    Column("prompts", right=True),
    Column("windowed", right=True),
    Column("log lines", right=True),
    Column("section lines", right=True),
    Column("usage rows", right=True),
    Column("events", right=True),
    Column("files gone", right=True),
    Column("title", flexible=True),
)
_LEVEL_WIDTH = len("missing")


@click.command("doctor")
@click.argument("files", nargs=-1, metavar="[FILES]...")
@root_option
@click.option(
    "--session",
    metavar="SESSION",
    default="",
    help="Only this session: what is known of it, what is gone, what to switch on.",
)
@db_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    files: tuple[str, ...],
    root: Path | None,
    session: str,
    db_path: Path | None,
    as_json: bool,
) -> None:
    """Tell which logs are found, which are missing, and how to switch them on.

    For each session of the database: of how many requests the prompts are known, and what else is.

    With FILES (or folders): validate traces of the open format, line by line, and read nothing
    else. The exit code is 1 where a line breaks the format, 3 where a file is no trace.
    """
    if files:
        found = service.validate(files)
        if as_json:
            print_json(traces_json(found))
        else:
            print_traces(found)
        ctx.exit(traces_exit(found))
    database = db_path_or_default(db_path)
    chosen = session_id_of(service.Service(database), session) if session else ""
    report = service.doctor(root, database, chosen)
    if as_json:
        print_json(doctor_json(report))
        return
    _print(report)


def _print(report: DoctorReport) -> None:
    for root in report.roots:
        click.echo(f"Looked in {visible(root)}")
    if report.roots:
        click.echo()
    _print_lines(report.lines)
    if report.files:
        print_heading("Files")
        print_table(
            _FILE_COLUMNS,
            (
                [format_name or UNKNOWN, byte_size(size), path]
                for path, format_name, size in report.files
            ),
        )
    if not report.roots:
        for at, session in enumerate(report.sessions):
            print_heading(f"{session.session_id}  {session.title}".rstrip(), first=not at)
            _print_lines(session.lines)
    elif report.sessions:
        shown = len(report.sessions)
        more = f", the last {shown:,} of {report.session_total:,}"
        print_heading(f"Sessions{more if shown < report.session_total else ''}")
        print_table(_SESSION_COLUMNS, map(_session_row, report.sessions))
        click.echo("`tracer doctor --session SESSION` tells what is gone and what to switch on.")


def _print_lines(lines: Sequence[DoctorLine]) -> None:
    for line in lines:
        click.echo(f"{emphasis(line.level.ljust(_LEVEL_WIDTH))}  {visible(line.title)}")
        for text in (line.detail, line.fix and f"To do: {line.fix}"):
            for part in text.splitlines():
                click.echo(f"{' ' * _LEVEL_WIDTH}  {visible(part)}")


def _session_row(session: SessionEvidence) -> list[str]:
    return [
        session.session_id,
        number(session.requests),
        number(session.prompts),
        number(session.windowed_prompts),
        number(session.log_lines),
        number(session.section_lines),
        number(session.usage_rows),
        number(session.session_events),
        number(session.missing_files),
        session.title or UNKNOWN,
    ]
