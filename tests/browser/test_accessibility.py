"""Every kind of page is checked by axe-core: by all rules, and its colours in the dark, too."""

from collections.abc import Sequence
from urllib.request import urlopen

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.browser.conftest import Served
from tests.crawling import crawl, page_routes

PER_ROUTE = 1
COLOURS = ("color-contrast", "link-in-text-block")


@pytest.fixture(scope="module")
def paths(served: Served) -> list[str]:
    """A page of each kind, with a selected request and every lane of it among them."""

    def fetch(path: str) -> tuple[str, int, str, str]:
        with urlopen(served.url + path) as answer:
            text = answer.read().decode("utf-8")
            final = answer.url.removeprefix(served.url)
            return final, answer.status, answer.headers["content-type"], text

    walked = crawl(fetch, PER_ROUTE)
    assert {page.route for page in walked} >= page_routes()
    found = [page.path for page in walked if page.media_type.startswith("text/html")]
    session = next(path for path in found if path.startswith("/sessions/") and "?" not in path)
    request = next(path for path in found if path.startswith("/requests/"))
    return [*found, f"{session}?x=time&on=markers&tools=all", f"{request}?raw=1", "/nowhere"]


def findings(page: Page, path: str, rules: Sequence[str] = ()) -> list[str]:
    """What axe-core finds on a page, by rule and place; all rules where none is named."""
    options: dict[str, object] = {"resultTypes": ["violations"]}
    if rules:
        options["runOnly"] = {"type": "rule", "values": list(rules)}
    found = Axe().run(page, options=options).response["violations"]
    return [
        f"{path}: {rule['id']} ({rule['impact']}): {node['target']} "
        + " ".join(node["failureSummary"].split())
        for rule in found
        for node in rule["nodes"]
    ]


@pytest.mark.parametrize(("theme", "rules"), [("light", ()), ("dark", COLOURS)])
def test_no_page_has_a_finding(
    browser: Browser, served: Served, paths: list[str], theme: str, rules: tuple[str, ...]
) -> None:
    context = browser.new_context(viewport={"width": 1500, "height": 960})
    try:
        page = context.new_page()
        page.goto(f"{served.url}/help?theme={theme}")
        found = []
        for path in paths:
            page.goto(served.url + path)
            found += findings(page, path, rules)
        assert found == [], "\n".join(found[:20])
    finally:
        context.close()


def test_the_check_sees_what_is_wrong(browser: Browser) -> None:
    context = browser.new_context()
    try:
        page = context.new_page()
        page.set_content('<main><p style="color:#bbb;background:#fff">pale</p><a href="/x"></a>')
        rules = {found.split(": ")[1].split(" ")[0] for found in findings(page, "made up")}
        assert {"color-contrast", "link-name", "html-has-lang"} <= rules
    finally:
        context.close()
