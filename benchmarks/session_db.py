"""How fast a large session database is read, and how fast the list of its sessions is shown.

Usage: python benchmarks/session_db.py [--rows 100000] [--sessions 5000] [--keep DIR]
"""

import argparse
import sqlite3
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "sample-logs"))

from generate.database import create_tables
from starlette.testclient import TestClient

from tracer import service
from tracer.ingest import IngestOptions, Ingestor
from tracer.model.session_list import SessionFilter
from web.app import create_app

FIRST_MS = 1_768_200_000_000
STEP_MS = 7_000
REPEATS = 5
FILTERS = {
    "words": SessionFilter(text="task project-7"),
    "words, none found": SessionFilter(text="nowhere"),
    "project": SessionFilter(project="/home/dev/project-7"),
    "model": SessionFilter(model="glm-4.7"),
    "time": SessionFilter(since_ms=FIRST_MS + 1_000_000, until_ms=FIRST_MS + 2_000_000),
    "misses": SessionFilter(misses=True),
}
PAGES = {"first": "/", "last": "/?offset=4900", "by words": "/fragments/sessions?q=project-7"}
PAGES |= {"by model": "/fragments/sessions?model=glm-4.7", "by misses": "/?misses=1"}


def build(path: Path, rows: int, sessions: int) -> None:
    """Write a database of `rows` usage rows, spread evenly over `sessions` sessions."""
    connection = sqlite3.connect(path, isolation_level=None)
    columns = create_tables(connection, "described")
    connection.execute("BEGIN")
    connection.executemany(
        "INSERT INTO session (id, project_id, slug, directory, title, version, time_created, "
        "time_updated, title_source) VALUES (?, 'p', 's', ?, ?, '1', ?, ?, 'generated')",
        [
            (f"sess_{n:05}", f"/home/dev/project-{n % 40}", f"Task {n}", FIRST_MS + n * 1000,
             FIRST_MS + n * 1000)
            for n in range(sessions)
        ],
    )  # fmt: skip
    each = rows // sessions
    columns_text = (
        "id logical_request_id session_id turn_id trace_id query_source provider_id model_id "
        "status started_at completed_at duration_ms finish_reason tool_call_count input_tokens "
        "output_tokens cache_read_input_tokens computed_total_tokens raw_usage_json"
    )
    names = columns_text.split()
    assert set(names) <= set(columns["model_usage"])
    connection.executemany(
        f"INSERT INTO model_usage ({', '.join(names)}) VALUES ({','.join('?' * len(names))})",
        (_usage(n // each, n % each) for n in range(rows)),
    )
    connection.execute("COMMIT")
    connection.close()


def _usage(session: int, step: int) -> tuple[object, ...]:
    name = f"{session:05}_{step:04}"
    start = FIRST_MS + session * 1000 + step * STEP_MS
    total = 20_000 + step * 900
    read = total - 900 if step else 0
    raw = f'{{"inputTokens":{total},"outputTokens":120,"cacheReadTokens":{read}}}'
    return (
        f"usage_model_main_turn_msg_{name}_0", f"msg_{name}", f"sess_{session:05}",
        f"turn_{session}_{step // 6}", f"trace_{session}", "main_turn", "zai", "glm-4.7",
        "completed", start, start + 4_000, 4_000, "tool-calls", 1, total, 120, read, total + 120,
        raw,
    )  # fmt: skip


def best_ms(ask: object) -> float:
    """The best of a few calls, in milliseconds."""
    assert callable(ask)
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        ask()
        times.append((time.perf_counter() - started) * 1000)
    return min(times)


def main() -> int:
    """Build, read, read again, list."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--sessions", type=int, default=5_000)
    parser.add_argument("--keep", type=Path, help="build in this folder and leave it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        path, db = folder / "db.sqlite", folder / "tracer.db"
        for old in (path, db):
            old.unlink(missing_ok=True)
        build(path, options.rows, options.sessions)
        started, busy = time.perf_counter(), time.process_time()
        reader = Ingestor(db, IngestOptions())
        reader.ingest([path])
        reader.close()
        spent = time.process_time() - busy
        seconds = time.perf_counter() - started
        print(f"{'read and joined':28} {seconds:8.2f} s ({spent:.2f} s of processor time)")
        for title in ("the rest of an ingest", "ingest again, unchanged"):
            started = time.perf_counter()
            service.ingest(db, [str(path)])
            print(f"{title:28} {time.perf_counter() - started:8.2f} s")
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("INSERT INTO session_entry VALUES ('e', 'sess_00000', 't', 1, 1, '{}')")
        connection.close()
        started = time.perf_counter()
        service.ingest(db, [str(path)])
        print(f"{'ingest again, one new row':28} {time.perf_counter() - started:8.2f} s")
        reading = service.Service(db)
        assert reading.sessions().total == options.sessions
        print(f"{'sessions, first page':28} {best_ms(reading.sessions):8.1f} ms")
        for title, wanted in FILTERS.items():
            spent_ms = best_ms(partial(reading.sessions, wanted))
            print(f"{'sessions by ' + title:28} {spent_ms:8.1f} ms")
        print(f"{'what to choose from':28} {best_ms(reading.session_choices):8.1f} ms")
        browser = TestClient(create_app(reading), base_url="http://127.0.0.1:8321")
        for title, address in PAGES.items():
            spent_ms = best_ms(partial(browser.get, address))
            print(f"{'page, ' + title:28} {spent_ms:8.1f} ms")
        print(f"{'source / database size':28} {path.stat().st_size / 1e6:.1f} / "
              f"{db.stat().st_size / 1e6:.1f} MB")  # fmt: skip
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
