"""The JSON of checks (`check` in docs/json.md)."""

from tracer.jsonview.core import SCHEMA, JsonObject, known
from tracer.model.check_views import CheckReport, FindingView, RuleView, UndecidedView


def check_json(report: CheckReport, asked: str, fail_on: str) -> JsonObject:
    """What `tracer check --json` prints. `asked` is the session or the request, empty for all."""
    return {
        "schema": SCHEMA,
        "of": known(asked),
        "sessions": report.sessions,
        "fail_on": fail_on,
        "findings": [finding_json(view) for view in report.findings],
        "rules_run": list(report.rules_run),
        "not_applicable": [_undecided(view) for view in report.undecided],
        "off": [rule.name for rule in report.rules if rule.off],
        "rules": [_rule(rule) for rule in report.rules if rule.name in report.rules_run],
        "rules_version": report.rules_version,
    }


def finding_json(view: FindingView) -> JsonObject:
    """One finding; evidence is an object in the order in which it is to be read."""
    found = view.finding
    return {
        "rule": found.rule,
        "level": found.level.value,
        "key": found.key,
        "message": found.message,
        "message_index": found.message_index,
        "evidence": dict(found.evidence),
        "session_id": view.session_id,
        "seq": view.seq,
        "placed_key": known(view.placed_key),
        "placed_seq": view.placed_seq,
    }


def _undecided(view: UndecidedView) -> JsonObject:
    return {
        "rule": view.rule,
        "needs": view.needs,
        "session_id": view.session_id,
        "key": known(view.key),
        "requests": view.requests,
    }


def _rule(rule: RuleView) -> JsonObject:
    return {
        "name": rule.name,
        "level": rule.level.value,
        "title": rule.title,
        "text": rule.text,
        "source": f"docs/{rule.source}",
    }
