"""The committed sample logs, with the format that each file is in."""

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

SAMPLES = Path(__file__).resolve().parent.parent / "sample-logs"


class Sample(NamedTuple):
    """One sample file. `name` is its path below `sample-logs/`."""

    name: str
    path: Path
    format_name: str
    records: int
    skipped: tuple[tuple[int, str], ...]

    def lines(self) -> list[bytes]:
        """All lines, without their newlines."""
        return self.path.read_bytes().split(b"\n")


@cache
def all_samples() -> tuple[Sample, ...]:
    """Every log file that an `expected.json` describes."""
    found = []
    for truth in sorted(SAMPLES.glob("*/*/expected.json")):
        for file in json.loads(truth.read_text(encoding="utf-8"))["files"]:
            path = truth.parent / file["path"]
            skipped = tuple((skip["line"], skip["reason_kind"]) for skip in file["skipped"])
            name = path.relative_to(SAMPLES).as_posix()
            found.append(Sample(name, path, file["format"], file["records"], skipped))
    return tuple(found)


@cache
def sample_lines(max_bytes: int = 6_000, per_file: int = 12) -> tuple[bytes, ...]:
    """Some lines of every sample, none of them long: to be damaged on purpose."""
    lines = []
    for sample in all_samples():
        short = [line for line in sample.lines() if 0 < len(line) <= max_bytes]
        lines += short[:: max(len(short) // per_file, 1)][:per_file]
    return tuple(lines)
