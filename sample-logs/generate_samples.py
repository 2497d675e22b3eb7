"""Write the synthetic sample logs, or check that the committed ones are what would be written.

Usage: python sample-logs/generate_samples.py [--out DIR] [--check] [--home DIR]

`--home` writes one whole home folder instead, to be read, changed or locked elsewhere.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from generate.database import database_bytes, same_rows
from generate.runs import build_all
from generate.runs.homes import session_database
from generate.segments import samples as segments

HERE = Path(__file__).resolve().parent
HAND_WRITTEN = "cases"


def sample_files() -> dict[str, bytes]:
    """Return every file to write, by its path below the output folder."""
    out: dict[str, bytes] = {}
    for sample in build_all():
        folder = f"zcode/{sample.name}"
        out |= {f"{folder}/{path}": data for path, data in sample.files.items()}
        out[f"{folder}/expected.json"] = sample.expected().encode()
    return out


def trace_files() -> dict[str, bytes]:
    """Return the files of the open trace format, without those that are written by hand."""
    return segments.sample_files()


def home_files() -> dict[str, bytes]:
    """Return the files of whole homes."""
    home = session_database()
    folder = f"zcode-home/{home.name}"
    out = {f"{folder}/{path}": data for path, data in home.files.items()}
    out[f"{folder}/db/db.sqlite"] = database_bytes(home.rows)
    out[f"{folder}/expected.json"] = home.expected().encode()
    return out


def committed(root: Path) -> set[str]:
    """Return the paths of the samples that are there."""
    traces = (root / "context-trace").rglob("*.json*")
    found = [*(root / "zcode").rglob("*.json*"), *(root / "zcode-home").rglob("*")]
    found += [path for path in traces if path.parent.name != HAND_WRITTEN]
    return {path.relative_to(root).as_posix() for path in found if path.is_file()}


def differences(files: dict[str, bytes], root: Path) -> list[str]:
    """Return what is missing, changed or left over below `root`."""
    folders = {path.partition("/")[0] for path in files}
    present = {path for path in committed(root) if path.partition("/")[0] in folders}
    wrong = [f"left over: {path}" for path in sorted(present - files.keys())]
    for path, data in files.items():
        if path not in present:
            wrong.append(f"missing: {path}")
        elif not _same(path, (root / path).read_bytes(), data):
            wrong.append(f"changed: {path}")
    return wrong


def _same(path: str, here: bytes, made: bytes) -> bool:
    return here == made or (path.endswith(".sqlite") and same_rows(here, made))


def write(files: dict[str, bytes], root: Path) -> None:
    """Write the files and remove those that no run writes any more."""
    for path in committed(root) - files.keys():
        (root / path).unlink()
    for name, data in files.items():
        target = root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


def main() -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, default=HERE, help="folder that holds zcode/")
    parser.add_argument("--check", action="store_true", help="write nothing, compare only")
    parser.add_argument("--home", type=Path, help="write one home with its database into a folder")
    options = parser.parse_args()
    if options.home:
        session_database().write(options.home)
        print(f"{options.home}: try `tracer ingest {options.home}`")
        return 0
    files = sample_files() | trace_files() | home_files()
    if options.check:
        wrong = differences(files, options.out)
        print("\n".join(wrong) or f"{len(files)} files are as they should be")
        return 1 if wrong else 0
    write(files, options.out)
    print(f"{len(files)} files, {sum(map(len, files.values())):,} bytes")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
