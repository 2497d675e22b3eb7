"""The sessions list: what was read, newest first, filtered by what stands in the address."""

from dataclasses import dataclass
from typing import ClassVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tracer.model.views import SessionSummary
from web.layout.spark import Spark, spark
from web.params import whole_number
from web.rendering import Chrome, Crumb, chrome, render, service_of
from web.session_filters import Chip, FilterForm, ListState, chips, filter_form, list_state
from web.urls import SessionState, checks_url, misses_url, story_url

ROWS = 100


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session with its addresses and its spark line."""

    session: SessionSummary
    href: str
    spark: Spark
    misses_href: str
    checks_href: str
    parent_href: str
    family_href: str


@dataclass(frozen=True, slots=True)
class SessionList:
    """One page of the list. Addresses are empty where there is no such page."""

    rows: tuple[SessionRow, ...]
    total: int
    first: int
    chips: tuple[Chip, ...]
    fragment: str
    newer: str
    older: str


@dataclass(frozen=True)
class SessionsPage:
    """The whole page."""

    template: ClassVar[str] = "pages/sessions.html"
    chrome: Chrome
    form: FilterForm
    found: SessionList


@dataclass(frozen=True)
class SessionsFragment:
    """The list alone."""

    template: ClassVar[str] = "partials/_sessions.html"
    found: SessionList


def _row(session: SessionSummary) -> SessionRow:
    name, parent = session.session_id, session.parent_session_id
    return SessionRow(
        session=session,
        href=SessionState(name).page,
        spark=spark(session.spark),
        misses_href=misses_url(name),
        checks_href=checks_url(name),
        parent_href=SessionState(parent).page if session.parent_stored else "",
        family_href=story_url(name) + "#family",
    )


def _list(request: Request, state: ListState) -> SessionList:
    offset = whole_number(request, "offset") or 0
    page = service_of(request).sessions(state.wanted(), limit=ROWS, offset=offset)
    end = offset + len(page.sessions)
    return SessionList(
        rows=tuple(map(_row, page.sessions)),
        total=page.total,
        first=offset + 1,
        chips=chips(state),
        fragment="/fragments/sessions" + state.query(offset),
        newer="/" + state.query(max(0, offset - ROWS)) if offset else "",
        older="/" + state.query(end) if end < page.total else "",
    )


def sessions(request: Request) -> Response:
    """The page."""
    service = service_of(request)
    revision, state = service.revision(), list_state(request)
    found = _list(request, state)
    form = filter_form(state, service.session_choices())
    frame = chrome(request, "Sessions", Crumb("Sessions"), revision=revision)
    return render(request, SessionsPage(chrome=frame, form=form, found=found))


def sessions_fragment(request: Request) -> Response:
    """The list alone; what the form asked for becomes the page's address."""
    state = list_state(request)
    by_form = request.headers.get("hx-trigger") in ("filters", "filter")
    headers = {"HX-Replace-Url": "/" + state.query()} if by_form else {}
    return render(request, SessionsFragment(found=_list(request, state)), headers=headers)


ROUTES = (
    Route("/", sessions, name="sessions"),
    Route("/fragments/sessions", sessions_fragment, name="sessions.rows"),
)
