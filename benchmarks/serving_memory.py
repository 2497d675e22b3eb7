"""How much memory `tracer serve` holds while somebody walks through its largest sessions.

    python benchmarks/serving_memory.py 1gb.db [--sessions 10] [--limit-mb 200]

A server of its own process serves a copy of the database, to which a session with prompts of 5 MB
is added. Its pages are asked for as a browser does: of each of the largest sessions the timeline,
the turns, a replay, the segments, the first, middle and last request; then the comparisons of the
large prompts, searches, misses and checks; then all of it once more. Printed is the resident size
after each step (Linux: /proc), and the largest; the exit code is 1 where that is above the limit.
"""

import argparse
import json
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pages import write_prompts

from tracer.service import Service, ingest

ROOT = Path(__file__).resolve().parent.parent
LARGE_CHARS = 5_000_000
LIMIT_MB = 200
SEARCHES = ("handler", "e", "zzqqxx", "You are")
_TIMEOUT_S = 120


def resident_mb(pid: int) -> float:
    """The resident size of a process in megabytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024  # type: ignore[index]


@contextmanager
def served(database: Path, folder: Path) -> Iterator[tuple[str, int]]:
    """A running server: its address and its process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "tracer", "serve", str(folder), "--db", str(database)]
    process = subprocess.Popen([*command, "--port", str(port)], stdout=subprocess.DEVNULL, cwd=ROOT)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(_TIMEOUT_S * 10):
            try:
                ask(address, "/help")
                break
            except urllib.error.URLError:
                if process.poll() is not None:
                    raise
                time.sleep(0.1)
        yield address, process.pid
    finally:
        process.terminate()
        process.wait(10)


def steps(database: Path, sessions: int, large: str) -> Iterator[tuple[str, list[str]]]:
    """What is asked for, step by step."""
    service = Service(database)
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        ids = [
            row[0]
            for row in connection.execute(
                "SELECT s.session_id FROM sessions s JOIN requests r ON r.session_id = s.id "
                "GROUP BY s.id ORDER BY count(*) DESC LIMIT ?",
                (sessions,),
            )
        ]
    yield "sessions", ["/"]
    for session in ids:
        keys = [request.key for request in service.outline(session)]
        page, last = f"/sessions/{quote(session)}", keys[-1]
        some = dict.fromkeys([keys[0], keys[len(keys) // 2], last])
        yield (
            f"session of {len(keys):,} requests",
            [page, f"{page}/story", f"{page}/segments", f"{page}/replay?request={last}&prompt=1"]
            + [f"{page}?request={last}", *(f"/requests/{key}" for key in some)],
        )
    keys = [request.key for request in service.outline(large)]
    pairs = [(keys[0], key) for key in keys[1:]] + [(keys[3], keys[4])]
    for a, b in pairs:
        yield "compared, 5 MB", [f"/compare/{a}/{b}", f"/fragments/compare/{a}/{b}/hunks/1"]
    yield "prompts of 5 MB", [f"/requests/{key}" for key in keys]
    yield "searches", [f"/search?q={quote(query)}" for query in SEARCHES]
    yield "misses and checks", ["/misses", "/checks"]


def ask(address: str, path: str) -> None:
    """Read a page to its end; a 404 is an answer, as for segments of another format."""
    with urllib.request.urlopen(address + path, timeout=_TIMEOUT_S) as answer:
        while answer.read(1 << 20):
            pass


def measure(database: Path, sessions: int, folder: Path) -> list[tuple[str, float]]:
    """The resident size in megabytes after each step, twice around."""
    copy = folder / "served.db"
    with closing(sqlite3.connect(database)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
    log = folder / f"model-io-sess_{LARGE_CHARS}.jsonl"
    write_prompts(log, LARGE_CHARS)
    ingest(copy, [str(log)])
    found = []
    empty = folder / "nothing"
    empty.mkdir()
    walked = list(steps(copy, sessions, f"sess_{LARGE_CHARS}"))
    with served(copy, empty) as (address, pid):
        found.append(("started", resident_mb(pid)))
        for turn in ("", ", again"):
            for name, paths in walked:
                for path in paths:
                    ask(address, path)
                found.append((name + turn, resident_mb(pid)))
    return found


def main() -> int:
    """Print a table, and the largest as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("db", type=Path)
    parser.add_argument("--sessions", type=int, default=10)
    parser.add_argument("--limit-mb", type=float, default=LIMIT_MB)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    try:
        found = measure(options.db, options.sessions, folder)
    finally:
        shutil.rmtree(folder)
    for name, size in found:
        sys.stderr.write(f"{name:40} {size:7.1f} MB\n")
    largest = max(size for _, size in found)
    print(json.dumps({"largest_mb": round(largest, 1), "limit_mb": options.limit_mb}))
    return 1 if largest > options.limit_mb else 0


if __name__ == "__main__":
    raise SystemExit(main())
