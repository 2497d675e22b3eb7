"""Every rule keeps the contract of its registry, and has a run that breaks it and only it."""

import importlib
import pkgutil
import re

import pytest

from tests.checks.breakers import BREAKERS
from tests.contract.test_citations import citations_in, is_there
from tracer import checks
from tracer.checks import Rule, _skeleton, all_rules, rule_named
from tracer.checks.case import CheckedSession
from tracer.model.findings import Finding, Level, NotApplicable

RULES = all_rules()
ZCODE = [rule for rule in RULES if rule.family == "zcode"]


def test_a_file_a_rule_named_like_it() -> None:
    for family in ("zcode", "layout_14"):
        package = importlib.import_module(f"{checks.__name__}.{family}")
        files = {
            f"{family}/{info.name}".replace("_", "-")
            for info in pkgutil.iter_modules(package.__path__)
            if not info.name.startswith("_")
        }
        assert files == {r.name for r in RULES if r.family == family.replace("_", "-")}
    assert rule_named("zcode/nothing") is None


def test_the_skeleton_is_no_member() -> None:
    assert _skeleton.TITLE not in {rule.title for rule in RULES}
    assert not list(_skeleton.check(CheckedSession("s", "x", ())))


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.name)
def test_a_rule_explains_itself_to_people(rule: Rule) -> None:
    assert isinstance(rule.level, Level)
    assert 10 < len(rule.title) <= 80 and not rule.title.endswith(".")
    paragraphs = rule.text.split("\n\n")
    assert len(paragraphs) >= 2, "first what must hold, then why"
    assert all(len(p) > 40 and p.endswith((".", "`")) for p in paragraphs)


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.name)
def test_a_source_leads_to_a_section(rule: Rule) -> None:
    assert re.match(r"(?:formats/[\w-]+|design|cache-rules)\.md [\d.]+", rule.source), rule.source
    assert all(is_there(citation.target) for citation in citations_in(rule.source))


def test_titles_are_told_apart() -> None:
    assert len({rule.title for rule in RULES}) == len(RULES)


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.name)
def test_a_session_without_requests_breaks_nothing(rule: Rule) -> None:
    found = list(rule.check(CheckedSession("sess_empty", "ZCode", ())))
    assert not [f for f in found if isinstance(f, Finding)]
    assert all(isinstance(f, NotApplicable) and f.needs for f in found)


def test_each_rule_of_zcode_has_a_run_that_breaks_it() -> None:
    assert BREAKERS.keys() == {rule.name for rule in ZCODE}
