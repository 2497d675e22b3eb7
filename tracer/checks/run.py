"""All rules over one session: what they found, what ran, what the log cannot decide."""

from collections.abc import Iterable
from dataclasses import dataclass

from tracer.checks.base import Found, Rule
from tracer.checks.case import CheckedRequest, CheckedSession
from tracer.model.findings import Finding, NotApplicable


@dataclass(frozen=True, slots=True)
class Undecided:
    """A rule that the log cannot decide, for one reason: the key of the first request where that
    is so (empty: the session as a whole), at how many requests, and the keys of all of them."""

    rule: str
    needs: str
    key: str
    requests: int
    keys: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Checked:
    """What the rules of a session's families found, by request and place; a broken place is told
    once, where it is first seen. `places` are those of the findings' messages in their prompts
    (the first block), in the same order. `rules_run` are the names of all rules that were asked."""

    findings: tuple[Finding, ...] = ()
    places: tuple[int | None, ...] = ()
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
    findings = collected.findings()
    places = tuple(_place(collected.requests[found.key], found) for found in findings)
    return Checked(findings, places, tuple(ran), collected.undecided())


class _Collected:
    """Findings without repetition: later requests carry a broken message along."""

    def __init__(self, session: CheckedSession) -> None:
        self.requests = {request.key: request for request in session.requests}
        self._places = {request.key: i for i, request in enumerate(session.requests)}
        self._findings: dict[tuple[object, ...], Finding] = {}
        # Of a rule and what it needs: the keys of the requests.
        self._undecided: dict[tuple[str, str], list[str]] = {}

    def add(self, found: Found) -> None:
        if isinstance(found, NotApplicable):
            self._undecided.setdefault((found.rule, found.needs), []).extend(found.keys)
            return
        known = self._findings.setdefault(self._identity(found), found)
        if self._places[known.key] > self._places[found.key]:
            self._findings[self._identity(found)] = found

    def undecided(self) -> tuple[Undecided, ...]:
        """In the order in which they came."""
        made = []
        for (rule, needs), keys in self._undecided.items():
            first = min(keys, key=self._places.__getitem__, default="")
            at = frozenset(keys)
            made.append(Undecided(rule, needs, first, len(at), at))
        return tuple(made)

    def _identity(self, found: Finding) -> tuple[object, ...]:
        messages = self.requests[found.key].messages
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


def _place(request: CheckedRequest, found: Finding) -> int | None:
    """The place in the prompt of the first block of a finding's message; None where it has none."""
    if found.message_index is None or found.message_index >= len(request.messages):
        return None
    at, index = len(request.tools) + (not request.tools_known), 0
    while index < found.message_index:
        message = request.messages[index]
        at += len(message.blocks)
        index += message.gap or 1  # a gap is one block, whatever it spans
    return at
