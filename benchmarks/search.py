"""How fast a search is, beside a plain scan of the same texts in the same run.

    python benchmarks/search.py 1gb.db [--repeats 5]

`cold` is the first search of a process that has the modules loaded (a command's): it looks through
every text, learns who sent what, and works out the first page. `warm` is another query of the same
process (a server's), `page` the next page of a query that was asked before. `scan` reads the same
texts in Python, unpacks those that are stored compressed, and looks for the query in lower case:
what a search without any care would do. Figures are the best of the repeats in milliseconds, wall
clock and processor; rounds take turns, so that a slow moment of the machine meets all.
"""

import argparse
import json
import sqlite3
import sys
import time
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tracer.model.search_views import SearchAsked
from tracer.service import Service
from tracer.store.connect import open_reader

TARGET_MS = 150
"""For a gigabyte of expanded prompts."""

QUERIES = {
    "nowhere": "zzqqxx",
    "a word": "handler",
    "one letter": "e",
    "two Chinese characters": "连接",
    "one Chinese character": "模",
    "code": "return self.",
    "a system text": "You are",
}


def sizes(connection: sqlite3.Connection) -> dict[str, int]:
    """Expanded prompts (characters), texts, their bytes, those that are compressed."""
    one = lambda sql: int(connection.execute(sql).fetchone()[0] or 0)  # noqa: E731
    return {
        "expanded_chars": one(
            "SELECT sum(n.cum_chars) FROM requests r JOIN nodes n ON n.id = r.node_id"
        ),
        "texts": one("SELECT count(*) FROM block_texts"),
        "text_bytes": one("SELECT sum(bytes) FROM blocks"),
        "compressed_texts": one("SELECT count(text_zlib) FROM block_texts"),
        "database_bytes": one("PRAGMA page_count") * one("PRAGMA page_size"),
    }


def scan(connection: sqlite3.Connection, query: str) -> int:
    """How many texts hold the query, by reading them all."""
    wanted, found = query.lower(), 0
    for text, packed in connection.execute("SELECT text, text_zlib FROM block_texts"):
        whole = zlib.decompress(packed).decode() if text is None else text
        found += wanted in whole.lower()
    return found


def timed_ms(work: Callable[[], object]) -> tuple[float, float]:
    """Wall-clock and processor milliseconds of a call."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return (time.perf_counter() - wall) * 1000, (time.process_time() - cpu) * 1000


def measure(db: Path, query: str, repeats: int) -> dict[str, tuple[float, float]]:
    """The best figures of each way, (wall, processor)."""
    best: dict[str, tuple[float, float]] = {}
    with closing(open_reader(db)) as connection:
        for _ in range(repeats):
            service = Service(db)
            asked = SearchAsked(query)
            ways: dict[str, Callable[[], object]] = {
                "cold": lambda s=service, a=asked: s.search(a),  # type: ignore[misc]
                "warm": lambda s=service: s.search(SearchAsked(query, exact=True)),  # type: ignore[misc]
                "page": lambda s=service: s.search(SearchAsked(query, offset=20)),  # type: ignore[misc]
                "scan": lambda: scan(connection, query),
            }
            for name, work in ways.items():
                took = timed_ms(work)
                best[name] = min(best.get(name, took), took)
    return best


def main() -> None:
    """Print a table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("db", type=Path)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with closing(open_reader(options.db)) as connection:
        known = sizes(connection)
    figures = {name: measure(options.db, q, options.repeats) for name, q in QUERIES.items()}
    if options.json:
        print(json.dumps({"sizes": known, "milliseconds": figures}, indent=2))
        return
    gigabytes = known["expanded_chars"] / 1e9
    print(
        f"{gigabytes:.2f} GB of expanded prompts, {known['texts']:,} texts of "
        f"{known['text_bytes'] / 1e6:.1f} MB ({known['compressed_texts']:,} compressed); target "
        f"{TARGET_MS} ms for 1 GB of expanded prompts"
    )
    print(f"{'ms, wall (processor)':24s}" + "".join(f"{w:>18s}" for w in figures["nowhere"]))
    for name, ways in figures.items():
        print(f"{name:24s}" + "".join(f"{w:10.1f} ({c:5.1f})" for w, c in ways.values()))


if __name__ == "__main__":
    main()
