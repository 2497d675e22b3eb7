"""The turns of a session as a page: a generated home, line logs alone, usage rows alone."""

import json
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from tests.homes import Store, minimal_session, minimal_usage, read, write_home
from tests.samples import SAMPLES
from tracer.cli import main
from tracer.service import Service, ingest
from web.app import create_app


def browser(db: Path) -> TestClient:
    return TestClient(create_app(Service(db)), base_url="http://127.0.0.1:8321")


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    folder = tmp_path_factory.mktemp("story-page")
    home = write_home(folder / "home")
    ingest(folder / "tracer.db", [str(folder / "home")], count_tokens=False)
    return folder / "tracer.db", home


@pytest.fixture(scope="module")
def page(known: tuple[Path, Any]) -> str:
    db, home = known
    response = browser(db).get(f"/sessions/{home.sessions[0]['session_id']}/story")
    assert response.status_code == 200
    return unescape(response.text)


def test_turns_have_words_status_time_and_tokens(page: str) -> None:
    assert "Departure missing in winter" in page
    assert "The 18:40 to Skarvik is missing from the winter timetable." in page
    assert page.count('<article class="turn"') == 4
    assert "7,365 in" in page and "2 retries" in page


def test_the_branch_that_was_taken_back_stands_apart(page: str) -> None:
    apart = page.partition("Taken back by a rewind</b>")[2].partition("</section>")[0]
    assert "Rename it in the data, then." in apart
    assert "Better: let the loader know both names." not in apart


def test_tool_calls_have_durations_errors_permissions_and_children(
    page: str, known: tuple[Path, Any]
) -> None:
    assert (
        page.count('class="tool-step')
        == known[1].totals()[known[1].sessions[0]["session_id"]]["tools"]
    )
    assert (
        "sed: no input" in page
        and "permission allowed</span>" in page
        and "how long it waited" in page
    )
    assert "its session</a>" in page
    assert 'class="lb lb-tool"' in page and 'class="lb lb-failed"' in page


def test_ties_say_how_strong_they_are(page: str) -> None:
    assert 'class="join-heuristic" title="the usage row is tied to this request by' in page
    assert "usage row, message, answer" in page


def test_parent_and_children_lead_to_each_other(known: tuple[Path, Any]) -> None:
    db, home = known
    parent = home.sessions[0]["session_id"]
    for child in Service(db).story(parent).children:
        assert (
            f'href="/sessions/{child.session_id}"'
            in browser(db).get(f"/sessions/{parent}/story").text
        )
        back = browser(db).get(f"/sessions/{child.session_id}/story").text
        assert f'href="/sessions/{parent}"' in back and "Departure missing in winter" in back
    assert f"/sessions/{parent}/story#family" in browser(db).get(f"/sessions/{parent}").text


def test_every_request_of_the_session_is_listed_and_linked(
    page: str, known: tuple[Path, Any]
) -> None:
    db, home = known
    session = home.sessions[0]["session_id"]
    for request in Service(db).requests(session):
        assert f"/sessions/{session}/replay?request={request.key}" in page


def test_the_fragment_is_a_piece_of_the_page(known: tuple[Path, Any]) -> None:
    address = f"/sessions/{known[1].sessions[0]['session_id']}/story"
    pages = browser(known[0])
    assert pages.get(f"/fragments{address}").text.strip() in pages.get(address).text


def test_without_a_database_the_words_come_from_prompts_and_say_so(tmp_path: Path) -> None:
    db = tmp_path / "tracer.db"
    ingest(db, [str(SAMPLES / "zcode" / "chinese")], count_tokens=False)
    session = next(s for s in Service(db).sessions().sessions if not s.parent_session_id)
    page = unescape(browser(db).get(f"/sessions/{session.session_id}/story").text)
    assert "购物车总价有时会差一分钱" in page and "from the prompt</span>" in page
    assert "≤" in page and "no time of its own is logged" in page
    assert "Not in a session database" in page


def test_usage_rows_alone_give_a_chart_and_careful_reasons(tmp_path: Path) -> None:
    store = Store(tmp_path / "db.sqlite").add("session", minimal_session())
    for n in range(1, 9):
        tokens = {"input_tokens": 20_000 + n * 500, "computed_total_tokens": 20_010 + n * 500}
        tokens["cache_read_input_tokens"] = 8_000
        when = {"started_at": n * 9_000, "completed_at": n * 9_000 + 4_000, "retry_count": n == 3}
        more = {"time_to_first_token_ms": 300, "cache_creation_input_tokens": 0}
        store.add("model_usage", minimal_usage(f"u{n}", **tokens, **when, **more))
    store.close()
    ingest(tmp_path / "tracer.db", [str(tmp_path / "db.sqlite")], count_tokens=False)
    page = unescape(browser(tmp_path / "tracer.db").get("/sessions/sess_1/story").text)
    assert "What the user said is in no file that was read." in page
    assert "From the numbers alone" in page and "cannot be proven" in page
    assert "likely</b>" in page and "certain</b>" not in page
    assert 'aria-label="first token, full height 300"' in page
    assert "1 retry" in page and "usage only" in page


