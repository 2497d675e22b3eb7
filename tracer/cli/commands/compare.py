"""`tracer compare`: two sessions, aligned by what their prompts were made of."""

from pathlib import Path

import click

from tracer.cli.options import db_option, json_option, open_service, reveal_option, utf8
from tracer.cli.output import print_heading, print_json, print_table
from tracer.cli.table import Column
from tracer.cli.text import UNKNOWN, number, percent, visible
from tracer.jsonview.session_comparison import compare_json
from tracer.model.session_comparison import (
    STATE_WORDS,
    Member,
    SessionComparison,
    SessionRow,
    State,
)
from tracer.model.views import SessionSummary
from tracer.service.naming import session_id_of
from tracer.words import plural

_FIGURES = (Column("figure"), Column("A", right=True), Column("B", right=True))
_ROWS = (
    Column("kind"),
    Column("name"),
    Column("state"),
    Column("A", right=True),
    Column("B", right=True),
)


@click.command("compare")
@click.argument("a", callback=utf8, metavar="SESSION_A")
@click.argument("b", callback=utf8, metavar="SESSION_B")
@click.option("--all", "everything", is_flag=True, help="Also list what is the same in both.")
@reveal_option
@db_option
@json_option
def command(a: str, b: str, everything: bool, db_path: Path | None, as_json: bool) -> None:
    """Compare two sessions: sections, tools, reminders, models and usage.

    Sections and tools are compared by their texts over all requests of the conversation, reminders
    by how often they stand in it. `tracer diff` compares the prompts of two requests.
    """
    service = open_service(db_path)
    compared = service.compare_sessions(session_id_of(service, a), session_id_of(service, b))
    if as_json:
        print_json(compare_json(compared))
    else:
        _print(compared, everything=everything)


def _print(compared: SessionComparison, *, everything: bool) -> None:
    for name, side in (("A", compared.a), ("B", compared.b)):
        session = side.session
        click.echo(visible(f"{name}  {session.session_id}  {session.title}".rstrip()))
    print_heading("Figures")
    print_table(_FIGURES, _figures(compared.a.session, compared.b.session))
    rows = [row for row in compared.rows if everything or row.state is not State.SAME]
    if rows:
        print_heading("Prompts")
        print_table(_ROWS, map(_row, rows))
    same = len(compared.rows) - len(rows)
    if same:
        what = plural(same, "thing is", "things are")
        click.echo(f"\n{what} the same in both: see --all.")


def _figures(a: SessionSummary, b: SessionSummary) -> list[list[str]]:
    return [
        ["requests", number(a.requests), number(b.requests)],
        ["turns", number(a.turns), number(b.turns)],
        ["failed", number(a.failed_requests), number(b.failed_requests)],
        ["input", _input(a), _input(b)],
        ["hit rate", percent(a.usage.hit_rate), percent(b.usage.hit_rate)],
        ["hit rate, growth-corrected", percent(a.corrected_rate), percent(b.corrected_rate)],
        ["misses", number(a.misses), number(b.misses)],
        ["billed again", number(a.rebilled_tokens), number(b.rebilled_tokens)],
    ]


def _input(session: SessionSummary) -> str:
    usage = session.usage
    return number(usage.input_tokens) if usage.reported_requests else UNKNOWN


def _row(row: SessionRow) -> list[str]:
    return [row.group.value, row.name, STATE_WORDS[row.state], _member(row.a), _member(row.b)]


def _member(member: Member | None) -> str:
    if member is None:
        return UNKNOWN
    texts = f", {plural(len(member.versions), 'text')}" if member.versions else ""
    times = f", {member.count:,} times" if member.count != member.requests else ""
    return f"{plural(member.requests, 'request')}{texts or times}"
