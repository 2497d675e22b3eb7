"""Every page of the product is reached and read by links and forms alone."""

import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.crawling import Elements, Visited, crawl, page_routes
from tests.helpers import SAMPLES
from tracer.service import Service, ingest
from web.app import create_app

BY_THEMSELVES = ("every", "revision", "board", "input", "change")


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> list[Visited]:
    """Three pages of each kind, of the samples, from the list of sessions on."""
    db = tmp_path_factory.mktemp("walked") / "x.db"
    ingest(db, [str(SAMPLES.parent / name) for name in ("zcode", "context-trace")])
    browser = TestClient(create_app(Service(Path(db))), base_url="http://127.0.0.1:8321")

    def fetch(path: str) -> tuple[str, int, str, str]:
        response = browser.get(path)
        where = response.url.raw_path.decode()
        return where, response.status_code, response.headers["content-type"], response.text

    return crawl(fetch, per_route=3, starts=("/", "/?agent=orchard"))


def pages(walked: list[Visited]) -> list[Visited]:
    return [page for page in walked if page.media_type.startswith("text/html")]


def test_every_kind_of_page_is_reached_by_links_and_forms(walked: list[Visited]) -> None:
    assert page_routes() - {page.route for page in walked} == set()


def test_every_link_leads_to_a_page(walked: list[Visited]) -> None:
    assert [(page.path, page.status) for page in walked if page.status != 200] == []


def test_what_a_fragment_does_a_link_or_a_form_does_too(walked: list[Visited]) -> None:
    for page in pages(walked):
        for tag, a in Elements(page.text).found:
            if "hx-get" not in a:
                continue
            alone = any(word in a.get("hx-trigger", "") for word in BY_THEMSELVES)
            assert alone or a.get("href") or (tag == "form" and a.get("action")), (page.path, a)


def test_a_page_has_a_title_one_heading_and_no_id_twice(walked: list[Visited]) -> None:
    for page in pages(walked):
        found = Elements(page.text).found
        ids = [a["id"] for _, a in found if "id" in a]
        assert [i for i in set(ids) if ids.count(i) > 1] == [], page.path
        tags = [tag for tag, _ in found]
        assert tags.count("h1") >= 1 and tags.count("main") == 1, page.path
        assert re.search(r"<title>[^<]+ · Context Tracer</title>", page.text), page.path
