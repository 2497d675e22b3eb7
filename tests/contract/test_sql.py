"""SQL stands in the store alone, but for the reading of other programs' databases."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOREIGN = (Path("tracer/ingest/databases.py"), Path("tracer/ingest/readonly.py"))
ALLOWED = (Path("tracer/store"), *FOREIGN)
RUNS = frozenset({"execute", "executemany", "executescript"})
STATEMENT = re.compile(
    r"\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|PRAGMA|BEGIN|COMMIT|ROLLBACK|WITH)\b[^a-z]"
)


def statements(source: str) -> Iterator[int]:
    """The lines of a module where it runs SQL or holds a statement."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in RUNS:
                yield node.lineno
        elif isinstance(node, ast.Constant):
            text = node.value if isinstance(node.value, str) else ""
            if STATEMENT.match(f"{text} "):
                yield node.lineno


def test_no_module_outside_the_store_holds_sql() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for package in ("tracer", "web")
        for path in sorted((ROOT / package).rglob("*.py"))
        if not any(path.relative_to(ROOT).is_relative_to(place) for place in ALLOWED)
        for line in statements(path.read_text("utf-8"))
    ]
    assert found == []


def test_sql_would_be_found() -> None:
    assert {*statements('connection.execute(query)\nQUERY = "SELECT 1"\nWORD = "COMMIT"')} == {
        1,
        2,
        3,
    }
    assert not [*statements('"Select a request"\n"""UPDATEs of a session."""\nplan.run("x")')]
