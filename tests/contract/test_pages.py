"""What holds for every page module, present and future."""

import inspect
from dataclasses import FrozenInstanceError, fields, is_dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest
from starlette.routing import Route

from web.app import all_routes, page_modules
from web.rendering import environment

SKELETON = import_module("web.pages._skeleton")
MODULES = [*page_modules(), SKELETON]
LONGEST_HANDLER = 20


def contexts(module: ModuleType) -> list[type[Any]]:
    return [
        value
        for value in vars(module).values()
        if inspect.isclass(value) and is_dataclass(value) and hasattr(value, "template")
        and value.__module__ == module.__name__
    ]  # fmt: skip


def test_the_pages_of_the_product_are_found() -> None:
    names = {module.__name__.rpartition(".")[2] for module in page_modules()}
    assert {"sessions", "session", "request", "sources", "help", "live"} <= names
    assert "_skeleton" not in names


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__)
def test_a_page_module_has_routes_with_plain_handlers(module: ModuleType) -> None:
    assert module.ROUTES
    for route in module.ROUTES:
        assert isinstance(route, Route)
        assert not inspect.iscoroutinefunction(route.endpoint), "pages run in the thread pool"
        assert len(inspect.getsource(route.endpoint).splitlines()) <= LONGEST_HANDLER
        assert route.endpoint.__doc__


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__)
def test_a_page_module_has_frozen_contexts_with_templates(module: ModuleType) -> None:
    assert contexts(module) or all(route.path.startswith("/data/") for route in module.ROUTES)
    for context in contexts(module):
        assert environment().get_template(context.template).name == context.template
        with pytest.raises(FrozenInstanceError):
            made = object.__new__(context)
            setattr(made, fields(context)[0].name, None)


def test_fragments_live_under_their_own_addresses() -> None:
    for module in page_modules():
        templates = [context.template for context in contexts(module)]
        paths = [route.path for route in module.ROUTES]
        has_fragments = any(path.startswith("/fragments/") for path in paths)
        assert has_fragments == any(t.startswith("partials/_") for t in templates), module


def test_route_names_are_unique_and_nothing_writes() -> None:
    routes = [route for route in all_routes() if isinstance(route, Route)]
    assert len({route.name for route in routes}) == len(routes)
    assert all((route.methods or set()) <= {"GET", "HEAD"} for route in routes)
