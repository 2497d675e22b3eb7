"""A finding of a change that only a later record shows, and the verdict that places it."""

import json
from html import unescape
from pathlib import Path

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from tests.samples import SAMPLES
from tracer import service
from tracer.cli import main
from tracer.service import Service
from web.app import create_app

LONG = "sess_32d58b9a"
FROZEN = "zcode/frozen-snapshot"


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("placed") / "tracer.db"
    stable = SAMPLES / "context-trace" / "broken-prompt-stable"
    service.ingest(
        path, [str(SAMPLES / "zcode" / "windowed-long"), str(stable)], count_tokens=False
    )
    return path


def test_the_finding_names_the_request_at_which_the_verdict_places_the_change(db: Path) -> None:
    views = Service(db).check(Service(db).session_ids_like(LONG)[0]).findings
    (frozen,) = (view for view in views if view.finding.rule == FROZEN)
    assert (frozen.seq, frozen.placed_seq) == (64, 42)
    verdict = Service(db).explain(frozen.placed_key).verdict
    assert verdict.causes[0].shown_by == frozen.finding.key
    assert verdict.causes[0].message_index == frozen.finding.message_index


def test_a_change_that_its_own_record_shows_is_placed_nowhere_else(db: Path) -> None:
    views = Service(db).check("broken-prompt-stable").findings
    assert views and not any(view.placed for view in views)


def test_the_terminal_and_the_pages_say_it_and_lead_there(db: Path) -> None:
    runner = CliRunner(env={"TRACER_DB": str(db)})
    told = "Very likely changed at request 42 ("
    assert told in runner.invoke(main, ["check", LONG]).stdout
    findings = json.loads(runner.invoke(main, ["check", LONG, "--json"]).stdout)["findings"]
    (frozen,) = (f for f in findings if f["rule"] == FROZEN)
    assert frozen["placed_seq"] == 42
    assert told in runner.invoke(main, ["show", f"{LONG}:64", "--blocks-limit", "0"]).stdout
    pages = TestClient(create_app(Service(db)), base_url="http://127.0.0.1:8321")
    session = frozen["session_id"]
    for address in (f"/requests/{frozen['key']}", f"/checks?session={session}", "/checks"):
        page = unescape(pages.get(address).text)
        assert told in page
        assert f'class="placed" href="/requests/{frozen["placed_key"]}"' in page
