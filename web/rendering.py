"""From a page's dataclass to a response: one environment, one frame around all pages."""

import re
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, ClassVar, Protocol, cast
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from tracer.service import Service
from web.assets import static_url
from web.compare_words import COMPARE_WORDS
from web.compiled import CompiledTemplates
from web.filters import FILTERS, visible
from web.follower import FollowState
from web.layout.prompt_map import part_name
from web.layout.words import WORDS
from web.search_words import SEARCH_WORDS
from web.urls import ADDRESSES
from web.verdict_words import VERDICT_WORDS

THEMES = ("auto", "dark", "light")
_THEME_COOKIE = "tracer_theme"
_YEAR_S = 365 * 24 * 3600
_SURROGATES = re.compile("[\ud800-\udfff]")


class Page(Protocol):
    """A frozen dataclass whose fields are the names that its template uses."""

    template: ClassVar[str]


@dataclass(frozen=True, slots=True)
class Crumb:
    """One step of the way to a page; the last one has no address."""

    label: str
    href: str = ""


@dataclass(frozen=True, slots=True)
class Chrome:
    """What the frame around every page shows. `revision` is what the page was built from; a paused
    page stays as it is until somebody lets it go on. `reveals` tells that secrets are shown."""

    title: str
    crumbs: tuple[Crumb, ...]
    here: str
    theme: str
    next_theme: str
    theme_href: str
    revision: int
    follow: FollowState
    filter_text: str = ""
    paused: bool = False
    pause_href: str = ""
    live_id: str = "live"
    reveals: bool = False


def _finalize(value: Any) -> Any:
    """The last step before a value is escaped: no text reaches a page with hidden characters."""
    return visible(value) if type(value) is str and not value.isprintable() else value


@cache
def environment() -> Environment:
    """The template environment: everything escaped, a misspelt name is an error."""
    made = Environment(
        loader=PackageLoader("web", "templates"),
        autoescape=True,
        finalize=_finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        optimized=False,  # it computes nothing in our templates, and takes its time
        bytecode_cache=CompiledTemplates(),
    )
    made.filters.update(FILTERS | WORDS | COMPARE_WORDS | VERDICT_WORDS | SEARCH_WORDS | ADDRESSES)
    made.filters["part_name"] = part_name
    made.globals["static_url"] = static_url
    return made


def service_of(request: Request) -> Service:
    """The service that the application was made with."""
    return cast(Service, request.app.state.service)


def follow_state(request: Request) -> FollowState:
    """Whether files are being followed right now."""
    follower = request.app.state.follower
    return FollowState() if follower is None else cast(FollowState, follower.state)


def _theme(request: Request) -> str:
    for asked in (request.query_params.get("theme"), request.cookies.get(_THEME_COOKIE)):
        if asked in THEMES:
            return asked
    return THEMES[0]


def chrome(
    request: Request, title: str, *crumbs: Crumb, revision: int = -1, filter_text: str = ""
) -> Chrome:
    """The frame of a page. Take the revision before reading what the page shows."""
    theme = _theme(request)
    following = THEMES[(THEMES.index(theme) + 1) % len(THEMES)]
    paused = request.query_params.get("paused") == "1"
    return Chrome(
        title=title,
        crumbs=crumbs,
        here=request.url.path.partition("/")[2].partition("/")[0],
        theme=theme,
        next_theme=following,
        theme_href=_same_page(request, "theme", following),
        revision=revision,
        follow=follow_state(request),
        filter_text=filter_text,
        paused=paused,
        pause_href=_same_page(request, "paused", "" if paused else "1"),
        reveals=service_of(request).reveals_secrets,
    )


def html_of(page: Page) -> str:
    """The page's template with the page's fields."""
    context = {field.name: getattr(page, field.name) for field in fields(cast(Any, page))}
    return _SURROGATES.sub("\ufffd", environment().get_template(page.template).render(context))


def _same_page(request: Request, name: str, value: str) -> str:
    """The query of this page with another value of one parameter; without it for an empty one."""
    pairs = [(k, v) for k, v in request.query_params.multi_items() if k not in (name, "token")]
    pairs += [(name, value)] if value else []
    return "?" + urlencode(pairs, errors="surrogatepass")


def render(
    request: Request, page: Page, status_code: int = 200, headers: dict[str, str] | None = None
) -> HTMLResponse:
    """The page as HTML. A theme named in the address is remembered in a cookie."""
    response = HTMLResponse(html_of(page), status_code=status_code, headers=headers)
    if request.query_params.get("theme") in THEMES:
        response.set_cookie(
            _THEME_COOKIE, _theme(request), max_age=_YEAR_S, httponly=True, samesite="strict"
        )
    return response
