"""An exported file, opened from disk by a browser without a network."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.conftest import SAMPLES, profile
from tracer import service


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sessions, one of them with Chinese text."""
    db = tmp_path_factory.mktemp("export") / "x.db"
    service.ingest(db, [str(SAMPLES / "mcs-off"), str(SAMPLES / "windowed-long")])
    return db


@pytest.fixture
def offline(browser: Browser) -> Iterator[Page]:
    """A page without a network, whose console must stay clean."""
    troubles: list[str] = []
    with profile(browser, offline=True) as context:
        page = context.new_page()
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("request", lambda r: None if r.url.startswith("file:") else troubles.append(r.url))
        yield page
    assert troubles == []


def exported(db: Path, out: Path, *names: str) -> str:
    command = [sys.executable, "-m", "tracer", "export", *names, "--db", str(db), "--out", str(out)]
    subprocess.run(command, check=True, capture_output=True)
    return out.as_uri()


def test_a_session_opens_from_disk(database: Path, tmp_path: Path, offline: Page) -> None:
    session = service.Service(database).sessions().sessions[0]
    offline.goto(exported(database, tmp_path / "s.html", session.session_id))
    assert offline.locator("h1").first.is_visible()
    assert offline.locator("svg").first.bounding_box()
    offline.locator(".hits a").nth(4).click()
    assert offline.evaluate("location.hash") == "#r5"
    article = offline.locator("article#r5")
    assert "Request 5" in article.inner_text()
    top = article.bounding_box()
    assert top is not None and -5 < top["y"] < 120
    text = article.locator("details pre").first
    assert not text.is_visible()
    article.locator("summary").first.click()
    assert text.is_visible()


def test_a_comparison_opens_from_disk(database: Path, tmp_path: Path, offline: Page) -> None:
    session = service.Service(database).sessions().sessions[0].session_id
    offline.goto(exported(database, tmp_path / "c.html", f"{session}:4", f"{session}:5"))
    assert offline.locator(".change").count() > 0
    assert offline.locator("td.code").first.is_visible()
