"""Nothing in the repository points to the machine that a file was written on.

A path or a host of one developer's machine means nothing to anybody else, and would be shown in
messages and in documentation.
"""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("tracer", "web", "tests", "docs", "sample-logs", "benchmarks", ".ci")
# Data that others made is not ours to reword.
FOREIGN = frozenset({"vendor", "_ranks", "__pycache__"})
PICTURES = frozenset({".png", ".jpg", ".webp", ".db"})

BANNED = {
    "a folder of a developer's machine": r"/work/|/tmp/venv|/root/",
    "a package registry": r"\bpypi[.-]\w+|pythonhosted\.org|npmjs\.(?:org|com)",
    "a document outside of the repository": (
        r"(?<!/)\bshared/(?:corpus|design|formats|hooks|stack|style|ui|cache-rules)\b"
    ),
}


def texts() -> Iterator[tuple[str, str]]:
    """Name and content of every text file of the repository."""
    paths = [path for path in ROOT.iterdir() if path.is_file() and path.name != ".git"]
    for folder in FOLDERS:
        paths += [path for path in (ROOT / folder).rglob("*") if path.is_file()]
    for path in sorted(paths):
        name = path.relative_to(ROOT)
        if path == Path(__file__) or set(name.parts) & FOREIGN or path.suffix in PICTURES:
            continue
        yield name.as_posix(), path.read_text(encoding="utf-8", errors="replace")


def found_in(text: str) -> list[str]:
    """What a text must not say, in words."""
    return [f"{what}: {m[0]}" for what, p in BANNED.items() for m in re.finditer(p, text)]


def test_no_file_names_the_machine_it_was_written_on() -> None:
    found = {name: words for name, text in texts() if (words := found_in(text))}
    assert found == {}


def test_the_repository_is_looked_through() -> None:
    names = {name for name, _ in texts()}
    assert {"pyproject.toml", "tracer/__init__.py", "docs/database.md"} <= names
    assert any(name.startswith("sample-logs/zcode/") for name in names)


def test_the_words_are_found_where_they_stand() -> None:
    assert found_in("see /work/main") == ["a folder of a developer's machine: /work/"]
    assert found_in("from shared/design.md") and found_in("https://pypi.org/x")
    assert not found_in("https://github.com/a/b/tree/main/shared/formats, /w/a.txt, work/")
