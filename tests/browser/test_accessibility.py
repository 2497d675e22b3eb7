"""Every kind of page is checked by axe-core: by all rules, and its colours in the dark, too."""

import shutil
from collections.abc import Iterator, Sequence
from urllib.request import urlopen

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.browser.conftest import SAMPLES, Served, clean_page, profile, serving
from tests.crawling import crawl, page_routes
from tracer.service import ingest

COLOURS = ("color-contrast", "link-in-text-block")


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The samples of every format, served."""
    folder = tmp_path_factory.mktemp("samples")
    for name in ("zcode", "context-trace"):
        shutil.copytree(SAMPLES.parent / name, folder / "logs" / name)
    ingest(folder / "x.db", [str(folder / "logs")])
    with serving(folder, folder / "logs") as running:
        yield running


@pytest.fixture(scope="module")
def paths(samples: Served) -> list[str]:
    """A page of each kind, and some in states that others do not have."""

    def fetch(path: str) -> tuple[str, int, str, str]:
        with urlopen(samples.url + path) as answer:
            text = answer.read().decode("utf-8")
            final = answer.url.removeprefix(samples.url)
            return final, answer.status, answer.headers["content-type"], text

    walked = crawl(fetch, per_route=3, starts=("/", "/?agent=orchard"))
    assert {page.route for page in walked} >= page_routes()
    html = [page for page in walked if page.media_type.startswith("text/html")]
    one = {page.route: page.path for page in reversed(html) if page.route in page_routes()}
    return [*one.values(), f"{one['session']}?x=time&on=markers&tools=all",
            f"{one['request']}?raw=1", "/nowhere"]  # fmt: skip


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
    browser: Browser, samples: Served, paths: list[str], theme: str, rules: tuple[str, ...]
) -> None:
    with profile(browser) as context:
        page = context.new_page()
        page.goto(f"{samples.url}/help?theme={theme}")
        found = []
        for path in paths:
            page.goto(samples.url + path)
            found += findings(page, path, rules)
        assert found == [], "\n".join(found[:20])


def test_no_page_writes_to_the_console_or_scrolls_sideways_in_a_narrow_window(
    browser: Browser, samples: Served, paths: list[str]
) -> None:
    """No error, no violated policy; at 500 and at 390 pixels."""
    with profile(browser) as context, clean_page(context) as page:
        wide = []
        for width in (500, 390):
            page.set_viewport_size({"width": width, "height": 900})
            for path in (path for path in paths if path != "/nowhere"):
                page.goto(samples.url + path)
                if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                    wide.append((width, path))
        assert wide == []


def test_the_check_sees_what_is_wrong(browser: Browser) -> None:
    with profile(browser) as context:
        page = context.new_page()
        page.set_content('<main><p style="color:#bbb;background:#fff">pale</p><a href="/x"></a>')
        rules = {found.split(": ")[1].split(" ")[0] for found in findings(page, "made up")}
        assert {"color-contrast", "link-name", "html-has-lang"} <= rules
