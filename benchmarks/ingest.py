"""Ingest speed, memory and database size, beside the raw limit of the same bytes in one run.

`plain` reads and stores, `counting` also counts tokens on a second core, `with_verdicts` also
judges and checks every request afterwards, as `tracer ingest` does; `checks_of_all` is the checks'
share of that, measured by checking once more. The raw limit parses every line with
orjson and hashes it with sha256: what nobody who reads the whole log can beat by much. Ingest runs
in a process of its own each time, so that its peak memory is its own; the counting process is
measured with it.

    python benchmarks/ingest.py LOGS [--rounds 3]

prints one JSON object and a table.
"""

import argparse
import hashlib
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import orjson

_CHILD = """
import json, resource, sys, time
from pathlib import Path
from tracer.ingest import Ingestor, IngestOptions, find_files
from tracer.service.checking.keeping import check_all
from tracer.service.judging.rounds import judged
ingestor = Ingestor(Path(sys.argv[1]), IngestOptions(count_tokens=sys.argv[3] == "count"))
started = time.perf_counter()
result = ingestor.ingest(find_files([sys.argv[2]], None))
elapsed_s = time.perf_counter() - started
started = time.perf_counter()
verdicts = judged(ingestor.connection, result, None).verdicts
judging_s = time.perf_counter() - started
ingestor.connection.execute("UPDATE sessions SET checked = ''")
started = time.perf_counter()
check_all(ingestor.connection)
checks_s = time.perf_counter() - started
ingestor.close()
own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(json.dumps({"bytes": result.read_bytes, "elapsed_s": elapsed_s, "judging_s": judging_s,
    "checks_s": checks_s,
    "own_mb": own / 1024, "counting_mb": child / 1024, "new_records": result.new_records,
    "counted_blocks": result.counted_blocks, "error": result.count_error, "verdicts": verdicts}))
"""


def raw_limit_mb_s(logs: Path) -> float:
    """MB/s of reading, parsing with orjson and hashing every line."""
    started, total = time.perf_counter(), 0
    for path in sorted(logs.rglob("*.jsonl")):
        with path.open("rb") as file:
            for line in file:
                total += len(line)
                orjson.loads(line)
                hashlib.sha256(line).digest()
    return total / (time.perf_counter() - started) / 1e6


def run_ingest(db: Path, logs: Path, mode: str) -> dict[str, float]:
    """One ingest in a fresh process; `mode` is `count` or `plain`."""
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, str(db), str(logs), mode],
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, float] = json.loads(done.stdout)
    if found["error"]:
        raise RuntimeError(str(found["error"]))
    return found


def measure(logs: Path, rounds: int) -> dict[str, object]:
    """Medians over the rounds; the raw limit and both ingests in turn, so that a slow moment of
    the machine meets all of them."""
    raw, plain, counted, again, judging, checks, whole = [], [], [], [], [], [], []
    memory = size = 0.0
    for _ in range(rounds):
        raw.append(raw_limit_mb_s(logs))
        for mode, speeds in (("plain", plain), ("count", counted)):
            with tempfile.TemporaryDirectory() as folder:
                db = Path(folder) / "bench.db"
                found = run_ingest(db, logs, mode)
                speeds.append(found["bytes"] / found["elapsed_s"] / 1e6)
                memory = max(memory, found["own_mb"] + found["counting_mb"] * (mode == "count"))
                size = db.stat().st_size / 1e6
                if mode == "count":
                    judging.append(found["judging_s"])
                    checks.append(found["checks_s"] / (found["elapsed_s"] + found["judging_s"]))
                    whole.append(found["bytes"] / (found["elapsed_s"] + found["judging_s"]) / 1e6)
                    second = run_ingest(db, logs, mode)
                    again.append(second["elapsed_s"] + second["judging_s"])
    manifests = [json.loads(p.read_text()) for p in sorted(logs.rglob("manifest.json"))]
    expanded = sum(m["expanded_prompt_bytes"] for m in manifests) / 1e6
    return {
        "log_mb": sum(p.stat().st_size for p in logs.rglob("*.jsonl")) / 1e6,
        "raw_mb_s": statistics.median(raw),
        "plain_mb_s": statistics.median(plain),
        "plain_of_raw": statistics.median(p / r for p, r in zip(plain, raw, strict=True)),
        "counting_mb_s": statistics.median(counted),
        "judging_s": statistics.median(judging),
        "checks_of_all": statistics.median(checks),
        "with_verdicts_mb_s": statistics.median(whole),
        "again_s": statistics.median(again),
        "peak_memory_mb": memory,
        "database_mb": size,
        "database_of_expanded": size / expanded if expanded else None,
        "harness_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("logs", type=Path, help="a folder made by generate_logs.py")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    found = measure(arguments.logs, arguments.rounds)
    width = max(map(len, found))
    for name, value in found.items():
        shown = f"{value:,.3f}" if isinstance(value, float) else str(value)
        sys.stderr.write(f"{name:<{width}}  {shown}\n")
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
