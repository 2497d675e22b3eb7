"""Server time of the pages on databases of different sizes, and the web server's memory.

    python benchmarks/pages.py small=10mb.db large=1gb.db [--session-requests 1500]
    python benchmarks/pages.py --compare-only

Every page is asked for through the real application in this process (no network), after one warm-up
and in turn between the databases, so that a slow moment of the machine meets both. `warm` is a page
that was just shown, `cold` the first one of a server that has just started, `own` and `other` the
first one after a record of the same session, and of another one, was read and judged; these two use
a copy of the database. On a machine that does other things, too, `--busy` gives the least processor
time of the rounds instead of the median of the time that passed.

The compare page is measured on two prompts of 200 KB and of 5 MB, made and ingested for the
occasion: `cold` loads both from the database, `hunks` is a fragment with the next hunks.
"""

import argparse
import json
import random
import resource
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from compare_speed import a_text, edit_lines
from starlette.testclient import TestClient

from tracer.service import Service, ingest
from web.app import create_app

ROUNDS = 15
NEWS_ROUNDS = 3
COMPARED_BYTES = {"200 KB": 200_000, "5 MB": 5_000_000}
LIMITS_MS = {"200 KB": 100, "5 MB": 1_000}
Messages = list[dict[str, str]]
Typical = Callable[[list[float]], float]
clock = time.perf_counter


def pages(service: Service, wanted: int) -> dict[str, str]:
    """URL by page name, for the session whose number of requests is nearest to `wanted`."""
    sessions = service.sessions(limit=500).sessions
    session = min(sessions, key=lambda s: abs(s.requests - wanted))
    requests = service.requests(session.session_id)
    last = requests[-1].key
    return {
        "sessions": "/",
        f"session ({session.requests} requests)": f"/sessions/{session.session_id}",
        "session, one selected": f"/sessions/{session.session_id}?request={last}",
        "turns": f"/sessions/{session.session_id}/story",
        "replay": f"/sessions/{session.session_id}/replay?request={last}",
        "session, window moved": f"/fragments/sessions/{session.session_id}/timeline?from=1&to=160",
        "request": f"/requests/{last}",
        "sources": "/sources",
    }


def add_record(path: Path, session_id: str, folder: Path) -> None:
    """Read one more record of a session into a database, and judge it."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    name = f"req_{time.time_ns()}"
    sent = [{"role": "user", "content": f"One more: {name}"}]
    log = folder / f"model-io-{name}.jsonl"
    log.write_text(json.dumps(a_record(session_id, name, now, sent)) + "\n", encoding="utf-8")
    ingest(path, [str(log)])
    log.unlink()


def a_record(session_id: str, request_id: str, at: str, sent: Messages) -> dict[str, object]:
    """A model I/O record of a whole prompt."""
    return {
        "type": "model_io", "sessionId": session_id, "requestId": request_id,
        "attempt": 1, "querySource": "main_turn", "turnId": "turn_1", "startedAt": at,
        "completedAt": at, "model": {"modelId": "model-y", "providerId": "provider-x"},
        "request": {"headers": {}, "messages": sent, "messageCount": len(sent),
                    "messagesKind": "full", "messageOffset": 0, "toolNames": []},
        "response": {"text": "", "usage": {"inputTokens": 1, "outputTokens": 1}},
    }  # fmt: skip


def timed_ms(client: TestClient, url: str) -> float:
    """Milliseconds of one request. Raises where the page is not 200."""
    started = clock()
    answer = client.get(url)
    elapsed_ms = (clock() - started) * 1000
    answer.raise_for_status()
    return elapsed_ms


def measure(
    databases: dict[str, Path], wanted: int, typical: Typical
) -> dict[str, dict[str, float]]:
    """Milliseconds by page and database; `typical` makes one of several."""
    clients, urls, found = {}, {}, {}
    for name, path in databases.items():
        service = Service(path)
        clients[name] = TestClient(create_app(service), base_url="http://127.0.0.1")
        urls[name] = pages(service, wanted)
    for page in next(iter(urls.values())):
        cold: dict[str, list[float]] = {name: [] for name in databases}
        warm: dict[str, list[float]] = {name: [] for name in databases}
        for _ in range(ROUNDS):
            for name, path in databases.items():
                url = urls[name].get(page, "/")
                timed_ms(clients[name], url)  # templates are compiled once in a server's life
                clients[name].app.state.service = Service(path)  # type: ignore[attr-defined]
                cold[name].append(timed_ms(clients[name], url))
                warm[name].append(timed_ms(clients[name], url))
        for name in databases:
            found[f"{page} | {name}"] = {
                "cold_ms": typical(cold[name]),
                "warm_ms": typical(warm[name]),
            }
    return found


def measure_news(
    databases: dict[str, Path], wanted: int, typical: Typical, folder: Path
) -> dict[str, dict[str, float]]:
    """The same for the first page after one new record: of the page's session, and of another."""
    found = {}
    for name, path in databases.items():
        copy = folder / f"{name}.db"
        shutil.copy(path, copy)
        service = Service(copy)
        client = TestClient(create_app(service), base_url="http://127.0.0.1")
        urls = pages(service, wanted)
        own = next(url for page, url in urls.items() if page.startswith("session ("))
        for page, url in urls.items():
            times: dict[str, list[float]] = {"own_ms": [], "other_ms": []}
            for _ in range(NEWS_ROUNDS):
                for kind in times:
                    timed_ms(client, url)
                    session = own.removeprefix("/sessions/") if kind == "own_ms" else "sess_other"
                    add_record(copy, session, folder)
                    times[kind].append(timed_ms(client, url))
            found[f"{page} | {name}"] = {kind: typical(own) for kind, own in times.items()}
    return found


