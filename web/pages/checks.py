"""The checks: every rule with its text and source, what it found, and what it cannot decide."""

from dataclasses import dataclass
from typing import ClassVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tracer.errors import UsageError
from tracer.model.check_views import CheckReport, RuleView
from tracer.model.findings import Level
from tracer.model.views import SessionSummary
from tracer.service import Service
from web.checks import FindingRow, Reason, finding_rows, level_counts, reasons
from web.filters import one_line
from web.params import one_of, whole_number
from web.rendering import Chrome, Crumb, chrome, render, service_of
from web.urls import SessionState, checks_url

FEW, MANY = 5, 100
LEVELS = ("", *(level.value for level in Level))


@dataclass(frozen=True, slots=True)
class Choice:
    """A level to choose, with how many findings it has."""

    name: str
    count: int
    href: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class RuleBox:
    """One rule. `state` is `found`, `undecided`, `holds`, `not run` or `off`; `rows` are its first
    findings, `more` the address of all of them where there are more."""

    rule: RuleView
    anchor: str
    state: str
    total: int
    rows: tuple[FindingRow, ...]
    reasons: tuple[Reason, ...]
    more: str
    href: str


@dataclass(frozen=True, slots=True)
class CheckList:
    """All rules, those with findings first. Addresses are empty where there is no such page."""

    report: CheckReport
    session: SessionSummary | None
    session_href: str
    rule: str
    level: str
    levels: tuple[Choice, ...]
    boxes: tuple[RuleBox, ...]
    holding: int
    undecided: int
    whole_href: str
    fragment: str
    before: str
    after: str


@dataclass(frozen=True)
class ChecksPage:
    """The whole page."""

    template: ClassVar[str] = "pages/checks.html"
    chrome: Chrome
    found: CheckList


@dataclass(frozen=True)
class ChecksFragment:
    """The rules alone."""

    template: ClassVar[str] = "partials/_checks.html"
    found: CheckList


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the address asks for."""

    session: str
    rule: str
    level: str
    offset: int

    def url(self, offset: int) -> str:
        return checks_url(self.session, self.rule, self.level, offset)


def _asked(request: Request) -> _Asked:
    rule = request.query_params.get("rule", "")
    known = {view.name for view in service_of(request).rules()}
    if rule and rule not in known:
        raise UsageError(f"There is no rule “{rule[:80]}”.")
    return _Asked(
        request.query_params.get("session", ""),
        rule,
        one_of(request, "level", LEVELS),
        whole_number(request, "offset") or 0,
    )


def _list(request: Request, service: Service) -> CheckList:
    asked = _asked(request)
    session = service.session(asked.session) if asked.session else None
    report = _report(service, asked)
    rules = [r for r in report.rules if asked.rule in ("", r.name)]
    if asked.level:
        rules = [r for r in rules if r.level.value == asked.level and report.total(r.name)]
    boxes = [_box(report, rule, asked) for rule in rules]
    most = max((box.total for box in boxes), default=0) if asked.rule else 0
    end = asked.offset + MANY
    return CheckList(
        report=report,
        session=session,
        session_href=SessionState(asked.session).page if session else "",
        rule=asked.rule,
        level=asked.level,
        levels=_levels(report, asked),
        boxes=tuple(sorted(boxes, key=_rank)),
        holding=sum(box.state == "holds" for box in boxes),
        undecided=len({view.rule for view in report.undecided}),
        whole_href=checks_url(asked.session if asked.rule or asked.level else ""),
        fragment="/fragments" + asked.url(asked.offset),
        before=asked.url(max(0, asked.offset - MANY)) if asked.rule and asked.offset else "",
        after=asked.url(end) if end < most else "",
    )


def _report(service: Service, asked: _Asked) -> CheckReport:
    """A session's whole report, or some findings of all sessions."""
    if asked.session:
        return service.check(asked.session, now=False)
    limit, offset = (MANY, asked.offset) if asked.rule else (FEW, 0)
    return service.check_overview(asked.rule, limit=limit, offset=offset)


def _levels(report: CheckReport, asked: _Asked) -> tuple[Choice, ...]:
    counts = level_counts(report, asked.rule)
    whole = checks_url(asked.session, asked.rule)
    every = Choice("all levels", sum(counts.values()), whole, not asked.level)
    return every, *(
        Choice(
            level.value,
            count,
            checks_url(asked.session, asked.rule, level.value),
            asked.level == level.value,
        )
        for level, count in counts.items()
    )


def _box(report: CheckReport, rule: RuleView, asked: _Asked) -> RuleBox:
    own = [view for view in report.findings if view.finding.rule == rule.name]
    total = report.total(rule.name)
    undecided = [view for view in report.undecided if view.rule == rule.name]
    first = asked.offset if asked.rule and asked.session else 0
    some = own[first : first + (MANY if asked.rule else FEW)]
    state = "undecided" if undecided else "holds"
    if rule.off or rule.name not in report.rules_run:
        state = "off" if rule.off else "not run"
    whole = checks_url(asked.session, rule.name, asked.level)
    return RuleBox(
        rule=rule,
        anchor=rule.name.replace("/", "-"),
        state="found" if total else state,
        total=total,
        rows=tuple(finding_rows(report, some, asked.session)),
        reasons=reasons(undecided),
        more=whole if not asked.rule and total > FEW else "",
        href=whole,
    )


def _rank(box: RuleBox) -> tuple[int, int, str]:
    states = ("found", "undecided", "holds", "not run", "off")
    return states.index(box.state), tuple(Level).index(box.rule.level), box.rule.name


def checks(request: Request) -> Response:
    """The page."""
    service = service_of(request)
    revision = service.revision()
    found = _list(request, service)
    crumbs = [Crumb("Sessions", "/")]
    if found.session is not None:
        name = one_line(found.session.title) or found.session.session_id
        crumbs.append(Crumb(name, found.session_href))
    frame = chrome(request, "Checks", *crumbs, Crumb("Checks"), revision=revision)
    return render(request, ChecksPage(chrome=frame, found=found))


def checks_fragment(request: Request) -> Response:
    """The rules alone."""
    return render(request, ChecksFragment(found=_list(request, service_of(request))))


ROUTES = (
    Route("/checks", checks, name="checks"),
    Route("/fragments/checks", checks_fragment, name="checks.rules"),
)
