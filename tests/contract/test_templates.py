"""Templates hold no script, no style and no logic, and use exactly the names they are given."""

import inspect
import re
from dataclasses import fields, is_dataclass
from functools import wraps
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import pytest
from jinja2 import meta, nodes

from web import pages
from web.rendering import environment

FOLDER = Path(inspect.getfile(pages)).parents[1] / "templates"
TEMPLATES = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.html"))
FORBIDDEN = {
    "unescaped output": r"\|\s*safe\b|autoescape",
    "inline style": r"\sstyle\s*=|<style",
    "script body": r"<script(?![^>]*\ssrc=)",
    "event handler": r"<[^>{]*\son[a-z]+\s*=",
    "evaluated htmx": r"hx-on|hx-vals\s*=\s*.js:|javascript:",
    "foreign address": r"(?:href|src)\s*=\s*.(?:https?:)?//",
    "an address put together (web/urls.py)": r"(?:href|action|hx-get)=\"/[^\"]*\{[{%]",
}
MODULES = [f"web.pages.{info.name}" for info in iter_modules(pages.__path__)] + ["web.export"]
CONTEXTS = [
    value
    for name in MODULES
    for value in vars(import_module(name)).values()
    if inspect.isclass(value)
    and is_dataclass(value)
    and hasattr(value, "template")
    and value.__module__ == name
]


def closure(name: str) -> dict[str, nodes.Template]:
    """A template and everything that it includes, extends or imports."""
    found: dict[str, nodes.Template] = {}
    todo = [name]
    while todo:
        current = todo.pop()
        if current not in found:
            found[current] = environment().parse((FOLDER / current).read_text("utf-8"))
            todo += [other for other in meta.find_referenced_templates(found[current]) if other]
    return found


def bound(tree: nodes.Template) -> set[str]:
    """Names that a template binds itself: loops, assignments, macros, imports."""
    names = {node.name for node in tree.find_all(nodes.Name) if node.ctx in ("store", "param")}
    names |= {node.name for node in tree.find_all(nodes.Macro)}
    for node in tree.find_all(nodes.FromImport):
        names |= {item if isinstance(item, str) else item[1] for item in node.names}
    return names


def frames(name: str) -> set[str]:
    """What a template extends: the frame around a page has its names, whatever a partial binds."""
    found = set()
    for node in environment().parse((FOLDER / name).read_text("utf-8")).find_all(nodes.Extends):
        if isinstance(node.template, nodes.Const):
            found |= {node.template.value, *frames(node.template.value)}
    return found


def used(name: str) -> set[str]:
    """Names that a template and its relatives expect to be given."""
    trees = closure(name)
    free = {which: meta.find_undeclared_variables(tree) for which, tree in trees.items()}
    given = set().union(*free.values()) - set().union(*map(bound, trees.values()))
    own = set().union(*(free[frame] for frame in frames(name)))
    return (given | own) - set(environment().globals)


def test_there_are_templates() -> None:
    assert "base.html" in TEMPLATES and len(CONTEXTS) >= 12


@pytest.mark.parametrize("what", FORBIDDEN)
@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_holds_nothing_that_the_policy_forbids(name: str, what: str) -> None:
    assert not re.search(FORBIDDEN[what], (FOLDER / name).read_text("utf-8"), re.IGNORECASE)


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_is_short(name: str) -> None:
    assert len((FOLDER / name).read_text("utf-8").splitlines()) < 120


@pytest.mark.parametrize("context", CONTEXTS, ids=lambda c: c.__qualname__)
def test_a_template_uses_exactly_the_fields_of_its_dataclass(context: type[Any]) -> None:
    assert used(context.template) == {field.name for field in fields(context)}


def test_every_template_is_used() -> None:
    reached = set().union(*(closure(context.template) for context in CONTEXTS))
    assert reached == set(TEMPLATES)


@pytest.mark.parametrize("script", sorted((FOLDER.parent / "static").glob("*.js")))
def test_own_scripts_are_small(script: Path) -> None:
    assert len(script.read_text("utf-8").splitlines()) < 220


def test_what_a_template_compiles_to_depends_on_its_text_alone() -> None:
    """A filter that was used while compiling would leave its old words in what `web.compiled`
    keeps."""

    def failing(filter_: Any) -> Any:
        @wraps(filter_)
        def fail(*_: Any) -> None:
            raise AssertionError("used while compiling")

        return fail

    made = environment()
    others = made.overlay()
    others.filters = {name: failing(filter_) for name, filter_ in made.filters.items()}
    for name in TEMPLATES:
        text = (FOLDER / name).read_text("utf-8")
        assert made.compile(text, name, raw=True) == others.compile(text, name, raw=True), name
