"""`tracer check`: what the agent's own rules found."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import click

from tracer.cli.exits import ExitCode
from tracer.cli.options import (
    config_option,
    db_option,
    json_option,
    open_service,
    reveal_option,
    utf8,
)
from tracer.cli.output import print_heading, print_json, print_table
from tracer.cli.table import Column
from tracer.cli.text import UNKNOWN, number
from tracer.errors import NotFoundError
from tracer.jsonview.checks import check_json
from tracer.model.check_views import CheckReport, FindingView, UndecidedView
from tracer.model.findings import Level
from tracer.service import Service
from tracer.service.naming import key_of, session_id_of
from tracer.service.settings import named_rules
from tracer.words import plural

NEVER = "never"
_LEVELS = tuple(Level)
_FINDINGS = (
    Column("level"),
    Column("rule"),
    Column("request"),
    Column("message", right=True),
    Column("what was found", flexible=True),
)
_UNDECIDED = (
    Column("rule"),
    Column("requests", right=True),
    Column("first"),
    Column("needs", flexible=True),
)


@click.command("check")
@click.argument("what", default="", metavar="[SESSION|KEY]", callback=utf8)
@click.option(
    "--level",
    type=click.Choice([level.value for level in _LEVELS]),
    default=Level.INFO.value,
    show_default=True,
    help="Only findings of this level and worse ones.",
)
@click.option(
    "--rule", "rules", multiple=True, callback=lambda _c, _p, v: v, metavar="NAME",
    help="Only this rule, or all of a FAMILY/*; may be given several times.",
)  # fmt: skip
@click.option(
    "--fail-on",
    type=click.Choice([*(level.value for level in _LEVELS), NEVER]),
    default=Level.ERROR.value,
    show_default=True,
    help="Exit with 1 if a listed finding has this level or a worse one.",
)
@config_option
@reveal_option
@db_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    what: str,
    level: str,
    rules: tuple[str, ...],
    fail_on: str,
    config: Path | None,
    db_path: Path | None,
    as_json: bool,
) -> None:
    """Check SESSION, one request (KEY), or all sessions by the rules of their agents.

    A rule that the log cannot decide is listed with what it needs: it does not count as kept.
    """
    service = open_service(db_path, config=config)
    wanted = frozenset(name for given in rules for name in named_rules(given))
    report = _narrowed(_report(service, what), wanted, Level(level))
    if as_json:
        print_json(check_json(report, what, fail_on))
    else:
        _print(report, many=not what)
    ctx.exit(ExitCode.FINDINGS if _fails(report, fail_on) else ExitCode.FINE)


def _report(service: Service, what: str) -> CheckReport:
    """The report of what a user names: a session first, else a request."""
    if not what:
        return service.check()
    try:
        return service.check(session_id_of(service, what))
    except NotFoundError:
        try:
            return service.check_request(key_of(service, what))
        except NotFoundError as error:
            raise NotFoundError(
                f"There is no session and no request {what!r} in this database."
            ) from error


def _narrowed(report: CheckReport, rules: frozenset[str], level: Level) -> CheckReport:
    def wanted(name: str) -> bool:
        return not rules or name in rules

    return replace(
        report,
        findings=tuple(
            view
            for view in report.findings
            if wanted(view.finding.rule) and _as_bad(view.finding.level, level)
        ),
        rules_run=tuple(name for name in report.rules_run if wanted(name)),
        undecided=tuple(view for view in report.undecided if wanted(view.rule)),
    )


def _as_bad(level: Level, limit: Level) -> bool:
    return _LEVELS.index(level) <= _LEVELS.index(limit)


def _fails(report: CheckReport, fail_on: str) -> bool:
    return fail_on != NEVER and any(
        _as_bad(view.finding.level, Level(fail_on)) for view in report.findings
    )


def _print(report: CheckReport, *, many: bool) -> None:
    if not report.rules_run:
        click.echo("No rule was run: there are none for this agent, or all are switched off.")
        return
    counts = [
        plural(sum(v.finding.level is level for v in report.findings), level.value)
        for level in (Level.ERROR, Level.WARNING)
    ]
    infos = sum(v.finding.level is Level.INFO for v in report.findings)
    undecided = {view.rule for view in report.undecided}
    click.echo(
        f"{plural(len(report.rules_run), 'rule')} run"
        + (f" over {plural(report.sessions, 'session')}" if many else "")
        + f": {', '.join(counts)}, {infos} for information; "
        f"{len(undecided)} could not be decided everywhere."
    )
    if report.findings:
        print_heading("Findings")
        print_table(_FINDINGS, map(_finding_row, report.findings))
    if report.undecided:
        print_heading("Not applicable")
        print_table(_UNDECIDED, _undecided_rows(report.undecided))


def _finding_row(view: FindingView) -> list[str]:
    found = view.finding
    at = UNKNOWN if found.message_index is None else str(found.message_index)
    place = f"{found.key} (#{view.seq})"
    return [found.level.value, found.rule, place, at, found.message]


def _undecided_rows(views: Iterable[UndecidedView]) -> Iterator[list[str]]:
    """One row a rule and a reason, over all sessions."""
    merged: dict[tuple[str, str], tuple[int, str]] = {}
    for view in views:
        requests, first = merged.get((view.rule, view.needs), (0, view.key))
        merged[view.rule, view.needs] = requests + view.requests, first or view.key
    for (rule, needs), (requests, first) in sorted(merged.items()):
        yield [rule, number(requests or None), first or UNKNOWN, needs]
