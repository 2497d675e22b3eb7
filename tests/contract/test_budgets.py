"""Files, functions and templates stay small enough to be read at once."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("tracer", "web", "tests", "benchmarks", "sample-logs")
MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 60
MAX_TEMPLATE_LINES = 120
MAX_SCRIPT_LINES = 300
LATER = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b")


def files(*suffixes: str) -> list[Path]:
    """Our own files: what others wrote stands in a folder `vendor`."""
    return sorted(
        path
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*")
        if path.suffix in suffixes and "vendor" not in path.parts and path.is_file()
    )


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def line_count(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def functions(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Name and length of each function, decorators not counted."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def longer_than(limit: int, sizes: dict[str, int]) -> dict[str, int]:
    return {name: size for name, size in sizes.items() if size > limit}


@pytest.mark.parametrize("suffix", [".py", ".html", ".css", ".js"])
def test_a_file_has_at_most_500_lines(suffix: str) -> None:
    sizes = {name_of(path): line_count(path) for path in files(suffix)}
    assert sizes, f"no {suffix} file was found: is the list of folders right?"
    assert longer_than(MAX_FILE_LINES, sizes) == {}


def test_a_function_has_at_most_60_lines() -> None:
    sizes = {
        f"{name_of(path)}:{name}": size
        for path in files(".py")
        for name, size in functions(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert longer_than(MAX_FUNCTION_LINES, sizes) == {}


def test_a_template_has_at_most_120_lines() -> None:
    sizes = {name_of(path): line_count(path) for path in files(".html")}
    assert longer_than(MAX_TEMPLATE_LINES, sizes) == {}


def test_own_javascript_has_at_most_300_lines_in_all() -> None:
    scripts = files(".js")
    assert sum(map(line_count, scripts)) <= MAX_SCRIPT_LINES, [name_of(path) for path in scripts]


def test_nothing_is_left_for_later() -> None:
    found = [
        f"{name_of(path)}:{number}: {line.strip()}"
        for path in files(".py", ".html", ".css", ".js", ".sql", ".md", ".toml")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if LATER.search(line) and path != Path(__file__)
    ]
    assert found == []


def test_lengths_are_measured_from_the_first_line_to_the_last() -> None:
    source = "@cache\ndef short():\n    return 1\n\n\nclass A:\n    async def long(self):\n"
    source += "        x = 1\n" * 70
    assert dict(functions(ast.parse(source))) == {"short": 2, "long": 71}
    assert longer_than(MAX_FUNCTION_LINES, dict(functions(ast.parse(source)))) == {"long": 71}
    assert LATER.search("# TODO: later") and not LATER.search("TODO_DISTANCE")
