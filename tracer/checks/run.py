"""All rules over one session: what they found, what ran, what the log cannot decide."""

from collections.abc import Iterable
from dataclasses import dataclass

from tracer.checks.base import Found, Rule
from tracer.checks.case import CheckedSession
from tracer.model.findings import Finding, NotApplicable


@dataclass(frozen=True, slots=True)
class Undecided:
    """A rule that the log cannot decide, for one reason: the key of the first request where that
    is so (empty: the session as a whole), and at how many requests."""

    rule: str
    needs: str
    key: str
    requests: int


@dataclass(frozen=True, slots=True)
class Checked:
    """What the rules of a session's families found, by request and place; a broken place is told
    once, where it is first seen. `rules_run` are the names of all rules that were asked."""

    findings: tuple[Finding, ...] = ()
    rules_run: tuple[str, ...] = ()
    undecided: tuple[Undecided, ...] = ()


def run_rules(session: CheckedSession, rules: Iterable[Rule]) -> Checked:
    """Check a session by those of the rules whose family it is."""
    collected = _Collected(session)
    ran = []
    for rule in rules:
        if rule.applies(session):
            ran.append(rule.name)
            for found in rule.check(session):
                collected.add(found)
    return Checked(collected.findings(), tuple(ran), collected.undecided())


class _Collected:
    """Findings without repetition: later requests carry a broken message along."""

    def __init__(self, session: CheckedSession) -> None:
        self._requests = {request.key: request for request in session.requests}
        self._places = {request.key: i for i, request in enumerate(session.requests)}
        self._findings: dict[tuple[object, ...], Finding] = {}
        # Of a rule and what it needs: the first request's key, and how many there are.
        self._undecided: dict[tuple[str, str], list[str]] = {}

    def add(self, found: Found) -> None:
        if isinstance(found, NotApplicable):
            self._undecided.setdefault((found.rule, found.needs), []).append(found.key)
            return
        known = self._findings.setdefault(self._identity(found), found)
        if self._places[known.key] > self._places[found.key]:
            self._findings[self._identity(found)] = found

    def undecided(self) -> tuple[Undecided, ...]:
        """In the order in which they came."""
        return tuple(
            Undecided(rule, needs, keys[0], len({key for key in keys if key}))
            for (rule, needs), keys in self._undecided.items()
        )

    def _identity(self, found: Finding) -> tuple[object, ...]:
        messages = self._requests[found.key].messages
        at = found.message_index
        if at is None or not 0 <= at < len(messages):
            return (found.rule, found.key, at, found.message)
        return (found.rule, at, id(messages[at]), found.message)

    def findings(self) -> tuple[Finding, ...]:
        """In the order of requests, then of places, then of rules."""
        return tuple(
            sorted(
                self._findings.values(),
                key=lambda f: (
                    self._places[f.key],
                    -1 if f.message_index is None else f.message_index,
                    f.rule,
                ),
            )
        )
