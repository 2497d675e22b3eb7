"""The sessions list: what was read, newest first, filtered by a text in the address."""

from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tracer.model.views import SessionSummary
from web.layout.spark import Spark, spark
from web.params import whole_number
from web.rendering import Chrome, Crumb, chrome, render, service_of
from web.urls import SessionState, misses_url

ROWS = 100


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session with its address and its spark line."""

    session: SessionSummary
    href: str
    spark: Spark
    misses_href: str


@dataclass(frozen=True, slots=True)
class SessionList:
    """One page of the list. Addresses are empty where there is no such page."""

    rows: tuple[SessionRow, ...]
    total: int
    first: int
    text: str
    fragment: str
    newer: str
    older: str


@dataclass(frozen=True)
class SessionsPage:
    """The whole page."""

    template: ClassVar[str] = "pages/sessions.html"
    chrome: Chrome
    found: SessionList


@dataclass(frozen=True)
class SessionsFragment:
    """The list alone."""

    template: ClassVar[str] = "partials/_sessions.html"
    found: SessionList


def _query(text: str, offset: int) -> str:
    pairs: list[tuple[str, str | int]] = []
    if text:
        pairs.append(("q", text))
    if offset:
        pairs.append(("offset", offset))
    return "?" + urlencode(pairs, errors="surrogatepass") if pairs else ""


def _list(request: Request) -> SessionList:
    text = request.query_params.get("q", "").strip()
    offset = whole_number(request, "offset") or 0
    page = service_of(request).sessions(text, limit=ROWS, offset=offset)
    rows = tuple(
        SessionRow(s, SessionState(s.session_id).page, spark(s.spark), misses_url(s.session_id))
        for s in page.sessions
    )
    return SessionList(
        rows=rows,
        total=page.total,
        first=offset + 1,
        text=text,
        fragment="/fragments/sessions" + _query(text, offset),
        newer="/" + _query(text, max(0, offset - ROWS)) if offset else "",
        older="/" + _query(text, offset + ROWS) if offset + len(rows) < page.total else "",
    )


def sessions(request: Request) -> Response:
    """The page."""
    revision = service_of(request).revision()
    found = _list(request)
    frame = chrome(
        request, "Sessions", Crumb("Sessions"), revision=revision, filter_text=found.text
    )
    return render(request, SessionsPage(chrome=frame, found=found))


def sessions_fragment(request: Request) -> Response:
    """The list alone."""
    return render(request, SessionsFragment(found=_list(request)))


ROUTES = (
    Route("/", sessions, name="sessions"),
    Route("/fragments/sessions", sessions_fragment, name="sessions.rows"),
)
