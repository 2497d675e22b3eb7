"""Compiled templates are kept for the next process, and never outlive what they were made of."""

import sys
from pathlib import Path
from typing import Any

import pytest
from jinja2 import Environment, FileSystemLoader

from web.compiled import CompiledTemplates, compile_all


def make(folder: Path) -> Environment:
    """The environment of another process over the same templates."""
    loader = FileSystemLoader(folder)
    return Environment(loader=loader, autoescape=True, bytecode_cache=CompiledTemplates())


@pytest.fixture(autouse=True)
def may_keep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.html").write_text("one {{ x }}", "utf-8")
    return tmp_path


def compiles_nothing(made: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise AssertionError("compiled again")

    monkeypatch.setattr(made, "compile", fail)


def render(made: Environment) -> str:
    return made.get_template("a.html").render(x="<1>")


def test_the_next_process_compiles_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_all(make(folder))
    later = make(folder)
    compiles_nothing(later, monkeypatch)
    assert render(later) == "one &lt;1&gt;"
    assert [path.name for path in (folder / "__pycache__").iterdir()] == [
        f"a.{sys.implementation.cache_tag}.jinja"
    ]


def test_a_changed_template_is_compiled_anew(folder: Path) -> None:
    render(make(folder))
    (folder / "a.html").write_text("two {{ x }}", "utf-8")
    assert render(make(folder)) == "two &lt;1&gt;"


def test_one_of_another_version_is_compiled_anew(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    render(make(folder))
    monkeypatch.setattr("jinja2.__version__", "0.0")
    later = make(folder)
    compiles_nothing(later, monkeypatch)
    with pytest.raises(AssertionError, match="compiled again"):
        render(later)


@pytest.mark.parametrize("keep", [0, 10, 64, 70])
def test_a_damaged_file_is_made_anew(folder: Path, keep: int) -> None:
    render(make(folder))
    (kept,) = (folder / "__pycache__").iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(whole[:keep])
    assert render(make(folder)) == "one &lt;1&gt;"
    assert kept.read_bytes() == whole


def test_nothing_is_kept_where_nothing_can_be_written(folder: Path) -> None:
    (folder / "__pycache__").write_text("in the way", "utf-8")
    assert render(make(folder)) == "one &lt;1&gt;"


def test_nothing_is_kept_where_python_keeps_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert render(make(folder)) == "one &lt;1&gt;"
    assert not (folder / "__pycache__").exists()
