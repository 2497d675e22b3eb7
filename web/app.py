"""The web application: routes found in `web.pages`, errors mapped to pages, guards around it."""

import pkgutil
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import wraps
from importlib import import_module
from types import ModuleType

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from tracer.errors import InputError, NotFoundError, StoreError, TracerError, UsageError
from tracer.service import Service
from web import pages
from web.assets import serve_static
from web.follower import Following
from web.pages._enter import EnterPage
from web.pages._error import error_response
from web.pages._short import whole_address
from web.rendering import render, service_of
from web.security import Guard, SecurityHeaders, add_headers

_STATUS: tuple[tuple[type[TracerError], int], ...] = (
    (NotFoundError, 404),
    (UsageError, 422),
    (InputError, 422),
    (StoreError, 500),
    (TracerError, 500),
)
_UNEXPECTED = "Something went wrong that should not: {}. The server's terminal shows where."


def page_modules() -> tuple[ModuleType, ...]:
    """All modules of `web.pages` that are pages: those whose name has no leading underscore."""
    names = sorted(info.name for info in pkgutil.iter_modules(pages.__path__))
    return tuple(import_module(f"web.pages.{n}") for n in names if not n.startswith("_"))


def all_routes() -> list[BaseRoute]:
    """The routes of all pages, and the static files."""
    found = [_of_one_moment(route) for module in page_modules() for route in module.ROUTES]
    # A path that takes the rest of the address would hide what stands below it.
    found.sort(key=lambda route: route.path.endswith((":path}", ":id}")))
    return [*found, Route("/static/{path:path}", serve_static, name="static")]


def _of_one_moment(route: Route) -> Route:
    """The route of a page that reads one state of the database, whatever is stored meanwhile."""
    answer: Callable[[Request], Response] = route.endpoint

    @wraps(answer)
    def endpoint(request: Request) -> Response:
        with service_of(request).snapshots.one_reading():
            return answer(request)

    return Route(route.path, endpoint, methods=sorted(route.methods or ()), name=route.name)


def _on_tracer_error(request: Request, error: Exception) -> Response:
    if isinstance(error, NotFoundError):
        try:
            whole = whole_address(request)
        except UsageError as ambiguous:
            error = ambiguous
        else:
            if whole:
                return RedirectResponse(whole)
    status = next(code for kind, code in _STATUS if isinstance(error, kind))
    return error_response(request, status, str(error))


def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    text = "There is no such page." if error.detail == "Not Found" else error.detail
    response = error_response(request, error.status_code, text)
    response.headers.update(error.headers or {})
    return response


def _on_bug(request: Request, error: Exception) -> Response:
    response = error_response(request, 500, _UNEXPECTED.format(type(error).__name__))
    add_headers(response.headers)  # this response is made outside of the middleware
    return response


def _enter(request: Request, href: str) -> Response:
    return render(request, EnterPage(href=href))


def create_app(
    service: Service,
    *,
    token: str | None = None,
    allowed_hosts: Sequence[str] = (),
    follower: Following | None = None,
) -> Starlette:
    """The application over one database. `allowed_hosts` are names beside those of the loopback;
    `follower` runs as long as the application does."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        if follower is not None:
            follower.start()
        yield
        if follower is not None:
            follower.stop()

    app = Starlette(
        routes=all_routes(),
        middleware=[
            Middleware(SecurityHeaders),
            Middleware(
                Guard,
                token=token,
                allowed_hosts=allowed_hosts,
                refuse=error_response,
                enter=_enter,
            ),
            Middleware(GZipMiddleware, minimum_size=1000, compresslevel=3),
        ],
        exception_handlers={
            TracerError: _on_tracer_error,
            HTTPException: _on_http_error,
            Exception: _on_bug,
        },
        lifespan=lifespan,
    )
    app.state.service = service
    app.state.follower = follower
    return app
