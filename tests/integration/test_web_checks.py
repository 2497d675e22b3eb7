"""Findings on the pages: the checks page, the request, the panel, the lane of the timeline."""

from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.check_factories import OTHER, RULE, a_bare_check_report, a_check_report
from tests.checks.breakers import BREAKERS
from tests.factories import SESSION, FakeService, a_column, a_timeline
from tests.integration.test_web_pages import HOSTILE, client
from tracer import service
from tracer.model.check_views import CheckReport, FindingView
from tracer.model.findings import Finding, Level
from tracer.model.surroundings import Surroundings
from tracer.service import Service


def shown(pages: TestClient, path: str) -> str:
    """The text of a page that is there."""
    response = pages.get(path)
    assert response.status_code == 200, response.text[:400]
    return unescape(response.text)


def checking(report: CheckReport, around: Surroundings | None = None) -> FakeService:
    """A service with four requests and a report."""
    columns = [a_column(n) for n in range(1, 5)]
    made = FakeService(a_timeline(columns=columns), around={SESSION: around} if around else None)
    made.report = report
    return made


def a_report() -> CheckReport:
    """The report of the usual session."""
    made = a_check_report()
    findings = [
        FindingView(replace(v.finding, key=f"r{v.seq}"), SESSION, v.session_title, v.seq,
                    v.prompt_index)
        for v in made.findings
    ]  # fmt: skip
    return replace(made, findings=tuple(findings))


def test_a_rule_stands_with_its_text_its_source_its_findings_and_what_it_needs() -> None:
    text = shown(client(checking(a_report())), "/checks")
    assert RULE.title in text and "Without one the model is sad." in text
    assert "docs/formats/zcode.md 9.2" in text
    assert 'href="/requests/r2?block=7#b7">message 3</a>' in text
    assert "first word <b>Hey</b>" in text and "expected <b>Hello</b>" in text
    assert "2 requests of 1 session</a>: needs the whole list" in text
    assert text.index(RULE.title) < text.index(OTHER.title), "errors before warnings"


def test_level_rule_and_session_are_in_the_address() -> None:
    pages = client(checking(a_report()))
    warnings = shown(pages, f"/checks?level={Level.WARNING}")
    assert OTHER.title in warnings and RULE.title not in warnings
    alone = shown(pages, f"/checks?session={SESSION}&rule={OTHER.name}")
    assert RULE.title not in alone and f"/checks?session={SESSION}&rule=demo/last-word" in alone
    assert pages.get("/checks?rule=demo/none").status_code == 422
    assert pages.get("/checks?level=worst").status_code == 422
    assert pages.get("/checks?session=nobody").status_code == 404


def test_many_findings_are_a_few_and_then_pages() -> None:
    one = a_report().findings[0]
    many = tuple(
        replace(one, finding=replace(one.finding, message=f"Number {n:03}.")) for n in range(130)
    )
    pages = client(checking(replace(a_report(), findings=many)))
    few = shown(pages, "/checks")
    assert "Number 004." in few and "Number 005." not in few and "all 130 findings" in few
    first, second = (shown(pages, f"/checks?rule={RULE.name}{x}") for x in ("", "&offset=100"))
    assert "Number 099." in first and "Number 100." not in first and "offset=100" in first
    assert "Number 100." in second and "Number 099." not in second


def test_rules_that_are_off_and_a_list_that_is_not_complete_say_so() -> None:
    off = shown(client(checking(a_bare_check_report())), "/checks")
    assert '<span class="tag">off</span>' in off
    outdated = shown(client(checking(replace(a_report(), outdated=3))), "/checks")
    assert "3 sessions not checked since something was stored" in outdated


def test_a_request_shows_its_findings_with_the_rule() -> None:
    text = shown(client(checking(a_report())), "/requests/r2")
    rules = text[text.index('id="rules"') :]
    assert "The first word is 'Hey'." in rules and "Without one the model is sad." in rules
    assert "show message 3" in rules and "#b7" in rules
    assert "2 rules run" in text
    assert 'id="rules"' not in shown(client(checking(a_report())), "/requests/r4")


def test_the_panel_names_what_the_selected_request_breaks() -> None:
    text = shown(client(checking(a_report())), f"/sessions/{SESSION}?request=r2")
    panel = text[text.index('<aside id="panel"') :]
    assert "The first word is 'Hey'." in panel and "lv-error" in panel


def test_the_lane_marks_the_gravest_finding_of_a_request() -> None:
    found = Surroundings(findings={"r2": {Level.WARNING: 2, Level.ERROR: 1}, "r3": {Level.INFO: 1}})
    text = shown(client(checking(a_report(), found)), f"/sessions/{SESSION}")
    assert "#g-rule-error" in text and "1 error, 2 warnings" in text
    assert "#g-rule-info" in text and "1 for information" in text


def test_findings_of_hostile_prompts_are_text() -> None:
    one = a_report().findings[0]
    bad = Finding(RULE.name, Level.ERROR, "r2", HOSTILE, 3, (("seen", HOSTILE),))
    pages = client(checking(replace(a_report(), findings=(replace(one, finding=bad),))))
    for path in ("/checks", "/requests/r2", f"/sessions/{SESSION}?request=r2"):
        assert HOSTILE not in pages.get(path).text


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, str]]:
    """A real session with a note behind the user's text, and the key of that request."""
    folder = tmp_path_factory.mktemp("broken")
    made = BREAKERS["zcode/notes-before-user-text"]()
    made.run.count()
    path = folder / "tracer.db"
    service.ingest(path, made.run.write(folder), count_tokens=False)
    found = Service(path)
    yield found, found.check().findings[0].finding.key


def test_a_real_finding_leads_to_its_message(broken: tuple[Service, str]) -> None:
    found, key = broken
    pages = client(found)
    (view,) = found.check().findings
    text = shown(pages, f"/requests/{key}?block={view.prompt_index}")
    row = text[text.index(f'id="b{view.prompt_index}"') :][:4000]
    assert "PostToolUse hook" in row
    assert f"#b{view.prompt_index}" in shown(pages, "/checks")
    assert "#g-rule-error" in shown(pages, f"/sessions/{view.session_id}")


def test_the_json_behind_the_page(broken: tuple[Service, str], tmp_path: Path) -> None:
    found, key = broken
    value = client(found).get("/data/checks").json()
    assert value["findings"][0]["key"] == key and value["rules_run"]
