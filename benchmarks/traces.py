"""How fast a long session in the open trace format is read, and how fast its pages are shown.

    python benchmarks/traces.py [--requests 1500] [--rounds 3] [--keep DIR]

The session is written with `tracer.emit`: runs of 20 requests in 14 segments, 20 tools on every
line, a World State diff a run, and every message but the new ones as a reference, so that a line is
mostly references. Beside the reading stands what parsing the same bytes with orjson and hashing
them takes. Pages are opened `cold`, on a service that has just started, and `again`. Figures are
the best of the rounds, in processor time of one process; counting tokens is left out.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import orjson
from starlette.testclient import TestClient

from tracer.emit import Trace, message
from tracer.ingest import IngestOptions, Ingestor
from tracer.service import Service
from web.app import create_app

SESSION = "long-trace"
STEPS_A_RUN, TOOLS = 20, 20
WORDS = "the lease of a worker is renewed before it ends so that no job runs twice".split()  # noqa: SIM905


def write(path: Path, requests: int, seed: int = 1) -> int:
    """Write a session of at least `requests` requests; returns how many references it holds."""
    random, seconds = Random(seed), count()
    text = lambda words: " ".join(random.choice(WORDS) for _ in range(words))  # noqa: E731
    start = datetime(2026, 1, 5, 9, tzinfo=UTC)
    tools = [
        {"name": f"tool_{n:02}", "description": text(60), "inputSchema": {"type": "object"}}
        for n in range(TOOLS)
    ]
    state = {"cwd": "/w", "capabilities": {"web": True}, "step": 0}
    rules = message("rules", "system", text(900), "rules")
    world = message(
        "world", "system", None, "world_state", scope="session", mode="full", state=state
    )
    history: list[dict[str, Any]] = []
    clock = lambda: start + timedelta(seconds=next(seconds))  # noqa: E731
    with Trace(path, SESSION, agent="Benchmark", clock=clock) as trace:
        for run in range(-(-requests // STEPS_A_RUN)):
            trace.run_started(f"r{run}")
            asked = [message(f"i{run}", "user", text(20), "user_input")]
            own = {"scope": "run", "mode": "full", "state": {"run": run}}
            asked_state = [message(f"w{run}", "system", None, "world_state", **own)]
            steps: list[dict[str, Any]] = []
            for step in range(STEPS_A_RUN):
                name = f"{run}-{step}"
                parts = {1: [rules], 5: [world], 7: history, 8: asked, 10: asked_state, 11: steps}
                trace.built(
                    f"q{name}", run_id=f"r{run}", provider_id="example", model_id="model-a",
                    segments=parts, stable_tools=tools,
                )  # fmt: skip
                billed = 2_000 + 9 * (len(history) + len(steps))
                usage = {"inputTokens": billed, "outputTokens": 20, "cacheReadTokens": billed - 90}
                trace.completed(f"q{name}", usage=usage | {"inclusive": True}, duration_ms=500)
                steps += _step(name, text)
                if step == STEPS_A_RUN // 2:
                    said = {"scope": "session", "mode": "diff", "patch": {"step": run}}
                    steps.append(message(f"d{run}", "system", None, "world_state", **said))
            trace.run_completed(f"r{run}")
            history += asked + asked_state + steps
    return path.read_bytes().count(b'{"ref":')


def _step(name: str, text: Callable[[int], str]) -> list[dict[str, Any]]:
    calls = [{"id": f"c{name}", "name": "tool_01", "input": {"path": text(3)}}]
    return [
        message(f"a{name}", "assistant", text(10), "assistant", toolCalls=calls),
        message(f"t{name}", "tool", text(80), "tool_result", toolCallId=f"c{name}"),
    ]


@contextmanager
def timed(figures: dict[str, float], name: str) -> Iterator[None]:
    """Keep the best processor time of a piece of work, in seconds."""
    before = time.process_time()
    yield
    took = time.process_time() - before
    figures[name] = min(figures.get(name, took), took)


def measure(path: Path, folder: Path, round_number: int, figures: dict[str, float]) -> None:
    """One round."""
    with timed(figures, "parse and hash the same bytes"):
        for line in path.read_bytes().splitlines():
            orjson.loads(line)
            sha256(line).digest()
    database = folder / f"{round_number}.db"
    with timed(figures, "read"):
        Ingestor(database, IngestOptions(count_tokens=False)).ingest([path])
    key = Service(database).requests(SESSION)[-1].key
    pages = {
        "session": f"/sessions/{SESSION}",
        "turns": f"/sessions/{SESSION}/story",
        "segments": f"/sessions/{SESSION}/segments",
        "replay": f"/sessions/{SESSION}/replay?request={key}",
        "request": f"/requests/{key}",
    }
    for name, address in pages.items():
        client = TestClient(create_app(Service(database)), base_url="http://127.0.0.1:8321")
        for state in ("cold", "again"):
            with timed(figures, f"{name} page, {state}"):
                client.get(address).raise_for_status()


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=1_500)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep", type=Path, help="a folder for the trace and its databases")
    options = parser.parse_args()
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as made:
        folder = options.keep or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "trace.jsonl"
        path.unlink(missing_ok=True)
        references = write(path, options.requests)
        megabytes = path.stat().st_size / 1e6
        for round_number in range(options.rounds):
            measure(path, folder, round_number, figures)
    print(f"{megabytes:.1f} MB, {references:,} references, {options.requests:,} requests")
    for name in ("parse and hash the same bytes", "read"):
        took = figures.pop(name)
        print(f"{name:32s}{took:8.2f} s {megabytes / took:8.1f} MB/s {references / took:12,.0f} /s")
    for name, took in figures.items():
        print(f"{name:32s}{took * 1000:8.0f} ms")


if __name__ == "__main__":
    main()
