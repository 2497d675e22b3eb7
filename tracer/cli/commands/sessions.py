"""`tracer sessions`: what was recorded."""

from pathlib import Path

import click

from tracer.cli.jsonview import sessions_json
from tracer.cli.options import db_option, json_option, open_service, utf8
from tracer.cli.output import print_json, print_table
from tracer.cli.table import Column
from tracer.cli.text import UNKNOWN, moment, number, percent, plural
from tracer.model.views import SessionSummary

_COLUMNS = (
    Column("session"),
    Column("started (UTC)"),
    Column("requests", right=True),
    Column("turns", right=True),
    Column("input", right=True),
    Column("cache read", right=True),
    Column("hit rate", right=True),
    Column("misses", right=True),
    Column("billed again", right=True),
    Column("models", flexible=True),
    Column("project", flexible=True),
    Column("title", flexible=True),
)


@click.command("sessions")
@click.option(
    "--text",
    callback=utf8,
    default="",
    help="Only sessions with this in id, title, project or model.",
)
@click.option(
    "--limit", type=click.IntRange(min=1), default=100, show_default=True, help="At most so many."
)
@db_option
@json_option
def command(text: str, limit: int, db_path: Path | None, as_json: bool) -> None:
    """List sessions, the last active one first."""
    page = open_service(db_path).sessions(text, limit=limit)
    if as_json:
        print_json(sessions_json(page))
        return
    if not page.sessions:
        click.echo("No session matches." if text else "No sessions yet. Run `tracer ingest` first.")
        return
    print_table(_COLUMNS, map(_row, page.sessions))
    if page.total > len(page.sessions):
        click.echo(f"\n{len(page.sessions):,} of {plural(page.total, 'session')}: see --limit.")


def _row(session: SessionSummary) -> list[str]:
    usage = session.usage
    return [
        session.session_id,
        moment(session.started_at_ms),
        number(session.requests),
        number(session.turns),
        number(usage.input_tokens if usage.reported_requests else None),
        number(usage.cache_read_tokens if usage.read_reported_input_tokens else None),
        percent(usage.hit_rate),
        number(session.misses),
        number(session.rebilled_tokens),
        ", ".join(session.models) or UNKNOWN,
        session.project or UNKNOWN,
        session.title or UNKNOWN,
    ]
