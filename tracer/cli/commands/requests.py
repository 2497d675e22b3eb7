"""`tracer requests`: the requests of a session."""

from pathlib import Path

import click

from tracer.cli.options import db_option, json_option, open_service, reveal_option, utf8
from tracer.cli.output import print_json, print_table
from tracer.cli.table import Column
from tracer.cli.text import UNKNOWN, duration, moment, number
from tracer.jsonview.request import requests_json
from tracer.model.views import RequestSummary
from tracer.service.naming import session_id_of

_COLUMNS = (
    Column("no.", right=True),
    Column("key"),
    Column("started (UTC)"),
    Column("took", right=True),
    Column("status"),
    Column("lane", flexible=True),
    Column("turn", right=True),
    Column("messages", right=True),
    Column("observed"),
    Column("input", right=True),
    Column("cache read", right=True),
    Column("cache write", right=True),
    Column("output", right=True),
)


@click.command("requests")
@click.argument("session", callback=utf8)
@reveal_option
@db_option
@json_option
def command(session: str, db_path: Path | None, as_json: bool) -> None:
    """List the requests of SESSION by start time.

    SESSION is an id or a unique beginning of one.
    """
    service = open_service(db_path)
    session_id = session_id_of(service, session)
    requests = service.requests(session_id)
    if as_json:
        print_json(requests_json(session_id, requests))
        return
    print_table(_COLUMNS, map(_row, requests))


def _row(request: RequestSummary) -> list[str]:
    usage = request.usage
    attempt = f" (attempt {request.attempt} of {request.attempts})" if request.attempts > 1 else ""
    return [
        str(request.seq),
        request.key,
        moment(request.started_at_ms),
        duration(request.duration_ms),
        f"{request.status}{attempt}",
        request.lane,
        UNKNOWN if request.turn_number is None else str(request.turn_number),
        number(request.message_count),
        request.observed,
        number(usage.input_tokens if usage else None),
        number(usage.cache_read_tokens if usage else None),
        number(usage.cache_write_tokens if usage else None),
        number(usage.output_tokens if usage else None),
    ]
