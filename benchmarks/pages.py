"""Server time of the pages on databases of different sizes, and the web server's memory.

    python benchmarks/pages.py small=10mb.db large=1gb.db [--session-requests 1500]

Every page is asked for through the real application in this process (no network), after one warm-up
and in turn between the databases, so that a slow moment of the machine meets both. `cold` is the
first request for a session page after its cache was emptied.
"""

import argparse
import json
import resource
import statistics
import sys
import time
from pathlib import Path

from starlette.testclient import TestClient

from tracer.service import Service
from web.app import create_app

ROUNDS = 15


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
        "request": f"/requests/{last}",
        "sources": "/sources",
    }


def timed_ms(client: TestClient, url: str) -> float:
    """Milliseconds of one request. Raises where the page is not 200."""
    started = time.perf_counter()
    answer = client.get(url)
    elapsed_ms = (time.perf_counter() - started) * 1000
    answer.raise_for_status()
    return elapsed_ms


def measure(databases: dict[str, Path], wanted: int) -> dict[str, dict[str, float]]:
    """Median milliseconds by page and database."""
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
                fresh = TestClient(create_app(Service(path)), base_url="http://127.0.0.1")
                cold[name].append(timed_ms(fresh, urls[name].get(page, "/")))
                warm[name].append(timed_ms(clients[name], urls[name].get(page, "/")))
        for name in databases:
            found[f"{page} | {name}"] = {
                "cold_ms": round(statistics.median(cold[name]), 1),
                "warm_ms": round(statistics.median(warm[name]), 1),
            }
    return found


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("databases", nargs="+", metavar="NAME=PATH")
    parser.add_argument("--session-requests", type=int, default=1500)
    arguments = parser.parse_args()
    databases = {n: Path(p) for n, _, p in (d.partition("=") for d in arguments.databases)}
    found = measure(databases, arguments.session_requests)
    for name, value in found.items():
        sys.stderr.write(
            f"{name:<50} cold {value['cold_ms']:8.1f} ms   warm {value['warm_ms']:8.1f} ms\n"
        )
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"pages": found, "peak_memory_mb": round(memory, 1)}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
