"""`tracer check`: what the agent's own rules found."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from enum import Enum
from pathlib import Path
from textwrap import wrap

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
from tracer.cli.output import print_heading, print_json, print_table, terminal_width
from tracer.cli.table import Column
from tracer.cli.text import UNKNOWN, visible
from tracer.errors import NotFoundError
from tracer.jsonview.checks import check_json
from tracer.model.check_views import CheckReport, FindingView, UndecidedView
from tracer.model.findings import Level
from tracer.service import Service
from tracer.service.naming import key_of, session_id_of, short_session_ids
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
_FINDINGS_OF_ALL = (*_FINDINGS[:-1], Column("session"), _FINDINGS[-1])
_PRINTED_WIDTH = 100
"""How wide a list of rules is where the output is no terminal."""


class _Scope(Enum):
    """What was checked."""

    ALL = "all"
    SESSION = "session"
    REQUEST = "request"


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
    whole, scope = _report(service, what)
    report = _narrowed(whole, wanted, Level(level))
    if as_json:
        print_json(check_json(report, what, fail_on))
    else:
        _print(service, report, Level(level), scope)
    ctx.exit(ExitCode.FINDINGS if _fails(report, fail_on) else ExitCode.FINE)


def _report(service: Service, what: str) -> tuple[CheckReport, _Scope]:
    """The report of what a user names: a session first, else a request."""
    if not what:
        return service.check(), _Scope.ALL
    try:
        return service.check(session_id_of(service, what)), _Scope.SESSION
    except NotFoundError:
        try:
            return service.check_request(key_of(service, what)), _Scope.REQUEST
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


def _print(service: Service, report: CheckReport, level: Level, scope: _Scope) -> None:
    if not report.rules_run:
        click.echo("No rule was run: there are none for this agent, or all are switched off.")
        return
    undecided = {view.rule for view in report.undecided}
    where = f" over {plural(report.sessions, 'session')}" if scope is _Scope.ALL else ""
    click.echo(
        f"{plural(len(report.rules_run), 'rule')} run{where}: {_counts(report, level)}; "
        f"{plural(len(undecided), 'rule')} could not be decided "
        f"{'here' if scope is _Scope.REQUEST else 'at every request'}."
    )
    if report.findings:
        print_heading("Findings")
        if scope is _Scope.ALL:
            short = short_session_ids(service, (view.session_id for view in report.findings))
            print_table(
                _FINDINGS_OF_ALL,
                (_finding_row(view, short[view.session_id]) for view in report.findings),
            )
        else:
            print_table(_FINDINGS, map(_finding_row, report.findings))
    if report.undecided:
        print_heading("Not applicable")
        _print_undecided(report.undecided, scope)


def _counts(report: CheckReport, level: Level) -> str:
    """How many findings of each level there are, of those levels that are listed."""
    found = Counter(view.finding.level for view in report.findings)
    words = {
        Level.ERROR: plural(found[Level.ERROR], "error"),
        Level.WARNING: plural(found[Level.WARNING], "warning"),
        Level.INFO: f"{found[Level.INFO]:,} for information",
    }
    told = ", ".join(words[one] for one in _LEVELS if _as_bad(one, level))
    return told + (
        f" (--level {level.value}: others are left out)" if level is not _LEVELS[-1] else ""
    )


def _finding_row(view: FindingView, session: str = "") -> list[str]:
    found = view.finding
    at = UNKNOWN if found.message_index is None else str(found.message_index)
    place = f"{found.key} (#{view.seq})"
    what = f"{found.message} {view.placed}" if view.placed else found.message
    return [found.level.value, found.rule, place, at, *([session] if session else ()), what]


def _print_undecided(views: Iterable[UndecidedView], scope: _Scope) -> None:
    """What logs do not hold, each with the rules that need it, over all sessions."""
    needs: dict[str, dict[str, list[UndecidedView]]] = {}
    for view in views:
        needs.setdefault(view.needs, {}).setdefault(view.rule, []).append(view)
    for need, rules in sorted(needs.items(), key=lambda item: (-len(item[1]), item[0])):
        where = "" if scope is _Scope.REQUEST else _undecided_where(rules.values())
        click.echo(visible(f"{plural(len(rules), 'rule')}{where}, for want of: {need}"))
        for line in wrap(", ".join(sorted(rules)), _width(), break_on_hyphens=False):
            click.echo(f"  {line}")


def _undecided_where(rules: Collection[Sequence[UndecidedView]]) -> str:
    """At how many requests rules are undecided, and which is the first."""
    counts = sorted(sum(view.requests for view in views) for views in rules)
    if not counts[-1]:
        return ""
    first = next(view.key for views in rules for view in views if view.key)
    some = f"{counts[0]:,} to " if counts[0] != counts[-1] else ""
    return f" at {some}{plural(counts[-1], 'request')} (first {first})"


def _width() -> int:
    return (terminal_width() or _PRINTED_WIDTH) - 2
