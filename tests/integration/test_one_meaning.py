"""One figure has one meaning and one name wherever it stands, on pages and in commands."""

import json
import re
from html import unescape
from pathlib import Path

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from tests.samples import SAMPLES
from tracer.cli import main
from tracer.service import Service, ingest
from web.app import create_app

LONG, SHORT = "sess_32d58b9a-db43-405d-a639-d6b90877abb3", "sess_32d58b9a"
MISSED = 53


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A long session in windows, and another beside it."""
    path = tmp_path_factory.mktemp("meaning") / "x.db"
    ingest(path, [str(SAMPLES / "zcode" / name) for name in ("windowed-long", "chinese")])
    return path


@pytest.fixture(scope="module")
def web(db: Path) -> TestClient:
    return TestClient(create_app(Service(db)), base_url="http://127.0.0.1:8321")


def told(db: Path, *arguments: str) -> str:
    result = CliRunner(env={"TRACER_DB": str(db)}).invoke(main, arguments)
    assert result.exit_code == 0, result.output
    return result.output


def text(web: TestClient, path: str) -> str:
    response = web.get(path)
    assert response.status_code == 200, path
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", response.text)))


def keys(db: Path) -> list[str]:
    return [request.key for request in Service(db).requests(LONG)]


def test_the_timeline_and_the_turns_give_the_same_figures(web: TestClient) -> None:
    pages = [text(web, f"/sessions/{LONG}{page}") for page in ("", "/story")]
    for name in (r"Prompts logged 72 of 72 requests · 32 windowed",
                 r"Hit rate, growth-corrected [\d.]+ % [\d.]+ % of all input"):  # fmt: skip
        found = [re.findall(name, page) for page in pages]
        assert found[0] and found[0] == found[1], name


def test_the_doctor_tells_of_windows(db: Path) -> None:
    said = told(db, "doctor", "--session", SHORT)
    assert said.startswith(LONG), "no empty line stands first"
    assert "Some prompts are windowed" in said and "32 of them are windowed" in said
    (session,) = json.loads(told(db, "doctor", "--session", SHORT, "--json"))["sessions"]
    assert (session["prompts"], session["windowed_prompts"]) == (72, 32)


def test_counts_on_two_scales_are_told_apart(db: Path, web: TestClient) -> None:
    before, missed = keys(db)[MISSED - 2 : MISSED]
    for said in (text(web, f"/compare/{before}/{missed}"), told(db, "diff", f"{SHORT}:{MISSED}")):
        assert "2,912 BPE tokens in 126 blocks" in said
        assert "prefix 2,912 of 2,928 BPE tokens equal" in said
        assert "all of its 4,895 tokens as billed stand at the head" in said
    changed = text(web, f"/requests/{keys(db)[41]}")
    assert "2,521 BPE tokens in 103 blocks" in changed
    assert "≈ token 1,006 of 4,146 as billed" in changed
    assert "part at about token 1,006 as billed" in changed
    shown = told(db, "show", f"{SHORT}:42")
    assert "Usage, as the provider billed it" in shown and "  BPE tokens" in shown
    page = text(web, f"/sessions/{LONG}")
    assert re.search(r"BPE tokens, top [\d.]+ K", page) and re.search(r"billed, top [\d.]+ K", page)


def test_a_list_of_misses_names_requests_so_that_explain_takes_them(db: Path) -> None:
    named = re.findall(r"\S+:\d+(?=  )", told(db, "misses").partition("Costliest first")[2])
    places = [name for name in named if name.startswith("sess_")]
    assert f"{SHORT}:{MISSED}" in places
    for place in places:
        assert told(db, "explain", place).startswith(f"Request {place.rpartition(':')[2]} of sess_")


def test_a_check_counts_what_it_lists(db: Path) -> None:
    whole, request = told(db, "check", LONG), told(db, "check", f"{SHORT}:5")
    assert "for information" in whole
    listed = told(db, "check", LONG, "--level", "warning").partition("\n")[0]
    assert "for information" not in listed and "--level warning: others are left out" in listed
    assert whole.count("the whole message list") == 1, "rules stand under what they need"
    assert "zcode/bodies-escaped" in whole and "22 rules at 2 to 32 requests" in whole
    assert "the whole message list" not in request, "request 5 is logged whole"
    assert "2 rules could not be decided here" in request
    rows = json.loads(told(db, "check", f"{SHORT}:5", "--json"))["not_applicable"]
    assert {row["key"] for row in rows} == {keys(db)[4]} and len(rows) == 2
    assert re.search(rf"\n(level .* session .*)\n(.*\n)*.* {SHORT}  ", told(db, "check"))


def test_a_short_name_in_an_address_leads_to_the_page(db: Path, web: TestClient) -> None:
    first, second = keys(db)[:2]
    for asked, meant in (
        (f"/requests/{first[:8]}?block=2", f"/requests/{first}?block=2"),
        (f"/requests/{SHORT}:2", f"/requests/{second}"),
        (f"/sessions/{SHORT}/story", f"/sessions/{LONG}/story"),
        (f"/compare/{first[:8]}/{second}", f"/compare/{first}/{second}"),
    ):
        response = web.get(asked, follow_redirects=False)
        assert (response.status_code, response.headers["location"]) == (307, meant)
    ambiguous = web.get("/sessions/sess_", follow_redirects=False)
    assert ambiguous.status_code == 422 and LONG in ambiguous.text
    unknown = web.get("/sessions/sess_of_nobody")
    assert unknown.status_code == 404 and "the list of sessions" in unknown.text
