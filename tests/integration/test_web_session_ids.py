"""Every session has its pages, whatever its id, and no page links to one that there is not."""

import json
from html import unescape
from urllib.parse import unquote

import pytest
from starlette.testclient import TestClient

from tests.crawling import Elements
from tests.traces import built, completed, line, said, write
from tracer.service import Service, ingest
from web.app import create_app
from web.filters import of_segment, segment

IDS = ("x", "x/replay", "x/story", "x/segments", "x/replay/replay", ".", "..", "~2F", "/", "a/./b")
EMPTY = "x/none"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    """A session of each id with one request, and one session without any."""
    folder = tmp_path_factory.mktemp("ids")
    lines = [line("session.started", 0, EMPTY, agent="Gardener")]
    for n, name in enumerate(IDS):
        lines += [
            line("session.started", 1, name, title=f"Title {n}."),
            line("run.started", 1, name, runId="r1", input="Go."),
            built(2, f"q{n}", [said("m1")], session=name),
            completed(3, f"q{n}", session=name),
        ]
    ingest(folder / "t.db", [str(write(folder / "t.jsonl", *lines))], count_tokens=False)
    return TestClient(create_app(Service(folder / "t.db")), base_url="http://127.0.0.1:8321")


@pytest.mark.parametrize("name", IDS)
def test_an_id_has_all_its_pages(client: TestClient, name: str) -> None:
    title = f"Title {IDS.index(name)}."
    pages = {"": "", "/story": "Turns · ", "/replay": "Replay 1 · ", "/segments": "Segments · "}
    for page, words in pages.items():
        response = client.get(f"/sessions/{segment(name)}{page}")
        assert response.status_code == 200, page
        assert f"<title>{words}{title}" in unescape(response.text), page
    data = client.get(f"/data/sessions/{segment(name)}")
    assert data.status_code == 200 and json.dumps(name) in data.text
    assert client.get(f"/fragments/sessions/{segment(name)}/panel").status_code == 200


@pytest.mark.parametrize("name", [*IDS, EMPTY])
def test_no_link_of_a_session_leads_nowhere(client: TestClient, name: str) -> None:
    for page in ("", "/story", "/segments"):
        address = f"/sessions/{segment(name)}{page}"
        for link in set(Elements(client.get(address).text).links()):
            if link.startswith("/") and not link.startswith("/static"):
                assert client.get(link).status_code == 200, (page, link)


def test_a_session_without_requests_has_nothing_to_replay(client: TestClient) -> None:
    text = client.get(f"/sessions/{segment(EMPTY)}/story").text
    assert ">Timeline</a>" in text and ">Replay</a>" not in text
    assert ">Replay</a>" in client.get("/sessions/x/story").text


@pytest.mark.parametrize("name", [*IDS, "sess_0-1.a", "50%", "~", "%2F", "~7E2F", "漢\ud83d"])
def test_an_id_is_one_segment_that_can_be_read_back(name: str) -> None:
    written = segment(name)
    assert "/" not in written and "%2F" not in written.replace("%252F", "")
    assert written not in (".", "..")
    assert of_segment(unquote(written, errors="surrogatepass")) == name


def test_a_usual_id_stands_as_it_is() -> None:
    assert segment("sess_01-a.b") == "sess_01-a.b"
