"""A served copy of the samples, and pages whose console is watched."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

SAMPLES = Path(__file__).parents[2] / "sample-logs" / "zcode"
_NAMES = ("chromium", "chromium-browser", "google-chrome")


def chromium_path() -> str:
    """The browser of the machine. Fails, and does not skip, where there is none."""
    named = os.environ.get("CONTEXT_TRACER_CHROMIUM")
    found = named or next((p for p in map(shutil.which, _NAMES) if p), None)
    if not found:
        pytest.fail("No Chromium on this machine: run `bash tests/run`, which installs it.")
    return found


@dataclass(frozen=True)
class Served:
    """A running server: its address, and the folder it follows."""

    url: str
    logs: Path


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """`tracer serve` on a copy of the samples, as a user starts it."""
    folder = tmp_path_factory.mktemp("served")
    logs = folder / "logs"
    shutil.copytree(SAMPLES, logs)
    process = subprocess.Popen(
        [sys.executable, "-m", "tracer", "serve", str(logs), "--db", str(folder / "x.db")]
        + ["--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        yield Served(_address(process), logs)
    finally:
        process.terminate()
        process.wait(timeout=10)
        if process.stdout:
            process.stdout.close()


def _address(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    printed = []
    for line in process.stdout:
        printed.append(line)
        found = re.search(r"http://127\.0\.0\.1:\d+", line)
        if found:
            return found[0]
    raise AssertionError(f"the server did not start: {''.join(printed)}")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One headless browser for all tests."""
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium_path())
        yield launched
        launched.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A fresh profile for each test."""
    made = browser.new_context(viewport={"width": 1500, "height": 960})
    made.set_default_timeout(10_000)
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext, served: Served) -> Iterator[Page]:
    """A page on the sessions list; at the end its console must be clean."""
    troubles: list[str] = []
    made = context.new_page()
    made.on("console", lambda m: troubles.append(m.text) if m.type != "log" else None)
    made.on("pageerror", lambda error: troubles.append(str(error)))
    made.on("requestfailed", lambda r: troubles.append(f"{r.url}: {r.failure}"))
    made.goto(served.url)
    _wait_until_read(made)
    yield made
    real = [t for t in troubles if "ERR_ABORTED" not in t]
    assert real == [], real


def _wait_until_read(page: Page) -> None:
    """The first read of the samples goes on while the server already answers."""
    page.wait_for_selector("text=Leases are lost", timeout=60_000)
