"""The search page: hits and ways to them, filters, pages, empty and wrong states, hostile texts."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from tests.helpers import SAMPLES, call, ingest, system, user, write
from tracer.model.search_views import KINDS
from tracer.service import Service
from web.app import create_app
from web.search_words import text_kind

HOSTILE = '"><script>alert(1)</script>\u202e\x1b[31m 危険'
ONE_SESSION = "sess_0001"


@pytest.fixture
def client(db: Path, rollout: Path) -> Iterator[TestClient]:
    head = [system("You are careful.\n\n# Environment\nWorking directory: /srv")]
    talk = [*head, user("where is the needle?"), *(user(f"straw {n} 稻草") for n in range(45))]
    write(
        rollout,
        call("r1", talk[:2], at=0),
        call("r2", talk, at=1_000),
        call("r3", [*head, user(HOSTILE)], at=2_000, session="sess_hostile"),
    )
    ingest(db, rollout)
    with TestClient(create_app(Service(db)), base_url="http://127.0.0.1:8321") as made:
        yield made


def links(html: str, within: str = "") -> list[str]:
    return [unescape(href) for href in re.findall(r'href="([^"]+)"', html) if within in href]


def test_a_hit_leads_to_the_text_in_its_first_and_last_request(client: TestClient) -> None:
    html = client.get("/search?q=NEEDLE").text
    assert '<mark class="m-found">needle</mark>' in html
    assert "sent <b>2 times</b>" in html
    first, last = links(html, "/requests/")
    assert first != last
    for href in (first, last):
        page = client.get(href)
        assert page.status_code == 200
        marked = re.search(r'<mark class="m-found" id="mark"[^>]*>([^<]*)</mark>', page.text)
        assert marked and marked[1] == "needle"


def test_chinese_is_found_and_pages_follow_each_other(client: TestClient) -> None:
    html = client.get("/search?q=稻&kind=user").text
    assert "45 texts" in html and "1 to 20 here" in html
    seen = re.findall(r"straw (\d+)", html)
    while later := links(html, "offset="):
        html = client.get(later[-1]).text
        more = re.findall(r"straw (\d+)", html)
        if more[0] in seen:
            break
        seen += more
    assert sorted(map(int, seen)) == list(range(45))


def test_filters_are_in_the_address_and_in_the_form(client: TestClient) -> None:
    html = client.get("/search?q=e&kind=system&exact=1").text
    assert '<option value="system" selected>' in html
    assert 'name="exact" value="1" checked' in html
    assert "straw" not in html


def test_a_section_around_a_hit_leads_to_the_hits_in_it(db: Path) -> None:
    ingest(db, SAMPLES / "mcs-on")
    with TestClient(create_app(Service(db)), base_url="http://127.0.0.1:8321") as client:
        (href,) = set(links(client.get("/search?q=Working%20directory").text, "section=env_info"))
        html = client.get(href).text
        assert '<option value="env_info" selected>' in html
        assert '<mark class="m-found">Working directory</mark>' in html


def test_a_session_can_be_searched_alone_and_left_again(client: TestClient) -> None:
    html = client.get(f"/search?q=a&session={ONE_SESSION}").text
    assert f'<input type="hidden" name="session" value="{ONE_SESSION}">' in html
    assert "/search?q=a" in links(html)
    assert "sess_hostile" not in html


def test_the_fragment_is_the_results_of_the_page(client: TestClient) -> None:
    page, fragment = (client.get(f"{p}/search?q=needle").text for p in ("", "/fragments"))
    assert fragment.strip() in page and "<html" not in fragment


def test_the_form_sends_its_state_and_the_address_follows(client: TestClient) -> None:
    answer = client.get("/fragments/search?q=稻草&kind=", headers={"hx-request": "true"})
    assert answer.headers["hx-replace-url"] == f"/search?q={quote('稻草')}"


def test_empty_states_say_what_to_do(client: TestClient) -> None:
    assert "Type a text to look for" in client.get("/search").text
    assert "Type a text to look for" in client.get("/search?q=%20").text
    nothing = client.get("/search?q=nowhere&kind=user").text
    assert "Nothing holds" in nothing and "with these filters" in nothing


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("q=x&kind=nonsense", 422),
        ("q=x&exact=perhaps", 422),
        ("q=x&offset=-1", 422),
        ("q=x&session=unknown", 404),
        (f"q={'x' * 1001}", 422),
        ("q=%ff%fe", 200),
        ("q=%00", 200),
        ("q=x&section=nothing&source=nothing", 200),
        ("q=e&offset=100000", 200),
    ],
)
def test_wrong_addresses_are_pages_too(client: TestClient, query: str, status: int) -> None:
    answer = client.get(f"/search?{query}")
    assert answer.status_code == status
    assert "</html>" in answer.text


def test_hostile_texts_stay_text(client: TestClient) -> None:
    for query in ("危険", "<script>", '"><', "\u202e", "\x1b[31m"):
        html = client.get("/search", params={"q": query}).text
        assert "<script>alert" not in html
        assert "\u202e" not in html and "\x1b" not in html
        assert "&lt;script&gt;" in html
    assert "script-src 'self';" in client.get("/search?q=x").headers["content-security-policy"]


@pytest.mark.parametrize("path", ["/", "/misses", "/sources", "/help", f"/sessions/{ONE_SESSION}"])
def test_every_page_has_a_field_that_searches(client: TestClient, path: str) -> None:
    html = client.get(path).text
    assert '<form class="find" action="/search" method="get"' in html
    assert len(re.findall(r'id="filter"', html)) == 1, "the key / goes to one field"


def test_every_kind_has_words() -> None:
    words = [text_kind(kind) for kind in KINDS]
    assert len(set(words)) == len(words)


def test_the_json_of_the_page_is_that_of_the_command(client: TestClient) -> None:
    found = client.get("/data/search", params={"q": "needle", "kind": "user"}).json()
    assert [hit["times_sent"] for hit in found["hits"]] == [2]
    assert (found["query"], found["kind"]) == ("needle", "user")
    assert client.get("/data/search?q=").status_code == 422
