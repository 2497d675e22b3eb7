"""The published JSON Schema of the open trace format: `python -m tracer.cli.trace_schema` says
whether the file is current, `--write` writes it."""

import sys
from pathlib import Path

from tracer.formats.trace_schema import schema_text

FILE = Path(__file__).resolve().parents[2] / "docs" / "formats" / "context-trace.schema.json"


def main() -> int:
    """Compare the file, or write it with `--write`."""
    if "--write" in sys.argv[1:]:
        FILE.write_text(schema_text(), encoding="utf-8")
        return 0
    if FILE.is_file() and FILE.read_text(encoding="utf-8") == schema_text():
        return 0
    sys.stderr.write(f"{FILE} is not current: add --write\n")
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
