"""How to add a command: copy this file to `<name>.py` and change it; nothing else registers it.

The module's name is the command's (`_` becomes `-`); names that begin with `_` are skipped. The
command's docstring is its help. Afterwards describe its JSON in docs/json.md and run
`python -m tracer.cli.docs --write`.
"""

from pathlib import Path

import click

from tracer.cli.options import db_option, json_option, open_service, reveal_option
from tracer.cli.output import print_json, print_table
from tracer.cli.table import Column
from tracer.cli.text import number


@click.command("skeleton")
@click.argument("text", default="")
@reveal_option
@db_option
@json_option
def command(text: str, db_path: Path | None, as_json: bool) -> None:
    """Count the sessions that contain TEXT."""
    page = open_service(db_path).sessions(text)
    if as_json:
        print_json({"schema": 1, "count": page.total})
        return
    print_table([Column("text"), Column("sessions", right=True)], [[text, number(page.total)]])
