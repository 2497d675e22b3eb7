"""`tracer misses`: cache misses, the costliest first."""

from pathlib import Path

import click

from tracer.cache import all_causes
from tracer.cli.exits import ExitCode
from tracer.cli.explainview import cause_name
from tracer.cli.options import db_option, json_option, open_service, reveal_option, utf8
from tracer.cli.output import print_heading, print_json, print_table
from tracer.cli.table import Column
from tracer.cli.text import UNKNOWN, moment, number
from tracer.errors import UsageError
from tracer.jsonview.verdict import misses_json
from tracer.model.verdict_views import CauseTotal, Misses, MissView
from tracer.service import Service
from tracer.service.naming import session_id_of, short_session_ids
from tracer.words import plural

_CAUSES = (
    Column("cause"),
    Column("requests", right=True),
    Column("missed", right=True),
    Column("avoidable", right=True),
    Column("billed again", right=True),
)
_MISSES = (
    Column("billed again", right=True),
    Column("cause"),
    Column("request"),
    Column("started (UTC)"),
    Column("session"),
    Column("title", flexible=True),
    Column("what happened", flexible=True),
)


@click.command("misses")
@click.argument("session", default="", callback=utf8)
@click.option(
    "--cause", callback=utf8, default="", metavar="CODE", help="Only misses of this cause."
)
@click.option(
    "--limit", type=click.IntRange(min=1), default=50, show_default=True, help="At most so many."
)
@click.option(
    "--fail-over",
    type=click.IntRange(min=0),
    metavar="TOKENS",
    help="Exit with 1 if more tokens than this were billed again, over all misses.",
)
@reveal_option
@db_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    session: str,
    cause: str,
    limit: int,
    fail_over: int | None,
    db_path: Path | None,
    as_json: bool,
) -> None:
    """List cache misses of SESSION, or of all sessions, the costliest first.

    Not among them: rounding, growth, first requests, compactions, a user's switch of the model,
    and calls that failed or did not report what they read.
    """
    known_cause(cause)
    service = open_service(db_path)
    session_id = session_id_of(service, session) if session else ""
    found = service.misses(session_id, code=cause.upper(), limit=limit)
    if as_json:
        print_json(misses_json(found, session_id, fail_over))
    else:
        _print(service, found)
    failed = fail_over is not None and found.rebilled_tokens > fail_over
    if failed and not as_json:
        click.echo(f"\n{found.rebilled_tokens:,} tokens are more than --fail-over {fail_over:,}.")
    ctx.exit(ExitCode.FINDINGS if failed else ExitCode.FINE)


def known_cause(code: str) -> None:
    """Raises UsageError for a code that no cause has: a gate with a typo must not pass."""
    codes = sorted(cause.code for cause in all_causes())
    if code and code.upper() not in codes:
        raise UsageError(f"There is no cause {code!r}. Known: {', '.join(codes)}.")


def _print(service: Service, found: Misses) -> None:
    if not found.total:
        click.echo("No misses.")
    else:
        click.echo(
            f"{plural(found.total, 'miss', 'misses')}: {found.rebilled_tokens:,} tokens that were "
            f"cached once were billed again, {found.missed_tokens:,} of them although they were "
            f"reachable, {found.avoidable_tokens:,} put out of reach by the requests themselves."
        )
        print_heading("By cause")
        print_table(_CAUSES, map(_cause_row, found.causes))
        print_heading("Costliest first")
        short = short_session_ids(service, (miss.session_id for miss in found.misses))
        print_table(_MISSES, (_miss_row(miss, short[miss.session_id]) for miss in found.misses))
        if found.total > len(found.misses):
            click.echo(f"\n{len(found.misses):,} of {found.total:,}: see --limit.")
        click.echo("\n`tracer explain KEY` tells more of one, also by its SESSION:NUMBER.")
    if found.unjudged_sessions:
        click.echo(
            f"{plural(found.unjudged_sessions, 'session')} not judged yet: run "
            "`tracer ingest --all-verdicts`."
        )


def _cause_row(total: CauseTotal) -> list[str]:
    return [
        cause_name(total.code, total.subtype),
        number(total.requests),
        number(total.missed_tokens),
        number(total.avoidable_tokens),
        number(total.rebilled_tokens),
    ]


def _miss_row(miss: MissView, session: str) -> list[str]:
    return [
        number(miss.brief.rebilled_tokens),
        cause_name(miss.brief.code, miss.brief.subtype),
        miss.key,
        moment(miss.started_at_ms),
        f"{session}:{miss.seq}",
        miss.session_title or UNKNOWN,
        miss.brief.one_line,
    ]
