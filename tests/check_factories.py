"""Reports of checks, made by hand."""

from dataclasses import replace

from tracer.model.check_views import CheckReport, FindingView, RuleView, UndecidedView
from tracer.model.findings import Finding, Level
from tracer.service import Service


class CheckingFake(Service):
    """Answers for rules from memory: a report of every session, nothing found unless given."""

    report: CheckReport | None = None

    def check(self, session_id: str = "", *, now: bool = True) -> CheckReport:
        """The given report, with the findings of that session."""
        made = self.report or CheckReport((), (RULE.name, OTHER.name), (), (RULE, OTHER))
        own = (v for v in made.findings if session_id in ("", v.session_id))
        return replace(made, findings=tuple(own))

    def check_overview(self, rule: str = "", *, limit: int = 5, offset: int = 0) -> CheckReport:
        """The given report, with some findings of each rule."""
        made = self.check()
        totals = {r.name: made.total(r.name) for r in made.rules}
        some: list[FindingView] = []
        for name in totals if not rule else (rule,):
            own = [v for v in made.findings if v.finding.rule == name]
            some += own[offset : offset + limit]
        return replace(made, findings=tuple(some), totals=totals)

    def check_request(self, key: str, *, now: bool = True) -> CheckReport:
        """The given report, with the findings of that request."""
        made = self.check()
        own = (v for v in made.findings if v.finding.key == key)
        return replace(made, findings=tuple(own))

    def rules(self) -> tuple[RuleView, ...]:
        """The two rules."""
        return RULE, OTHER


RULE = RuleView(
    "demo/first-word",
    Level.ERROR,
    "The first word is a greeting",
    "A prompt begins with a greeting.\n\nWithout one the model is sad.",
    "formats/zcode.md 9.2",
)
OTHER = RuleView(
    "demo/last-word", Level.WARNING, "The last word is thanks", "Say thanks.", "design.md 9"
)


def a_check_report() -> CheckReport:
    """A report with a finding in a message, one about a request, and a rule that is undecided."""
    found = Finding(
        RULE.name,
        RULE.level,
        "k2",
        "The first word is 'Hey'.",
        3,
        (("first word", "Hey"), ("expected", "Hello")),
    )
    whole = Finding(OTHER.name, OTHER.level, "k3", "Nothing is said at the end.")
    return CheckReport(
        findings=(
            FindingView(found, "sess_demo", "Fix the uploader", 2, 7),
            FindingView(whole, "sess_demo", "", 3),
        ),
        rules_run=(RULE.name, OTHER.name),
        undecided=(
            UndecidedView(OTHER.name, "the whole list", "sess_demo", "k4", 2),
            UndecidedView(OTHER.name, "a debug log", "sess_demo", "", 0),
        ),
        rules=(RULE, OTHER),
        rules_version="1:00000000",
    )


def a_bare_check_report() -> CheckReport:
    """A report of no session, with everything switched off."""
    off = replace(RULE, off=True)
    return CheckReport((), (), (), (off,), sessions=0, rules_version="1:00000000")
