"""The search: where a text stands, who sent it, and a way to each of those places."""

from dataclasses import dataclass
from typing import ClassVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tracer.model.search_views import (
    BLOCK_KINDS,
    ROW_KINDS,
    FoundText,
    SearchChoices,
    SearchPage,
    TextUse,
)
from tracer.model.views import SessionSummary
from tracer.service import Service
from web.layout.marks import Piece, Span, cut
from web.rendering import Chrome, Crumb, chrome, render, service_of
from web.search_state import ROWS, SearchState, asked_for, paging, search_state
from web.urls import SessionState, marked_url, request_url


@dataclass(frozen=True, slots=True)
class UseRow:
    """A session that has the text, with the addresses of the text in its first and last request;
    empty where none is known."""

    use: TextUse
    session_href: str
    first_href: str
    last_href: str
    answer_href: str


@dataclass(frozen=True, slots=True)
class TextRow:
    """One text with its marked piece. `own_href` leads to it in the first request that sent it."""

    text: FoundText
    pieces: tuple[Piece, ...]
    own_href: str
    uses: tuple[UseRow, ...]


@dataclass(frozen=True, slots=True)
class Results:
    """What was found; `page` is None where nothing was asked for yet."""

    state: SearchState
    page: SearchPage | None
    rows: tuple[TextRow, ...]
    fragment: str
    earlier: str
    later: str


@dataclass(frozen=True, slots=True)
class SearchForm:
    """The form above the results."""

    state: SearchState
    choices: SearchChoices
    session: SessionSummary | None
    any_session_href: str
    block_kinds: tuple[str, ...] = BLOCK_KINDS
    row_kinds: tuple[str, ...] = ROW_KINDS


@dataclass(frozen=True)
class SearchView:
    """The whole page."""

    template: ClassVar[str] = "pages/search.html"
    chrome: Chrome
    form: SearchForm
    found: Results


@dataclass(frozen=True)
class SearchFragment:
    """The results alone."""

    template: ClassVar[str] = "partials/_found.html"
    found: Results


def _use_row(text: FoundText, use: TextUse) -> UseRow:
    start = text.piece.cut_before + text.piece.matches[0][0]
    end = text.piece.cut_before + text.piece.matches[0][1]

    def at(key: str, index: int | None) -> str:
        if not key:
            return ""
        return request_url(key) if index is None else marked_url(key, index, f"{start}-{end}")

    return UseRow(
        use,
        SessionState(use.session_id, use.first_key).page if use.session_id else "",
        at(use.first_key, use.first_index),
        at(use.last_key, use.last_index) if use.last_key != use.first_key else "",
        request_url(use.answered_key) + "#response" if use.answered_key else "",
    )


def _text_row(text: FoundText) -> TextRow:
    uses = tuple(_use_row(text, use) for use in text.uses)
    spans = tuple(Span(start, end, "found") for start, end in text.piece.matches)
    hrefs = (use.first_href or use.answer_href or use.session_href for use in uses)
    return TextRow(text, cut(text.piece.text, spans), next(filter(None, hrefs), ""), uses)


def _results(request: Request, service: Service, state: SearchState) -> Results:
    offset = paging(request)
    fragment = "/fragments" + state.href(offset)
    if not state.q.strip():
        return Results(state, None, (), fragment, "", "")
    page = service.search(asked_for(state, offset))
    end = offset + len(page.texts)
    return Results(
        state=state,
        page=page,
        rows=tuple(map(_text_row, page.texts)),
        fragment=fragment,
        earlier=state.href(max(0, offset - ROWS)) if offset else "",
        later=state.href(end) if page.texts and end < page.total else "",
    )


def search(request: Request) -> Response:
    """The page."""
    service, state = service_of(request), search_state(request)
    revision = service.revision()
    found = _results(request, service, state)
    session = service.session(state.session) if state.session else None
    form = SearchForm(state, service.search_choices(), session, state.without("session"))
    title = f"{state.q[:40]} · Search" if state.q else "Search"
    crumbs = (Crumb("Sessions", "/"), Crumb("Search"))
    frame = chrome(request, title, *crumbs, revision=revision, filter_text=state.q)
    return render(request, SearchView(chrome=frame, form=form, found=found))


def search_fragment(request: Request) -> Response:
    """The results alone; what the form asked for becomes the page's address."""
    state = search_state(request)
    found = _results(request, service_of(request), state)
    headers = {"HX-Replace-Url": state.href()} if request.headers.get("hx-request") else {}
    return render(request, SearchFragment(found=found), headers=headers)


ROUTES = (
    Route("/search", search, name="search"),
    Route("/fragments/search", search_fragment, name="search.found"),
)
