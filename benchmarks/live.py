"""From a new line on disk to a new column on an open page, in a real browser.

    python benchmarks/live.py [--rounds 20]

A copy of the samples is served as a user serves it; a record is appended, and the time is taken
until the open session page shows one more column (live), or until a page loaded anew does (reload).
Needs Chromium (CONTEXT_TRACER_CHROMIUM names it).
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

SAMPLES = Path(__file__).parents[1] / "sample-logs" / "zcode" / "windowed-long"


def append_record(log: Path) -> None:
    """One more request: the last one again under another id."""
    record = json.loads(log.read_text(encoding="utf-8").splitlines()[-1])
    record["requestId"] = f"req-{time.monotonic_ns()}"
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record, ensure_ascii=False) + "\n")


def live_s(page: Page, log: Path) -> float:
    """Seconds until the open page shows the new column."""
    columns = page.locator(".hits a").count()
    started = time.perf_counter()
    append_record(log)
    page.locator(".hits a").nth(columns).wait_for()
    return time.perf_counter() - started


def reload_s(page: Page, log: Path) -> float:
    """Seconds until a reloaded page shows the new column."""
    columns = page.locator(".hits a").count()
    started = time.perf_counter()
    append_record(log)
    while page.locator(".hits a").count() == columns:
        page.reload()
    return time.perf_counter() - started


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    chromium = os.environ.get("CONTEXT_TRACER_CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        logs = Path(folder) / "logs"
        shutil.copytree(SAMPLES, logs)
        command = [sys.executable, "-m", "tracer", "serve", str(logs), "--port", "0"]
        server = subprocess.Popen(
            [*command, "--db", f"{folder}/x.db"], stdout=subprocess.PIPE, text=True
        )
        try:
            assert server.stdout is not None
            address = re.search(r"http://\S+", server.stdout.readline())
            assert address is not None, "the server did not say where it is"
            browser = playwright.chromium.launch(executable_path=chromium)
            page = browser.new_page()
            page.goto(address[0])
            page.get_by_role("link", name="Leases are lost").click()
            page.wait_for_selector(".hits a")
            log = next(logs.glob("rollout/*.jsonl"))
            live = [live_s(page, log) for _ in range(rounds)]
            again = [reload_s(page, log) for _ in range(rounds)]
            browser.close()
        finally:
            server.terminate()
            server.wait()
    found = {
        name: {"median_s": statistics.median(values), "worst_s": max(values)}
        for name, values in (("live", live), ("reload", again))
    }
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
