"""What the agents' rules found, for the checks page and the request page."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tracer.model.check_views import CheckReport, FindingView, RuleView, UndecidedView
from tracer.model.findings import Level
from tracer.service import Service
from tracer.words import plural
from web.urls import SessionState, checks_url, request_url


@dataclass(frozen=True, slots=True)
class FindingRow:
    """One finding with its addresses: its message in the request, the request, its session, all
    findings of its rule, and the earlier request on which the verdict places it."""

    view: FindingView
    rule: RuleView | None
    message_href: str
    request_href: str
    session_href: str
    rule_href: str
    placed_href: str = ""


@dataclass(frozen=True, slots=True)
class Reason:
    """What a rule needs that logs do not hold: at how many requests of how many sessions, and the
    first of them."""

    needs: str
    where: str
    href: str


@dataclass(frozen=True, slots=True)
class RequestRules:
    """What the rules say of one request; `undecided` counts rules that its session's log cannot
    decide everywhere."""

    findings: tuple[FindingRow, ...]
    run: int
    undecided: int
    outdated: bool
    href: str


def rules_of_request(service: Service, key: str, session_id: str) -> RequestRules:
    """The findings of a request. Raises NotFoundError."""
    report = service.check_request(key, now=False)
    return RequestRules(
        findings=tuple(finding_rows(report, report.findings, session_id)),
        run=len(report.rules_run),
        undecided=len({view.rule for view in report.undecided}),
        outdated=bool(report.outdated),
        href=checks_url(session_id),
    )


def finding_rows(
    report: CheckReport, findings: Iterable[FindingView], session_id: str = ""
) -> Iterator[FindingRow]:
    """Findings with their addresses; those of their rules stay in a session where one is named."""
    rules = {rule.name: rule for rule in report.rules}
    for view in findings:
        found = view.finding
        yield FindingRow(
            view,
            rules.get(found.rule),
            request_url(found.key, block=view.prompt_index)
            if view.prompt_index is not None
            else "",
            request_url(found.key),
            SessionState(view.session_id, found.key).page,
            checks_url(session_id, found.rule),
            request_url(view.placed_key) if view.placed_key else "",
        )


def reasons(undecided: Iterable[UndecidedView]) -> tuple[Reason, ...]:
    """What one rule needs, over all sessions, the most frequent first."""
    found: dict[str, list[UndecidedView]] = {}
    for view in undecided:
        found.setdefault(view.needs, []).append(view)
    ranked = sorted(found.items(), key=lambda item: -sum(v.requests for v in item[1]))
    return tuple(Reason(needs, _where(views), _first(views)) for needs, views in ranked)


def _where(views: list[UndecidedView]) -> str:
    requests = sum(view.requests for view in views)
    sessions = plural(sum(view.sessions for view in views), "session")
    return f"{plural(requests, 'request')} of {sessions}" if requests else sessions


def _first(views: list[UndecidedView]) -> str:
    view = views[0]
    return request_url(view.key) if view.key else SessionState(view.session_id).page


def level_counts(report: CheckReport, rule: str) -> dict[Level, int]:
    """How many findings of each level there are, of one rule or of all."""
    counts = dict.fromkeys(Level, 0)
    for view in report.rules:
        if rule in ("", view.name):
            counts[view.level] += report.total(view.name)
    return counts
