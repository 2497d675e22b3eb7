"""The misses: what was billed again, by cause, and every miss with its place."""

from dataclasses import dataclass
from typing import ClassVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tracer.model.verdict_views import Misses, MissView
from tracer.model.views import SessionSummary
from tracer.service import Service
from tracer.service.verdicts import SessionCache
from web.filters import one_line
from web.layout.cause_bars import CauseBar, cause_bars
from web.params import whole_number
from web.rendering import Chrome, Crumb, chrome, render, service_of
from web.urls import SessionState, misses_url, request_url

ROWS = 100


@dataclass(frozen=True, slots=True)
class MissRow:
    """One miss with its addresses."""

    miss: MissView
    href: str
    session_href: str


@dataclass(frozen=True, slots=True)
class BarRow:
    """One cause with the address of its misses."""

    bar: CauseBar
    href: str


@dataclass(frozen=True, slots=True)
class MissList:
    """One page of the ranking. Addresses are empty where there is no such page; `session` is None
    where the misses are those of all sessions."""

    all: Misses
    session: SessionSummary | None
    session_href: str
    cause: str
    bars: tuple[BarRow, ...]
    rows: tuple[MissRow, ...]
    first: int
    whole_href: str
    fragment: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class CacheBox:
    """What the cache did over the session, where the page is about one."""

    cache: SessionCache | None
    misses_href: str


@dataclass(frozen=True)
class MissesPage:
    """The whole page."""

    template: ClassVar[str] = "pages/misses.html"
    chrome: Chrome
    found: MissList
    panel: CacheBox


@dataclass(frozen=True)
class MissesFragment:
    """The ranking alone."""

    template: ClassVar[str] = "partials/_misses.html"
    found: MissList


def _list(request: Request, service: Service) -> MissList:
    session_id = request.query_params.get("session", "")
    cause = request.query_params.get("cause", "")
    offset = whole_number(request, "offset") or 0
    session = service.session(session_id) if session_id else None
    got = service.misses(session_id, code=cause, limit=ROWS, offset=offset)
    end = offset + len(got.misses)
    return MissList(
        all=got,
        session=session,
        session_href=SessionState(session_id).page if session else "",
        cause=cause,
        bars=tuple(
            BarRow(bar, misses_url(session_id, bar.total.code)) for bar in cause_bars(got.causes)
        ),
        rows=tuple(
            MissRow(m, request_url(m.key), SessionState(m.session_id, m.key).page)
            for m in got.misses
        ),
        first=offset + 1,
        whole_href=misses_url(session_id if cause else ""),
        fragment="/fragments" + misses_url(session_id, cause, offset),
        before=misses_url(session_id, cause, max(0, offset - ROWS)) if offset else "",
        after=misses_url(session_id, cause, end) if got.misses and end < got.total else "",
    )


def misses(request: Request) -> Response:
    """The page."""
    service = service_of(request)
    revision = service.revision()
    found = _list(request, service)
    crumbs = [Crumb("Sessions", "/")]
    if found.session is not None:
        name = one_line(found.session.title) or found.session.session_id
        crumbs.append(Crumb(name, found.session_href))
    frame = chrome(request, "Misses", *crumbs, Crumb("Misses"), revision=revision)
    one = found.session
    box = CacheBox(
        service.session_cache(one.session_id) if one is not None and one.requests else None,
        misses_url(one.session_id) if one is not None else "",
    )
    return render(request, MissesPage(chrome=frame, found=found, panel=box))


def misses_fragment(request: Request) -> Response:
    """The ranking alone."""
    return render(request, MissesFragment(found=_list(request, service_of(request))))


ROUTES = (
    Route("/misses", misses, name="misses"),
    Route("/fragments/misses", misses_fragment, name="misses.rows"),
)
