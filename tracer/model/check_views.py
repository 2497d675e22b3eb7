"""What the agents' rules found, as pages and the command line show it."""

from collections.abc import Mapping
from dataclasses import dataclass

from tracer.model.findings import Finding, Level


@dataclass(frozen=True, slots=True)
class RuleView:
    """A rule for people: `text` says in our words what must hold and why, in paragraphs; `source`
    is the section of a document under `docs/`. `off` tells that the settings switch it off."""

    name: str
    level: Level
    title: str
    text: str
    source: str
    off: bool = False


@dataclass(frozen=True, slots=True)
class FindingView:
    """A finding, and where its request stands. `prompt_index` is the place in the prompt of the
    first block of its message; None where it is about the request as a whole. `placed_key` and
    `placed_seq` name the earlier request on which the verdict on its cache places the change that
    was found, where its own record does not show the message."""

    finding: Finding
    session_id: str
    session_title: str
    seq: int
    prompt_index: int | None = None
    placed_key: str = ""
    placed_seq: int | None = None

    @property
    def placed(self) -> str:
        """At which earlier request the change was very likely made, as a sentence; empty where
        nothing tells of one."""
        if self.placed_seq is None:
            return ""
        return (
            f"Very likely changed at request {self.placed_seq:,} ({self.placed_key}) already: the "
            "verdict on its cache infers it from where the read stopped; the records in between do "
            "not show the message."
        )


@dataclass(frozen=True, slots=True)
class UndecidedView:
    """A rule that a session's log cannot decide, and what would decide it. `key` is the first of
    the `requests` where that is so; empty and 0 for the session as a whole. Where several sessions
    are summed, `sessions` counts them, and one of them stands for all."""

    rule: str
    needs: str
    session_id: str
    key: str
    requests: int
    sessions: int = 1


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What the rules say of a session, of one of its requests, or of all sessions.

    `rules_run` are the names of the rules that were asked and are not switched off; `rules` are all
    that there are. A rule that was run, found nothing and is not undecided holds. `outdated` counts
    sessions of which something was stored that was not checked yet. `totals` gives the number of
    findings by rule where `findings` are only some of them.
    """

    findings: tuple[FindingView, ...]
    rules_run: tuple[str, ...]
    undecided: tuple[UndecidedView, ...]
    rules: tuple[RuleView, ...]
    sessions: int = 1
    rules_version: str = ""
    outdated: int = 0
    totals: Mapping[str, int] | None = None

    def total(self, rule: str) -> int:
        """How many findings a rule has."""
        if self.totals is not None:
            return self.totals.get(rule, 0)
        return sum(view.finding.rule == rule for view in self.findings)

    def rule(self, name: str) -> RuleView | None:
        """The rule with that name, if this program still has it."""
        return next((rule for rule in self.rules if rule.name == name), None)
