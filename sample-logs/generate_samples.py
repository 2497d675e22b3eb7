"""Write the synthetic sample logs, or check that the committed ones are what would be written.

Usage: python sample-logs/generate_samples.py [--out DIR] [--check]
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from generate.runs import build_all

HERE = Path(__file__).resolve().parent


def sample_files() -> dict[str, bytes]:
    """Return every file to write, by its path below the output folder."""
    out: dict[str, bytes] = {}
    for sample in build_all():
        folder = f"zcode/{sample.name}"
        out |= {f"{folder}/{path}": data for path, data in sample.files.items()}
        out[f"{folder}/expected.json"] = sample.expected().encode()
    return out


def differences(files: dict[str, bytes], root: Path) -> list[str]:
    """Return what is missing, changed or left over below `root`."""
    present = {path.relative_to(root).as_posix() for path in (root / "zcode").rglob("*.json*")}
    wrong = [f"left over: {path}" for path in sorted(present - files.keys())]
    for path, data in files.items():
        if path not in present:
            wrong.append(f"missing: {path}")
        elif (root / path).read_bytes() != data:
            wrong.append(f"changed: {path}")
    return wrong


def write(files: dict[str, bytes], root: Path) -> None:
    """Write the files and remove those that no run writes any more."""
    for path in (root / "zcode").rglob("*.json*"):
        if path.relative_to(root).as_posix() not in files:
            path.unlink()
    for name, data in files.items():
        target = root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


def main() -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, default=HERE, help="folder that holds zcode/")
    parser.add_argument("--check", action="store_true", help="write nothing, compare only")
    options = parser.parse_args()
    files = sample_files()
    if options.check:
        wrong = differences(files, options.out)
        print("\n".join(wrong) or f"{len(files)} files are as they should be")
        return 1 if wrong else 0
    write(files, options.out)
    print(f"{len(files)} files, {sum(map(len, files.values())):,} bytes")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
