"""`tracer doctor`: which logs are there, which are missing, how to switch them on."""

from pathlib import Path

import click

from tracer import service
from tracer.cli.jsonview import doctor_json
from tracer.cli.options import db_option, db_path_or_default, json_option, root_option
from tracer.cli.output import emphasis, print_heading, print_json, print_table
from tracer.cli.table import Column
from tracer.cli.text import UNKNOWN, byte_size, visible
from tracer.model.views import DoctorReport

_FILE_COLUMNS = (Column("format"), Column("size", right=True), Column("file"))
_LEVEL_WIDTH = len("missing")


@click.command("doctor")
@root_option
@db_option
@json_option
def command(root: Path | None, db_path: Path | None, as_json: bool) -> None:
    """Tell which logs are found, which are missing, and how to switch them on."""
    report = service.doctor(root, db_path_or_default(db_path))
    if as_json:
        print_json(doctor_json(report))
        return
    _print(report)


def _print(report: DoctorReport) -> None:
    for root in report.roots:
        click.echo(f"Looked in {visible(root)}")
    click.echo()
    for finding in report.findings:
        click.echo(f"{emphasis(finding.level.ljust(_LEVEL_WIDTH))}  {visible(finding.title)}")
        for text in (finding.detail, finding.fix and f"To do: {finding.fix}"):
            for line in text.splitlines():
                click.echo(f"{' ' * _LEVEL_WIDTH}  {visible(line)}")
    if report.files:
        print_heading("Files")
        print_table(
            _FILE_COLUMNS,
            (
                [format_name or UNKNOWN, byte_size(size), path]
                for path, format_name, size in report.files
            ),
        )
