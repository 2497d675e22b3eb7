"""Memory stays flat, whatever one line weighs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers import call, encode, ingest_one, messages_of, request, user, write

LINE_BYTES = 50 << 20
LIMIT_MB = 300

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="the peak is read from /proc"
)

_SCRIPT = """
import json, sys
from pathlib import Path
from tracer.ingest import IngestOptions, Ingestor
options = IngestOptions(count_tokens=False, max_line_bytes=int(sys.argv[3]))
ingestor = Ingestor(Path(sys.argv[1]), options)
(file,) = ingestor.ingest([Path(sys.argv[2])]).files
ingestor.close()
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
skips = [s.kind for s in file.skipped]
print(json.dumps({"peak": status["VmHWM"], "records": file.records, "skips": skips}))
"""


@pytest.fixture(scope="module")
def big_line(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """A file with one full-retention line of 50 MB between two small ones; how many messages it
    has. The messages stand in it three times, as that mode writes them."""
    text = "".join(f"line {n}: some output of a tool, 中文\n" for n in range(2000))
    count = LINE_BYTES // 3 // len(text.encode())
    messages = [user(f"{n} {text}") for n in range(count)]
    wire = {"model": "model-y", "messages": messages, "tools": []}
    big = call("big", messages, at=2000, kind=None, body=wire, request={"sdkMessages": messages})
    path = tmp_path_factory.mktemp("big") / "model-io-sess_0001.jsonl"
    write(path, call("before"), big, call("after", at=4000))
    assert path.stat().st_size > 0.95 * LINE_BYTES
    return path, count


def read_apart(db: Path, path: Path, limit: int) -> dict[str, object]:
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", _SCRIPT, str(db), str(path), str(limit)]
    done = subprocess.run(command, cwd=root, capture_output=True, check=True)
    told: dict[str, object] = json.loads(done.stdout)
    assert int(str(told["peak"]).split()[0]) < LIMIT_MB * 1024
    return told


def test_a_line_of_50_mb_is_read(db: Path, big_line: tuple[Path, int]) -> None:
    path, count = big_line
    told = read_apart(db, path, 64 << 20)
    assert (told["records"], told["skips"]) == (3, [])
    found = request(db, "big")
    assert (found.observed, found.message_count) == ("full", count)
    assert len(messages_of(db, "big")) == count


def test_a_line_above_the_limit_is_passed_over_without_being_held(
    db: Path, big_line: tuple[Path, int]
) -> None:
    path, _ = big_line
    told = read_apart(db, path, 1 << 20)
    assert (told["records"], told["skips"]) == (2, ["too-long"])
    # With a higher limit the file is read again, once.
    again = ingest_one(db, path)
    assert (again.new_records, again.records, again.skipped_total) == (1, 3, 0)
    assert ingest_one(db, path).status == "unchanged"
    assert request(db, "big").observed == "full"


def test_many_lines_above_the_limit_leave_the_others_alone(db: Path, tmp_path: Path) -> None:
    long = encode(call("long", [user("x" * 5000)]))
    path = write(tmp_path / "a.jsonl", call("one"), *[long] * 50, call("two", at=2000))
    result = ingest_one(db, path, max_line_bytes=4000)
    assert (result.records, result.skipped_total) == (2, 50)
    assert {s.kind for s in result.skipped} == {"too-long"}
    assert all(len(s.excerpt) == 200 for s in result.skipped)
    assert ingest_one(db, path, max_line_bytes=4000).status == "unchanged"
