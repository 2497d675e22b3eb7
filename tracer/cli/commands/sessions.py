"""`tracer sessions`: what was recorded."""

from pathlib import Path
from typing import Any

import click

from tracer.cli.options import db_option, json_option, open_service, reveal_option, utf8
from tracer.cli.output import print_json, print_table
from tracer.cli.table import Column
from tracer.cli.text import UNKNOWN, moment, number, percent
from tracer.jsonview.core import sessions_json
from tracer.model.session_list import SessionFilter
from tracer.model.views import SessionSummary
from tracer.service.sessions import time_range
from tracer.words import plural

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
    help="Only sessions with these words in id, title, project, agent or model.",
)
@click.option("--project", callback=utf8, default="", help="Only sessions of this project.")
@click.option("--agent", callback=utf8, default="", help="Only sessions of this agent.")
@click.option("--model", callback=utf8, default="", help="Only sessions that asked this model.")
@click.option("--since", default="", metavar="TIME", help="Only sessions still active then, UTC.")
@click.option("--until", default="", metavar="TIME", help="Only sessions begun by then, UTC.")
@click.option("--misses", is_flag=True, help="Only sessions with a cache miss.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=100, show_default=True, help="At most so many."
)
@reveal_option
@db_option
@json_option
def command(
    since: str, until: str, limit: int, db_path: Path | None, as_json: bool, **wanted: Any
) -> None:
    """List sessions, the last active one first. TIME is a day (2026-01-12) or a minute of it
    (2026-01-12T09:02)."""
    since_ms, until_ms = time_range(since, until)
    asked = SessionFilter(since_ms=since_ms, until_ms=until_ms, **wanted)
    page = open_service(db_path).sessions(asked, limit=limit)
    if as_json:
        print_json(sessions_json(page))
        return
    if not page.sessions:
        click.echo(
            "No session matches." if asked.asks else "No sessions yet. Run `tracer ingest` first."
        )
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
        (session.title or UNKNOWN) + _state(session),
    ]


def _state(session: SessionSummary) -> str:
    """What else is to be said of a session, behind its title."""
    said = []
    if session.parent_session_id:
        said.append("subagent")
    if session.child_sessions:
        said.append(plural(session.child_sessions, "subagent"))
    if session.removed_at_ms is not None:
        said.append("removed from the agent's database")
    return f" ({', '.join(said)})" if said else ""
