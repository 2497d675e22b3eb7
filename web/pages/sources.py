"""The files that were read: offsets, records, and every line that did not become one."""

from dataclasses import dataclass
from typing import ClassVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tracer.model.ingest_views import SourceView
from web.filters import basename
from web.rendering import Chrome, Crumb, chrome, render, service_of


@dataclass(frozen=True)
class SourcesPage:
    """All files."""

    template: ClassVar[str] = "pages/sources.html"
    chrome: Chrome
    sources: tuple[SourceView, ...]


@dataclass(frozen=True)
class SourcesFragment:
    """The table of all files alone."""

    template: ClassVar[str] = "partials/_sources.html"
    sources: tuple[SourceView, ...]


@dataclass(frozen=True)
class SourcePage:
    """One file with all its skipped lines."""

    template: ClassVar[str] = "pages/source.html"
    chrome: Chrome
    source: SourceView


def sources(request: Request) -> Response:
    """The page of all files."""
    revision = service_of(request).revision()
    found = service_of(request).sources()
    frame = chrome(request, "Sources", Crumb("Sources"), revision=revision)
    return render(request, SourcesPage(chrome=frame, sources=found))


def sources_fragment(request: Request) -> Response:
    """The table alone."""
    return render(request, SourcesFragment(sources=service_of(request).sources()))


def source(request: Request) -> Response:
    """The page of one file."""
    revision = service_of(request).revision()
    found = service_of(request).source(min(request.path_params["source_id"], 2**62))
    name = basename(found.path)
    frame = chrome(request, name, Crumb("Sources", "/sources"), Crumb(name), revision=revision)
    return render(request, SourcePage(chrome=frame, source=found))


ROUTES = (
    Route("/sources", sources, name="sources"),
    Route("/fragments/sources", sources_fragment, name="sources.rows"),
    Route("/sources/{source_id:int}", source, name="source"),
)