def edits(rng: random.Random, messages: Messages) -> dict[str, Messages]:
    """What can become of a prompt, by name."""
    some = list(messages)
    for at in rng.sample(range(1, len(some)), min(60, len(some) - 1)):
        some[at] = {**some[at], "content": edit_lines(rng, some[at]["content"], 2)}
    whole = "\n".join(message["content"] for message in messages)
    rewritten = [{**m, "content": a_text(rng, len(m["content"]))} for m in messages[1:]]
    return {
        "60 messages edited": some,
        "all messages rewritten": [messages[0], *rewritten],
        "one block": [messages[0], {"role": "user", "content": whole}],
        "one block, 200 lines edited": [
            messages[0],
            {"role": "user", "content": edit_lines(rng, whole, 200)},
        ],
    }


def write_prompts(path: Path, size: int) -> list[str]:
    """A model I/O log with a prompt of `size` characters and what can become of it; the names of
    its requests in order."""
    rng = random.Random(size)
    each = max(800, size // 1_500)
    messages: Messages = [{"role": "system", "content": a_text(rng, 6_000)}]
    while sum(len(message["content"]) for message in messages) < size:
        role = "assistant" if len(messages) % 2 else "user"
        messages.append({"role": role, "content": a_text(rng, each)})
    found = {"as it was": messages, **edits(rng, messages)}
    with path.open("w", encoding="utf-8") as file:
        for n, sent in enumerate(found.values()):
            at = f"2026-01-12T09:{n:02}:00.000Z"
            record = a_record(f"sess_{size}", f"req_{n}", at, sent)
            file.write(json.dumps(record) + "\n")
    return list(found)


def measure_compare(folder: Path) -> dict[str, dict[str, float]]:
    """Median milliseconds of the compare page by size and edit."""
    found = {}
    for size, wanted in COMPARED_BYTES.items():
        log, path = folder / f"model-io-sess_{wanted}.jsonl", folder / f"{wanted}.db"
        names = write_prompts(log, wanted)
        ingest(path, [str(log)])
        keys = [r.key for r in Service(path).requests(f"sess_{wanted}")]
        for name, key in zip(names[1:], keys[1:], strict=True):
            before = keys[names.index("one block")] if "lines" in name else keys[0]
            if name == "one block":
                continue
            found[f"compare, {size}, {name}"] = time_compare(path, f"{before}/{key}")
    return found


def time_compare(path: Path, pair: str) -> dict[str, float]:
    """Median milliseconds of one comparison: the first time, again, and more of its hunks."""
    times: dict[str, list[float]] = {"cold_ms": [], "warm_ms": [], "hunks_ms": []}
    for _ in range(5):
        client = TestClient(create_app(Service(path)), base_url="http://127.0.0.1")
        timed_ms(client, "/help")
        times["cold_ms"].append(timed_ms(client, f"/compare/{pair}"))
        times["warm_ms"].append(timed_ms(client, f"/compare/{pair}"))
        hunks = f"/fragments/compare/{pair}/hunks/1?offset=20"
        times["hunks_ms"].append(timed_ms(client, hunks))
    return {name: round(statistics.median(values), 1) for name, values in times.items()}


def main() -> int:
    """Measure and print; exit code 1 where a comparison took longer than allowed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("databases", nargs="*", metavar="NAME=PATH")
    parser.add_argument("--session-requests", type=int, default=1500)
    parser.add_argument("--compare-only", action="store_true")
    parser.add_argument("--no-compare", action="store_true")
    parser.add_argument("--busy", action="store_true", help="the least processor time")
    arguments = parser.parse_args()
    if not arguments.databases and not arguments.compare_only:
        parser.error("name databases, or --compare-only")
    databases = {n: Path(p) for n, _, p in (d.partition("=") for d in arguments.databases)}

    global clock
    clock = time.process_time if arguments.busy else time.perf_counter

    def typical(times: list[float]) -> float:
        return round(min(times) if arguments.busy else statistics.median(times), 1)

    found = measure(databases, arguments.session_requests, typical) if databases else {}
    compared = {}
    with tempfile.TemporaryDirectory() as folder:
        news = measure_news(databases, arguments.session_requests, typical, Path(folder))
        for name, value in news.items():
            found[name] |= value
        if not databases or not arguments.no_compare:
            compared = measure_compare(Path(folder))
    found |= compared
    for name, value in found.items():
        shown = (f"{kind.removesuffix('_ms')} {ms:8.1f} ms" for kind, ms in value.items())
        sys.stderr.write(f"{name:<50} {'   '.join(shown)}\n")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"pages": found, "peak_memory_mb": round(memory, 1)}))
    slow = [n for n, v in compared.items() if v["cold_ms"] > LIMITS_MS[n.split(", ")[1]]]
    return 1 if slow else 0


if __name__ == "__main__":
    raise SystemExit(main())
