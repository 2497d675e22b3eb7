"""A finished sample: its files and the truth about them."""

import json
from dataclasses import dataclass, field

from generate.text import Json
from generate.world import World


@dataclass
class Sample:
    """One folder below `sample-logs/zcode`."""

    name: str
    title: str
    shows: str
    files: dict[str, bytes]
    sessions: list[Json]
    skipped: dict[str, list[Json]] = field(default_factory=dict)
    records: dict[str, int] = field(default_factory=dict)

    def expected(self) -> str:
        """Return the text of `expected.json`."""
        value = {
            "title": self.title,
            "shows": self.shows,
            "files": [self._file(path) for path in sorted(self.files)],
            "sessions": self.sessions,
        }
        return json.dumps(value, ensure_ascii=False, indent=1) + "\n"

    def _file(self, path: str) -> Json:
        lines = line_count(self.files[path])
        return {
            "path": path,
            "format": "zcode-log" if path.startswith("log/") else "zcode-model-io",
            "lines": lines,
            "records": self.records.get(path, lines),
            "skipped": self.skipped.get(path, []),
        }


def line_count(data: bytes) -> int:
    """Return the number of lines, a last one without a newline included."""
    return data.count(b"\n") + (not data.endswith(b"\n") and bool(data))


def lines_to_bytes(lines: list[str]) -> bytes:
    """Return the lines as a JSONL file."""
    return "".join(f"{line}\n" for line in lines).encode()


def finish(name: str, title: str, shows: str, world: World) -> Sample:
    """Return the sample that a world's files and truth make."""
    files = world.log.files() | world.io.files()
    data = {path: lines_to_bytes(lines) for path, lines in files.items()}
    return Sample(name, title, shows, data, world.truth.sessions())
