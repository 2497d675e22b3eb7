"""Which files to read: those named, those in the folders named, or where the agents write."""

import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from tracer.errors import InputError
from tracer.model.ingest_views import LeftOut

DEFAULT_FOLDERS = ("log", "rollout", "debug", "db", "agents")
LOG_SUFFIXES = (".jsonl", ".log")
DATABASE_SUFFIXES = (".sqlite", ".sqlite3")
AGENT_FILE, AGENT_FOLDER = "metadata.json", "agents"
# `~/.zcode/v2` holds credentials (formats/zcode.md 1): it is never looked into.
_NEVER = frozenset({"v2"})


def default_root() -> Path:
    """ZCode's folder: TRACER_ROOT, or `~/.zcode/cli`."""
    named = os.environ.get("TRACER_ROOT")
    return Path(named).expanduser() if named else Path.home() / ".zcode" / "cli"


def find_files(paths: Sequence[str], root: Path | None) -> list[Path]:
    """The files to read, sorted, each once, as absolute paths.

    A folder stands for the `.jsonl` and `.log` files below it, the `.sqlite` databases and the
    descriptions of agents' runs (`agents/**/metadata.json`); a pattern for what it matches; no path
    at all for the default folders under `root`. Raises InputError for a path that names
    nothing.
    """
    found: dict[Path, None] = {}
    if not paths:
        base = root or default_root()
        for folder in DEFAULT_FOLDERS:
            found.update(dict.fromkeys(_below(base / folder)))
        return sorted(found)
    for name in paths:
        matches = _expand(name)
        if not matches:
            raise InputError(f"{name}: there is no such file or folder. Check the path.")
        for match in matches:
            found.update(dict.fromkeys(_below(match) if match.is_dir() else [match]))
    return sorted(found)


def left_out(paths: Sequence[str], root: Path | None) -> Iterator[LeftOut]:
    """The files below the folders named (or the default ones) that are not read, and why."""
    base = root or default_root()
    named = [m for name in paths for m in _expand(name)]
    for folder in named or [base / name for name in DEFAULT_FOLDERS]:
        read = set(_below(folder)) if folder.is_dir() else set()
        for here, folders, names in os.walk(folder, followlinks=False):
            folders[:] = [
                f for f in folders if not (f in _NEVER and Path(here).name.startswith("."))
            ]
            for path in (Path(here, name).absolute() for name in sorted(names)):
                if path not in read:
                    yield LeftOut(str(path), _reason(path))


def _reason(path: Path) -> str:
    if AGENT_FOLDER in path.parts and (path.parent / AGENT_FILE).exists():
        return f"It belongs to an agent's run and is read with the {AGENT_FILE} beside it."
    if path.name.endswith(("-wal", "-shm", "-journal")):
        return "It belongs to the database beside it."
    kinds = ", ".join(LOG_SUFFIXES + DATABASE_SUFFIXES)
    return (
        f"Its name is not one of a log: of a folder the files {kinds} are read. Name the file "
        "itself to have its content looked at."
    )


def _expand(name: str) -> list[Path]:
    path = Path(name).expanduser()
    if path.exists():
        return [path.absolute()]
    return [Path(m).absolute() for m in glob.glob(str(path), recursive=True)]


def _below(folder: Path) -> list[Path]:
    files = []
    for base, folders, names in os.walk(folder, followlinks=False):
        here = Path(base)
        folders[:] = [f for f in folders if not (f in _NEVER and here.name.startswith("."))]
        in_agents = AGENT_FOLDER in here.parts
        files += [here / n for n in names if n.endswith(LOG_SUFFIXES + DATABASE_SUFFIXES)]
        files += [here / n for n in names if n == AGENT_FILE and in_agents]
    return [f.absolute() for f in files]