def test_hostile_words_and_tools_are_text(tmp_path: Path) -> None:
    evil = '</div><script>alert(1)</script>\u202e"'
    store = Store(tmp_path / "db.sqlite").add("session", minimal_session(title=evil))
    times = {"time_created": 9_000, "time_updated": 9_000}
    data = '{"role":"user","anchor":{"turnId":"turn_1"},"time":{"created":9000}}'
    store.add("message", {"id": "m1", "session_id": "sess_1", "data": data, "sequence": 1} | times)
    text = json.dumps({"type": "text", "text": evil * 200})
    part: dict[str, Any] = {
        "id": "p1",
        "message_id": "m1",
        "session_id": "sess_1",
        "data": text,
        "sequence": 0,
    }
    store.add("part", part | times)
    tool: dict[str, Any] = {
        "id": "t1",
        "session_id": "sess_1",
        "turn_id": "turn_1",
        "tool_call_id": "c1",
    }
    tool |= {"tool_name": evil, "status": "error", "started_at": 9_500, "error_message": evil}
    store.add("tool_usage", tool)
    store.add("model_usage", minimal_usage())
    store.close()
    read(tmp_path / "tracer.db", [tmp_path])
    html = browser(tmp_path / "tracer.db").get("/sessions/sess_1/story").text
    assert "<script>alert" not in html and "\u202e" not in html
    assert html.count("&lt;script&gt;alert(1)") > 3
    assert "more characters</summary>" in html


def test_many_turns_are_paged_and_an_unknown_session_is_a_sentence(tmp_path: Path) -> None:
    store = Store(tmp_path / "db.sqlite").add("session", minimal_session())
    for n in range(45):
        when = {"started_at": 1_000 + n * 9_000, "completed_at": 2_000 + n * 9_000}
        store.add("model_usage", minimal_usage(f"u{n}", turn_id=f"turn_{n}", **when))
    store.close()
    read(tmp_path / "tracer.db", [tmp_path])
    pages = browser(tmp_path / "tracer.db")
    first = pages.get("/sessions/sess_1/story").text
    assert "1 to 20 of 45" in first and 'href="/sessions/sess_1/story?from=21"' in first
    assert (
        'href="/sessions/sess_1/story?from=1"' in pages.get("/sessions/sess_1/story?from=25").text
    )
    last = pages.get("/sessions/sess_1/story?from=45").text
    assert "41 to 45 of 45" in last and 'id="turn-45"' in last
    assert pages.get("/sessions/sess_1/story?from=9999").status_code == 200
    assert pages.get("/sessions/sess_1/story?from=0").status_code == 422
    assert "There is no session" in pages.get("/sessions/nope/story").text


def test_a_session_id_with_a_slash_has_its_pages(tmp_path: Path) -> None:
    store = Store(tmp_path / "db.sqlite").add("session", minimal_session("a/b story"))
    store.add("model_usage", minimal_usage(session_id="a/b story")).close()
    read(tmp_path / "tracer.db", [tmp_path])
    pages = browser(tmp_path / "tracer.db")
    for name in ("story", "replay"):
        address = f"/sessions/a%2Fb%20story/{name}"
        assert pages.get(address).status_code == 200
        assert pages.get(f"/fragments{address}").status_code == 200
        assert f"/sessions/a~2Fb%20story/{name}" in pages.get("/sessions/a%2Fb%20story").text


def test_the_json_of_the_page_is_that_of_the_command(known: tuple[Path, Any]) -> None:
    db, home = known
    session = home.sessions[0]["session_id"]
    run = CliRunner().invoke(main, ["story", session[:14], "--db", str(db), "--json"])
    assert run.exit_code == 0, run.output
    assert browser(db).get(f"/data/sessions/{session}/story").json() == json.loads(run.output)


def test_the_command_lists_turns_and_family(known: tuple[Path, Any]) -> None:
    db, home = known
    first, child = home.sessions[0]["session_id"], next(iter(home.children))
    words = CliRunner().invoke(main, ["story", first, "--db", str(db)]).output
    assert "(taken back by a rewind) Rename it in the data, then." in words
    assert "1 (1 failed)" in words and "2 subagents:" in words and child in words
    assert (
        f"Started by {first}" in CliRunner().invoke(main, ["story", child, "--db", str(db)]).output
    )
