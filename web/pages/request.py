"""A request: usage, evidence, the prompt map, and every block in order with its text."""

from dataclasses import dataclass
from typing import ClassVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tracer.model.views import RequestDetail
from web.blocks import (
    BlockRow,
    MapLink,
    Pager,
    block_row,
    block_rows,
    load_detail,
    page_map,
    page_start,
    pager,
    whole_map,
)
from web.filters import one_line
from web.params import whole_number
from web.rendering import Chrome, Crumb, chrome, render, service_of
from web.urls import SessionState, request_url


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Addresses of the requests around this one; empty where there is none."""

    session: str
    previous: str
    next: str
    baseline: str
    attempts: tuple[tuple[str, int, str], ...]


@dataclass(frozen=True)
class RequestPage:
    """The whole page."""

    template: ClassVar[str] = "pages/request.html"
    chrome: Chrome
    detail: RequestDetail
    near: Neighbours
    whole: tuple[MapLink, ...]
    part: tuple[MapLink, ...]
    rows: tuple[BlockRow, ...]
    pages: Pager


@dataclass(frozen=True)
class BlockFragment:
    """One block's row, folded or unfolded."""

    template: ClassVar[str] = "partials/_block.html"
    row: BlockRow


def _opened(request: Request) -> frozenset[int]:
    texts = request.query_params.getlist("block")
    return frozenset(int(t) for t in texts if t.isascii() and t.isdigit() and len(t) < 9)


def _near(detail: RequestDetail) -> Neighbours:
    request = detail.request
    return Neighbours(
        session=SessionState(request.session_id, request.key).page,
        previous=request_url(detail.previous_key) if detail.previous_key else "",
        next=request_url(detail.next_key) if detail.next_key else "",
        baseline=request_url(detail.baseline_key) if detail.baseline_key else "",
        attempts=tuple((request_url(k), n, s.value) for k, n, s in detail.attempts),
    )


def _frame(request: Request, detail: RequestDetail, revision: int) -> Chrome:
    title = one_line(detail.session.title) or detail.session.session_id
    name = f"Request {detail.request.seq}"
    crumbs = Crumb("Sessions", "/"), Crumb(title, _near(detail).session), Crumb(name)
    return chrome(request, f"{name} · {title}", *crumbs, revision=revision)


def request_page(request: Request) -> Response:
    """The page."""
    service, opened = service_of(request), _opened(request)
    revision = service.revision()
    start = page_start(whole_number(request, "blocks_from") or 0, opened)
    key = request.path_params["key"]
    detail = load_detail(service, key, start)
    whole = "whole" in request.query_params
    page = RequestPage(
        chrome=_frame(request, detail, revision), detail=detail, near=_near(detail),
        whole=whole_map(detail),
        part=page_map(detail) if len(detail.blocks) < detail.block_total else (),
        rows=block_rows(service, detail, opened, whole=whole), pages=pager(detail),
    )  # fmt: skip
    return render(request, page)


def block_fragment(request: Request) -> Response:
    """One row: unfolded, or folded again with `folded`."""
    key, index = request.path_params["key"], request.path_params["index"]
    block = service_of(request).block(key, index)
    asked = request.query_params
    start = whole_number(request, "blocks_from") or 0
    row = block_row(key, block, start, opened="folded" not in asked, whole="whole" in asked)
    href = request_url(key, start, None if "folded" in asked else index)
    return render(request, BlockFragment(row=row), headers={"HX-Replace-Url": href})


ROUTES = (
    Route(
        "/fragments/requests/{key:path}/blocks/{index:int}", block_fragment, name="request.block"
    ),
    Route("/requests/{key:path}", request_page, name="request"),
)
