"""A session as the agent lived it, step by step: changes, prompt, answer, the way on."""

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.homes import Store, minimal_session, minimal_usage, read, write_home
from tests.samples import SAMPLES
from tracer.service import Service, ingest
from web.app import create_app


def browser(db: Path) -> TestClient:
    return TestClient(create_app(Service(db)), base_url="http://127.0.0.1:8321")


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    folder = tmp_path_factory.mktemp("replay")
    home = write_home(folder / "home")
    paths = [str(folder / "home"), str(SAMPLES / "zcode" / "windowed-long")]
    ingest(folder / "tracer.db", [*paths, str(SAMPLES / "zcode" / "chinese")])
    return folder / "tracer.db", home


def session_of(db: Path, words: str) -> str:
    (found,) = [s for s in Service(db).sessions(words).sessions if not s.parent_session_id]
    return found.session_id


def links(html: str) -> dict[str, str]:
    """Addresses of the page's links by their id."""
    found = re.findall(r'<a class="key" id="([a-z-]+)" href="([^"]+)"', html)
    return {name: unescape(href) for name, href in found}


def step(html: str) -> int:
    found = re.search(r"<h1>Step ([\d,]+)", html)
    assert found
    return int(found[1])


def test_a_step_tells_what_was_added_and_what_the_model_answered(known: tuple[Path, Any]) -> None:
    db, home = known
    session = home.sessions[0]["session_id"]
    html = unescape(browser(db).get(f"/sessions/{session}/replay?request=7").text)
    assert step(html) == 7
    changes = html.partition("What changed in the prompt")[2].partition("The prompt as of")[0]
    assert changes.count('<span class="op">added</span>') == 2
    assert "The row names stop 12 by its old name" in changes
    assert "equal blocks" in changes and "against" in changes
    answer = html.partition("What the model answered")[2]
    assert "sed -i s/Skarvik/x/ data/winter.csv" in answer
    assert "sed: no input" in answer and "took 644" in answer
    assert "taken back by a rewind" in html and "Rename it in the data, then." in html


def test_next_leads_through_every_step_and_back(known: tuple[Path, Any]) -> None:
    db, home = known
    session = home.sessions[0]["session_id"]
    pages = browser(db)
    total = len(Service(db).requests(session))
    html = pages.get(f"/sessions/{session}/replay").text
    seen = [step(html)]
    while "next" in links(html):
        html = pages.get(links(html)["next"]).text
        seen.append(step(html))
    assert seen == list(range(1, total + 1))
    while "previous" in links(html):
        html = pages.get(links(html)["previous"]).text
        seen.append(step(html))
    assert seen[total:] == list(range(total - 1, 0, -1))
    assert step(pages.get(links(html)["last"]).text) == total


def test_turns_and_misses_are_leapt_to(known: tuple[Path, Any]) -> None:
    db = known[0]
    session = session_of(db, "leases")
    pages = browser(db)
    requests = Service(db).requests(session)
    starts = {r.turn_number: r.seq for r in reversed(requests) if r.turn_number is not None}
    html = pages.get(f"/sessions/{session}/replay?request=2").text
    for number in range(2, max(starts) + 1):
        html = pages.get(links(html)["turn-on"]).text
        assert step(html) == starts[number]
    assert "turn-on" not in links(html)
    inside = pages.get(f"/sessions/{session}/replay?request={starts[3] + 4}").text
    assert step(pages.get(links(inside)["turn-back"]).text) == starts[3]
    at_start = pages.get(f"/sessions/{session}/replay?request={starts[3]}").text
    assert step(pages.get(links(at_start)["turn-back"]).text) == starts[2]
    missed = [
        r.seq for r in requests if r.verdict and r.verdict.result.value in ("miss", "partial")
    ]
    html = pages.get(f"/sessions/{session}/replay").text
    assert step(pages.get(links(html)["miss-on"]).text) == missed[0]


