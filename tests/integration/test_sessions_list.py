"""The list of sessions of a generated home and of small databases: filters, marks, the page."""

from html import unescape
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from starlette.testclient import TestClient

from tests.homes import Store, minimal_session, minimal_usage, read, write_home
from tracer.cli import main
from tracer.errors import UsageError
from tracer.model.session_list import SessionFilter
from tracer.service import Service, ingest
from tracer.service.sessions import time_range
from web.app import create_app

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
MONDAY_MS = 1_768_176_000_000  # 2026-01-12 00:00 UTC


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four sessions on four days, of three projects and two models; one was removed, and one is
    the child of another."""
    folder = tmp_path_factory.mktemp("list")
    store = Store(folder / "db.sqlite")
    for n, (title, project, model) in enumerate(
        (
            ("Fix 100% of the ferries", "/w/ferry", "glm-4.7"),
            ("购物车总价差一分钱", "/w/cart", "glm-5"),
            ('<img src=x onerror=alert(1)>"\u202e', "/w/<b>", "glm-5"),
            ("Look it up", "/w/ferry", "glm-4.7"),
        )
    ):
        at = MONDAY_MS + n * DAY_MS + 9 * HOUR_MS
        times = {"time_created": at, "time_updated": at}
        parent = {"parent_id": "s0", "task_type": "subagent_child"} if n == 3 else {}
        store.add(
            "session", minimal_session(f"s{n}", title=title, directory=project, **times, **parent)
        )
        when = {"started_at": at, "completed_at": at + 1_000}
        store.add("model_usage", minimal_usage(f"u{n}", session_id=f"s{n}", model_id=model, **when))
    read(folder / "tracer.db", [folder])
    store.execute("DELETE FROM session WHERE id = 's1'")
    store.close()
    read(folder / "tracer.db", [folder])
    return folder / "tracer.db"


def ids(db: Path, **asked: Any) -> list[str]:
    return [s.session_id for s in Service(db).sessions(SessionFilter(**asked)).sessions]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, ["s3", "s2", "s1", "s0"]),
        ({"text": "ferr"}, ["s3", "s0"]),
        ({"text": "FIX glm-4"}, ["s0"]),
        ({"text": "100%"}, ["s0"]),
        ({"text": "一分钱"}, ["s1"]),
        ({"text": "_"}, []),
        ({"text": "s2 nowhere"}, []),
        ({"project": "/w/ferry"}, ["s3", "s0"]),
        ({"project": "/w"}, []),
        ({"model": "glm-5"}, ["s2", "s1"]),
        ({"model": "glm-5", "text": "img"}, ["s2"]),
        ({"since_ms": MONDAY_MS + 2 * DAY_MS}, ["s3", "s2"]),
        ({"until_ms": MONDAY_MS + DAY_MS}, ["s0"]),
        ({"since_ms": MONDAY_MS + DAY_MS, "until_ms": MONDAY_MS + 2 * DAY_MS - 1}, ["s1"]),
        ({"misses": True}, []),
    ],
)
def test_filters_find_what_they_say(db: Path, asked: dict[str, Any], found: list[str]) -> None:
    assert ids(db, **asked) == found


def test_what_there_is_to_choose_from(db: Path) -> None:
    choices = Service(db).session_choices()
    assert choices.projects == ("/w/ferry", "/w/<b>", "/w/cart")
    assert choices.models == ("glm-4.7", "glm-5")
    assert choices.agents == ("ZCode",)


def test_a_day_means_all_of_it_and_a_minute_its_end() -> None:
    assert time_range("2026-01-12", "2026-01-12") == (MONDAY_MS, MONDAY_MS + DAY_MS - 1)
    assert time_range("", "2026-01-12T00:05") == (None, MONDAY_MS + 6 * 60_000 - 1)
    for wrong in ("yesterday", "2026-02-30", "2026-01-12T9", "２０２６-01-12"):
        with pytest.raises(UsageError, match="is no time"):
            time_range(wrong, "")


def test_a_miss_is_found(tmp_path: Path) -> None:
    store = Store(tmp_path / "db.sqlite").add("session", minimal_session(), minimal_session("calm"))
    for n, read_tokens in enumerate((0, 19_000, 0, 19_900)):
        when = {"started_at": n * 9_000, "completed_at": n * 9_000 + 4_000}
        tokens = {"input_tokens": 20_000 + n * 100, "computed_total_tokens": 20_010 + n * 100}
        tokens["cache_read_input_tokens"] = read_tokens
        store.add("model_usage", minimal_usage(f"u{n}", **when, **tokens))
        store.add("model_usage", minimal_usage(f"c{n}", session_id="calm", **when))
    store.close()
    db = tmp_path / "tracer.db"
    ingest(db, [str(tmp_path / "db.sqlite")], count_tokens=False)
    found = Service(db).sessions(SessionFilter(misses=True))
    assert [(s.session_id, bool(s.misses)) for s in found.sessions] == [("sess_1", True)]


# The page ----------------------------------------------------------------------------------------


def browser(db: Path) -> TestClient:
    return TestClient(create_app(Service(db)), base_url="http://127.0.0.1:8321")


def test_every_filter_is_in_the_address_and_can_be_taken_off(db: Path) -> None:
    asked = "/?q=ferr&project=%2Fw%2Fferry&model=glm-4.7&since=2026-01-12&until=2026-01-12"
    text = unescape(browser(db).get(asked).text)
    assert "1 session" in text and "Fix 100% of the ferries" in text and "Look it up" not in text
    assert '<option value="glm-4.7" selected>' in text
    assert 'href="/?q=ferr&project=%2Fw%2Fferry&since=2026-01-12&until=2026-01-12"' in text
    assert 'hx-get="/fragments/sessions?q=ferr&project' in text, "it stays filtered while it grows"


def test_marks_tell_of_subagents_and_of_removal(db: Path) -> None:
    text = unescape(browser(db).get("/").text)
    assert 'href="/sessions/s0" title="started by s0">subagent of …s0<' in text
    assert "1 subagent</a>" in text
    assert text.count("removed from the agent's database</span>") == 1


def test_hostile_titles_and_projects_are_text(db: Path) -> None:
    text = browser(db).get("/?project=%2Fw%2F%3Cb%3E").text
    assert "<img" not in text and "<b>/w/<b>" not in text and "\u202e" not in text
    assert "&lt;img src=x onerror=alert(1)&gt;" in text


def test_the_form_moves_the_address_and_the_live_list_does_not(db: Path) -> None:
    fragment = "/fragments/sessions?model=glm-5"
    by_form = browser(db).get(fragment, headers={"HX-Trigger": "filters"})
    assert by_form.headers["hx-replace-url"] == "/?model=glm-5"
    assert "hx-replace-url" not in browser(db).get(fragment).headers


def test_the_json_of_the_list_takes_its_filters(db: Path) -> None:
    found = browser(db).get("/data/?model=glm-5&q=cart").json()
    assert [s["session_id"] for s in found["sessions"]] == ["s1"]
    assert found["sessions"][0]["removed_at"] is not None


@pytest.mark.parametrize(
    ("query", "sentence"),
    [("since=tomorrow", "is no time"), ("misses=maybe", "must be one of")],
)
def test_a_filter_that_cannot_be_read_is_said_so(db: Path, query: str, sentence: str) -> None:
    response = browser(db).get(f"/?{query}")
    assert response.status_code == 422
    assert sentence in response.text


def test_nothing_found_names_the_filters_and_leads_back(db: Path) -> None:
    text = browser(db).get("/?q=zzz&misses=1").text
    assert "Nothing found" in text and "with misses" in text and 'href="/?q=zzz"' in text
    assert 'name="q" value="zzz"' in text, "the form is still there"
    beyond = browser(db).get("/?offset=100").text
    assert "No session on this page" in beyond and "newer" in beyond


def test_a_generated_home_is_listed_with_its_titles(tmp_path: Path) -> None:
    write_home(tmp_path / "home")
    read(tmp_path / "tracer.db", [tmp_path / "home"])
    text = browser(tmp_path / "tracer.db").get("/?q=ferry").text
    assert "Departure missing in winter" in text and "2 subagents" in text


# The command -------------------------------------------------------------------------------------


def test_the_command_has_the_same_filters(db: Path) -> None:
    def run(*words: str) -> Result:
        return CliRunner().invoke(main, ["sessions", "--db", str(db), *words])

    assert "一分钱" in run("--model", "glm-5", "--text", "cart").output
    assert "removed from the agent's database" in run("--project", "/w/cart").output
    early = run("--until", "2026-01-12").output
    assert "Fix" in early and "Look" not in early
    assert run("--misses").output == "No session matches.\n"
    assert '"child_sessions": 1' in run("--since", "2026-01-12", "--text", "s0", "--json").output
    wrong = run("--since", "soon")
    assert wrong.exit_code == 2 or isinstance(wrong.exception, UsageError)
