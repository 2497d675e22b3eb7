"""`tracer presence`: how sections, reminders, messages and tools lived over a session."""

from collections.abc import Iterator
from pathlib import Path

import click

from tracer.cli.options import db_option, json_option, open_service, reveal_option, utf8
from tracer.cli.output import print_heading, print_json, print_table
from tracer.cli.table import Column
from tracer.jsonview.anatomy import presence_json
from tracer.model.anatomy_views import PresenceLane, PresenceRowView, PresenceRun
from tracer.service.naming import session_id_of
from tracer.words import plural

MOST_EVENTS = 12
_COLUMNS = (
    Column("what"),
    Column("name"),
    Column("note"),
    Column("requests", right=True),
    Column("appeared, changed, moved, gone", flexible=True),
)
_QUIET = frozenset({"same", "unseen"})


@click.command("presence")
@click.argument("session", callback=utf8)
@reveal_option
@db_option
@json_option
def command(session: str, db_path: Path | None, as_json: bool) -> None:
    """Show when what a prompt is made of appeared, changed, moved or went away over SESSION.

    One row a section, reminder source, mid-conversation message and tool, lane by lane; numbers are
    those of requests. SESSION is an id or a unique beginning of one.
    """
    service = open_service(db_path)
    presence = service.presence(session_id_of(service, session))
    if as_json:
        print_json(presence_json(presence))
        return
    for at, lane in enumerate(presence.lanes):
        print_heading(f"{lane.lane}, {plural(len(lane.seqs), 'request')}", first=not at)
        if lane.rows:
            print_table(_COLUMNS, [_row(row, lane) for row in lane.rows])
        else:
            click.echo(
                "Nothing that is known by name stands in its prompts, or the log shows none."
            )


def _row(row: PresenceRowView, lane: PresenceLane) -> list[str]:
    there = sum(
        run.first_seq <= seq <= run.last_seq
        for run in row.runs
        if run.cell not in ("gone", "unseen")
        for seq in lane.seqs
    )
    events = list(_events(row.runs))
    shown = ", ".join(events[:MOST_EVENTS])
    more = f" and {len(events) - MOST_EVENTS:,} more" if len(events) > MOST_EVENTS else ""
    return [row.group, row.name, row.note, f"{there:,}", shown + more]


def _events(runs: tuple[PresenceRun, ...]) -> Iterator[str]:
    for run in runs:
        if run.cell not in _QUIET:
            last = f" to {run.last_seq:,}" if run.last_seq != run.first_seq else ""
            yield f"{run.cell} {run.first_seq:,}{last}"
