"""A served copy of the samples, and pages whose console is watched."""

import ctypes
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.helpers import HANG_S
from tracer.service import ingest

SAMPLES = Path(__file__).parents[2] / "sample-logs" / "zcode"
PATIENCE_MS = 90_000
"""A slow machine may take its time: what has not come until then does not come."""
expect.set_options(timeout=PATIENCE_MS)
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
    """A running server: its address, the folder it follows, its process."""

    url: str
    logs: Path
    process: "subprocess.Popen[str]"


def _ends_with_us() -> None:
    """Have the system end a server whose tests were killed."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


@contextmanager
def serving(folder: Path, logs: Path) -> Iterator[Served]:
    """`tracer serve` on a folder of logs, as a user starts it, with a database beside."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tracer", "serve", str(logs), "--db", str(folder / "x.db")]
        + ["--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        preexec_fn=_ends_with_us if sys.platform == "linux" else None,
    )
    try:
        yield Served(_address(process), logs, process)
    finally:
        process.terminate()
        try:
            process.wait(timeout=HANG_S)
        finally:
            process.kill()
            if process.stdout:
                process.stdout.close()


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A copy of the samples, read and served."""
    folder = tmp_path_factory.mktemp("served")
    shutil.copytree(SAMPLES, folder / "logs")
    ingest(folder / "x.db", [str(folder / "logs")], all_verdicts=True)
    with serving(folder, folder / "logs") as running:
        yield running


def _address(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    printed = []
    for line in process.stdout:
        printed.append(line)
        found = re.search(r"http://127\.0\.0\.1:\d+", line)
        if found:
            return _listening(found[0])
    raise AssertionError(f"the server did not start: {''.join(printed)}")


def _listening(url: str) -> str:
    """The address, once somebody answers there: it is printed a moment before."""
    port = int(url.rpartition(":")[2])
    for _ in range(PATIENCE_MS // 100):
        with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return url
        time.sleep(0.1)
    raise AssertionError(f"nobody answers at {url}")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One headless browser for all tests."""
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium_path(), timeout=PATIENCE_MS)
        yield launched
        launched.close()


@contextmanager
def profile(browser: Browser, **options: Any) -> Iterator[BrowserContext]:
    """A fresh profile, patient with a slow machine."""
    made = browser.new_context(**{"viewport": {"width": 1500, "height": 960}, **options})
    made.set_default_timeout(PATIENCE_MS)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A fresh profile for each test."""
    with profile(browser) as made:
        yield made


@pytest.fixture
def page(context: BrowserContext, served: Served) -> Iterator[Page]:
    """A page on the sessions list; at the end its console must be clean."""
    with clean_page(context) as made:
        made.goto(served.url)
        yield made


@contextmanager
def clean_page(context: BrowserContext) -> Iterator[Page]:
    """A page that must not have written to its console: no error, no violated policy."""
    troubles: list[str] = []
    made = context.new_page()
    made.on("console", lambda m: troubles.append(m.text) if m.type != "log" else None)
    made.on("pageerror", lambda error: troubles.append(str(error)))
    made.on("requestfailed", lambda r: troubles.append(f"{r.url}: {r.failure}"))
    yield made
    made.unroute_all(behavior="ignoreErrors")
    real = [t for t in troubles if "ERR_ABORTED" not in t]
    assert real == [], real


@pytest.fixture(scope="session")
def growing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The long sample alone, served for tests that let it grow."""
    folder = tmp_path_factory.mktemp("growing")
    shutil.copytree(SAMPLES / "windowed-long", folder / "logs" / "windowed-long")
    ingest(folder / "x.db", [str(folder / "logs")])
    with serving(folder, folder / "logs") as running:
        yield running


@pytest.fixture
def growing_page(context: BrowserContext, growing: Served) -> Iterator[Page]:
    """The sessions list of the sample that grows."""
    with clean_page(context) as made:
        made.goto(growing.url)
        yield made


def append_request(served: Served) -> None:
    """One more request of the long sample, and nothing else; the server has read it."""
    log = next(served.logs.glob("windowed-long/rollout/*.jsonl"))
    record = json.loads(log.read_text(encoding="utf-8").splitlines()[-1])
    record |= {"requestId": f"req-live-{time.monotonic_ns()}", "attempt": 1}
    session = f"{served.url}/data/sessions/{record['sessionId']}"
    before = requests_read(session)
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record, ensure_ascii=False) + "\n")
    while requests_read(session) == before:
        time.sleep(0.02)


def requests_read(address: str) -> int:
    """How many requests of a session the server has read."""
    with urlopen(address) as answer:
        return len(json.load(answer)["requests"])


def press(page: Page, key: str) -> None:
    """Press a key on a page that is there: until its script has run, a key does nothing."""
    page.wait_for_load_state()
    page.keyboard.press(key)


def wait_until(page: Page, condition: Callable[[], bool]) -> None:
    """Look again and again, while the page goes on, until something holds."""
    for _ in range(PATIENCE_MS // 20):
        if condition():
            return
        page.wait_for_timeout(20)
    raise AssertionError("it did not come to hold")
