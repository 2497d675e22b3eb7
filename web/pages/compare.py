"""Two requests compared: the answer, the first difference, then every change, a page at a time."""

from dataclasses import dataclass
from typing import ClassVar

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from tracer.errors import NotFoundError, UsageError
from tracer.model.compare_views import ComparisonView
from tracer.model.views import Evidence
from tracer.service import Service
from web.compare_head import Head, Pick, make_head, make_pick
from web.compare_outline import Group, outline
from web.compare_rows import Inside, Row, RowPage, more_inside, one_row, row_page
from web.compare_state import CompareState, at_block, fragment_state, state_of
from web.filters import one_line
from web.hunks import LineRow, unified_rows
from web.layout.compare_map import CompareMap, compare_map
from web.params import whole_number
from web.rendering import Chrome, Crumb, chrome, render, service_of
from web.urls import SessionState, request_url


@dataclass(frozen=True)
class ComparePage:
    """The whole page."""

    template: ClassVar[str] = "pages/compare.html"
    chrome: Chrome
    head: Head
    pick: Pick | None
    view: ComparisonView
    map: CompareMap
    bar_hrefs: dict[int, str]
    parted: tuple[LineRow, ...]
    parted_href: str
    groups: tuple[Group, ...]
    page: RowPage
    limits: tuple[tuple[Evidence, str], ...] = ()
    """What the logs do not show, each with the address of a verdict that tells more, if any."""


@dataclass(frozen=True)
class ChangeFragment:
    """One change, opened or closed."""

    template: ClassVar[str] = "partials/_change.html"
    row: Row


@dataclass(frozen=True)
class HunksFragment:
    """More hunks of a change, in place of the link to them."""

    template: ClassVar[str] = "partials/_hunks.html"
    inside: Inside


def compare_page(request: Request) -> Response:
    """The page."""
    service, keys = service_of(request), request.path_params
    revision = service.revision()
    state = state_of(keys["a"], keys["b"], request.query_params)
    view = service.compare(state.a, state.b)
    state = at_block(state, view, whole_number(request, "block"))
    return render(request, _page(service, view, state, _frame(request, view, revision)))


def _page(
    service: Service, view: ComparisonView, state: CompareState, frame: Chrome
) -> ComparePage:
    rows = row_page(service, view, state)
    shown = range(rows.first, rows.last + 1)
    parted = view.divergence
    drawn = compare_map(
        view.changes, view.a.tokens, view.b.tokens, parted.where.token_offset if parted else None
    )
    return ComparePage(
        chrome=frame,
        head=make_head(view, state),
        pick=make_pick(service, view, state),
        view=view,
        map=drawn,
        bar_hrefs={bar.index: state.to(bar.index, shown) for bar in (*drawn.a, *drawn.b)},
        parted=unified_rows(parted.lines) if parted else (),
        parted_href="" if parted is None or parted.change_index is None
        else state.to(parted.change_index, shown),
        groups=outline(view, state, shown),
        page=rows,
        limits=tuple((one, request_url(one.key) if one.key else "") for one in view.limits),
    )  # fmt: skip


def choose(request: Request) -> Response:
    """To the page of two requests: `a` and `b` are keys or SESSION:NUMBER; without `a` the
    baseline of `b`."""
    service, asked = service_of(request), request.query_params
    if not asked.get("b"):
        raise UsageError("Name the request to compare: /compare?b=KEY, or a and b.")
    b = _key_of(service, asked["b"])
    a = _key_of(service, asked["a"]) if asked.get("a") else service.baseline(b)
    if not a:
        raise UsageError(f"Request {b} has no baseline: name another request to compare it with.")
    state = state_of(a, b, request.query_params)
    return RedirectResponse(state.other(a, b), status_code=303)


def hunks_fragment(request: Request) -> Response:
    """One change: opened, closed with `fold`, or its hunks from `offset` on."""
    service, state = service_of(request), fragment_state(request)
    index, offset = request.path_params["index"], whole_number(request, "offset")
    if offset:
        return render(request, HunksFragment(inside=more_inside(service, state, index, offset)))
    fold = "fold" in request.query_params
    view = service.compare(state.a, state.b)
    row = one_row(service, view, state, index, opened=not fold)
    return render(request, ChangeFragment(row=row), headers={"HX-Replace-Url": row.own_href})


def _key_of(service: Service, given: str) -> str:
    """The key that is meant: itself, or that of SESSION:NUMBER."""
    session, _, number = given.rpartition(":")
    if not session or not (number.isascii() and number.isdigit() and len(number) < 10):
        return given
    for found in service.requests(session):
        if found.seq == int(number):
            return found.key
    raise NotFoundError(f"Session {session} has no request {number}.")


def _frame(request: Request, view: ComparisonView, revision: int) -> Chrome:
    a, b = view.a.request, view.b.request
    name = f"Compare {a.seq} → {b.seq}"
    title = one_line(view.b.session_title)
    back = SessionState(b.session_id, b.key).page
    crumbs = Crumb("Sessions", "/"), Crumb(title, back), Crumb(name)
    return chrome(request, f"{name} · {title}", *crumbs, revision=revision)


ROUTES = (
    Route("/fragments/compare/{a}/{b}/hunks/{index:int}", hunks_fragment, name="compare.hunks"),
    Route("/compare/{a}/{b}", compare_page, name="compare"),
    Route("/compare", choose, name="compare.choose"),
)