def test_the_prompt_unfolds_and_its_messages_on_demand(known: tuple[Path, Any]) -> None:
    db, home = known
    session = home.sessions[0]["session_id"]
    pages = browser(db)
    folded = pages.get(f"/sessions/{session}/replay?request=7").text
    assert 'id="m13"' not in folded
    opened = pages.get(f"/sessions/{session}/replay?request=7&prompt=1").text
    assert (
        opened.count('<tbody id="m') == 14
        and '<pre class="prompt"'
        not in opened.partition("The prompt as of")[2].partition("What the model answered")[0]
    )
    text = pages.get(f"/sessions/{session}/replay?request=7&message=13").text
    row = text.partition('<tbody id="m13"')[2].partition("</tbody>")[0]
    assert "Rename it in the data, then." in row and 'aria-expanded="true"' in row
    key = Service(db).requests(session)[6].key
    address = f"/sessions/{session}/replay"
    fragment = pages.get(f"/fragments{address}/messages/13?request={key}&prompt=1")
    assert fragment.text.strip() in pages.get(f"{address}?request={key}&message=13").text
    assert fragment.headers["hx-replace-url"].endswith("&prompt=1&message=13#m13")
    again = pages.get(f"/fragments{address}/messages/13?request={key}&message=13&folded=1")
    assert "message=13#" not in again.headers["hx-replace-url"]
    assert 'aria-expanded="false"' in again.text


def test_the_next_step_keeps_the_prompt_unfolded(known: tuple[Path, Any]) -> None:
    db, home = known
    html = browser(db).get(f"/sessions/{home.sessions[0]['session_id']}/replay?prompt=1").text
    assert "prompt=1" in links(html)["next"]


def test_the_fragment_is_a_piece_of_the_page(known: tuple[Path, Any]) -> None:
    address = f"/sessions/{known[1].sessions[0]['session_id']}/replay?request=3"
    pages = browser(known[0])
    assert pages.get(f"/fragments{address}").text.strip() in pages.get(address).text


def test_a_request_is_named_by_number_or_key_and_a_wrong_one_is_a_sentence(
    known: tuple[Path, Any],
) -> None:
    db, home = known
    session = home.sessions[0]["session_id"]
    pages = browser(db)
    key = Service(db).requests(session)[4].key
    assert step(pages.get(f"/sessions/{session}/replay?request={key}").text) == 5
    for wrong in ("0", "99", "nope", "٣"):
        response = pages.get(f"/sessions/{session}/replay", params={"request": wrong})
        assert response.status_code == 404
        assert "has no request" in response.text
    assert pages.get(f"/sessions/{session}/replay?prompt=maybe").status_code == 422
    assert pages.get("/sessions/nope/replay").status_code == 404
    assert pages.get(f"/fragments/sessions/{session}/replay/messages/999").status_code == 404


def test_a_windowed_step_says_what_is_not_proven(known: tuple[Path, Any]) -> None:
    session = session_of(known[0], "leases")
    html = browser(known[0]).get(f"/sessions/{session}/replay?request=38").text
    assert "not all proven" in html and "carried over from an earlier record" in html


def test_chinese_is_replayed_as_it_is(known: tuple[Path, Any]) -> None:
    session = session_of(known[0], "购物车")
    html = browser(known[0]).get(f"/sessions/{session}/replay?request=2").text
    assert "购物车总价有时会差一分钱" in html


def test_a_session_without_prompts_replays_what_is_known(tmp_path: Path) -> None:
    evil = "</h1><script>alert(1)</script>"
    store = Store(tmp_path / "db.sqlite").add("session", minimal_session(title=evil))
    store.add("model_usage", minimal_usage(), minimal_usage("u2", started_at=20_000))
    tool = {"id": "t1", "session_id": "sess_1", "turn_id": "turn_1", "tool_call_id": "c1"}
    store.add("tool_usage", tool | {"tool_name": evil, "status": "completed", "started_at": 12_500})
    store.close()
    read(tmp_path / "tracer.db", [tmp_path])
    html = browser(tmp_path / "tracer.db").get("/sessions/sess_1/replay").text
    assert "The log holds no prompt for this step" in html
    assert "The log holds no answer to this request" in html
    assert "<script>alert" not in html and "Step 1" in html and "next" in links(html)
    assert "by time only" in html, "no file says who asked for the call"
    assert "First token after" in html and "the agent's own row, tied by" in html
