"""A request: the prompt map, the prefix as sections, the conversation, usage and evidence."""

from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar
from urllib.parse import parse_qs, urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tracer.model.unfolded import Unfolded
from tracer.model.views import RequestDetail
from web.anatomy import (
    BareBlock,
    Prefix,
    SectionRow,
    head_blocks,
    make_prefix,
    marked_spans,
    section_row,
)
from web.blocks import (
    BlockRow,
    BlockState,
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
from web.checks import RequestRules, rules_of_request
from web.conversation import MessageRow, conversation, message_row
from web.filters import one_line
from web.layout.read_marks import ReadMarks
from web.params import whole_number
from web.rendering import Chrome, Crumb, chrome, render, service_of
from web.segments import Outline, make_outline
from web.urls import SessionState, against_url, compare_url, request_url, unfolded_url
from web.verdict import Callout, NoCallout, make_callout, marks_of

RowT = TypeVar("RowT", SectionRow, MessageRow, BlockRow)


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Addresses of the requests around this one; empty where there is none."""

    session: str
    previous: str
    next: str
    baseline: str
    compare: str
    raw: str
    attempts: tuple[tuple[str, int, str], ...]


@dataclass(frozen=True)
class RequestPage:
    """The whole page."""

    template: ClassVar[str] = "pages/request.html"
    chrome: Chrome
    detail: RequestDetail
    near: Neighbours
    callout: Callout | NoCallout
    rules: RequestRules
    marks: ReadMarks | None
    whole: tuple[MapLink, ...]
    part: tuple[MapLink, ...]
    outline: Outline | None
    prefix: Prefix
    messages: tuple[MessageRow, ...]
    rows: tuple[BlockRow, ...]
    raw: bool
    pages: Pager


@dataclass(frozen=True)
class BlockFragment:
    """One block's row, folded or unfolded."""

    template: ClassVar[str] = "partials/_block.html"
    row: BlockRow


@dataclass(frozen=True)
class SectionFragment:
    """One section's row, folded or unfolded."""

    template: ClassVar[str] = "partials/_section.html"
    row: SectionRow


@dataclass(frozen=True)
class MessageFragment:
    """One message's row, folded or unfolded."""

    template: ClassVar[str] = "partials/_message.html"
    row: MessageRow


def _numbers(request: Request, name: str) -> frozenset[int]:
    texts = request.query_params.getlist(name)
    return frozenset(int(t) for t in texts if t.isascii() and t.isdigit() and len(t) < 9)


def _block_state(request: Request) -> BlockState:
    asked = request.query_params
    return BlockState(
        opened=_numbers(request, "block"),
        whole="whole" in asked,
        raw=asked.get("raw", "") not in ("", "0"),
        mark=asked.get("mark", "")[:200],
    )


def _near(detail: RequestDetail) -> Neighbours:
    request = detail.request
    baseline = detail.baseline_key
    return Neighbours(
        session=SessionState(request.session_id, request.key).page,
        previous=request_url(detail.previous_key) if detail.previous_key else "",
        next=request_url(detail.next_key) if detail.next_key else "",
        baseline=request_url(baseline) if baseline else "",
        compare=compare_url(baseline, request.key) if baseline else "",
        raw=request_url(request.key, detail.block_from, raw=True) + "#blocks",
        attempts=tuple((request_url(k), n, s.value) for k, n, s in detail.attempts),
    )


def _frame(request: Request, detail: RequestDetail, revision: int) -> Chrome:
    title = one_line(detail.session.title) or detail.session.session_id
    name = f"Request {detail.request.seq:,}"
    crumbs = Crumb("Sessions", "/"), Crumb(title, _near(detail).session), Crumb(name)
    return chrome(request, f"{name} · {title}", *crumbs, revision=revision)


def _page(request: Request, detail: RequestDetail, state: BlockState, revision: int) -> RequestPage:
    head, whole = head_blocks(detail), whole_map(detail)
    against = request.query_params.get("against", "")
    callout = make_callout(service_of(request), detail.request.key, against)
    messages = _numbers(request, "message")
    prefix = make_prefix(detail, head, _numbers(request, "section"))
    return RequestPage(
        chrome=_frame(request, detail, revision),
        detail=detail,
        near=_near(detail),
        callout=callout,
        rules=rules_of_request(service_of(request), detail.request.key, detail.request.session_id),
        marks=marks_of(callout, tuple(link.piece for link in whole), detail.part_sizes),
        whole=whole,
        part=page_map(detail) if len(detail.blocks) < detail.block_total else (),
        outline=make_outline(detail),
        prefix=replace(
            prefix,
            rows=tuple(
                r if isinstance(r, BareBlock) else _keeping(r, against) for r in prefix.rows
            ),
            unlocated=tuple(_keeping(r, against) for r in prefix.unlocated),
        ),
        messages=tuple(_keeping(r, against) for r in conversation(detail, len(head), messages)),
        rows=tuple(
            _keeping(r, against)
            for r in block_rows(detail, state, lambda b: marked_spans(detail, b, state.mark))
        ),
        raw=state.raw,
        pages=_paging(pager(detail, raw=state.raw), against),
    )


def _keeping(row: RowT, against: str) -> RowT:
    """A row whose address keeps the chosen baseline, for a browser that follows it as a link."""
    return replace(row, toggle_href=against_url(row.toggle_href, against)) if against else row


def _paging(pages: Pager, against: str) -> Pager:
    earlier, later = (h and against_url(h, against) for h in (pages.earlier, pages.later))
    return replace(pages, earlier=earlier, later=later)


def _replacing(request: Request, href: str) -> dict[str, str]:
    """The page's address after a row was folded or unfolded; the chosen baseline stays in it."""
    shown = parse_qs(urlsplit(request.headers.get("hx-current-url", "")).query)
    return {"HX-Replace-Url": against_url(href, shown.get("against", [""])[0])}


def request_page(request: Request) -> Response:
    """The page."""
    service, state = service_of(request), _block_state(request)
    revision = service.revision()
    start = page_start(whole_number(request, "blocks_from") or 0, state.opened)
    shown = Unfolded(state.opened, _numbers(request, "message"))
    detail = load_detail(service, request.path_params["key"], start, shown)
    return render(request, _page(request, detail, state, revision))


def block_fragment(request: Request) -> Response:
    """One block's row: unfolded, or folded again with `folded`."""
    key, index = request.path_params["key"], request.path_params["index"]
    block = service_of(request).block(key, index)
    asked = _block_state(request)
    folded = "folded" in request.query_params
    opened = frozenset() if folded else frozenset((index,))
    start = whole_number(request, "blocks_from") or 0
    row = block_row(key, block, start, BlockState(opened, asked.whole, asked.raw))
    href = request_url(key, start, None if folded else index, raw=asked.raw)
    return render(request, BlockFragment(row=row), headers=_replacing(request, href))


def section_fragment(request: Request) -> Response:
    """One section's row: unfolded, or folded again with `folded`."""
    key, index = request.path_params["key"], request.path_params["index"]
    detail = load_detail(service_of(request), key, 0, Unfolded())
    at = {block.index: block for block in detail.blocks}
    folded = "folded" in request.query_params
    row = section_row(detail, index, at, opened=not folded)
    href = request_url(key) if folded else unfolded_url(key, "section", index)
    return render(request, SectionFragment(row=row), headers=_replacing(request, href))


def message_fragment(request: Request) -> Response:
    """One message's row: unfolded, or folded again with `folded`."""
    service = service_of(request)
    key, index = request.path_params["key"], request.path_params["index"]
    start = whole_number(request, "blocks_from") or 0
    folded = "folded" in request.query_params
    detail = load_detail(service, key, start, Unfolded(messages=() if folded else (index,)))
    row = message_row(detail, index, opened=not folded)
    href = request_url(key, start) if folded else unfolded_url(key, "message", index, start)
    return render(request, MessageFragment(row=row), headers=_replacing(request, href))


_FRAGMENTS = "/fragments/requests/{key:path}"

ROUTES = (
    Route(_FRAGMENTS + "/blocks/{index:int}", block_fragment, name="request.block"),
    Route(_FRAGMENTS + "/sections/{index:int}", section_fragment, name="request.section"),
    Route(_FRAGMENTS + "/messages/{index:int}", message_fragment, name="request.message"),
    Route("/requests/{key:path}", request_page, name="request"),
)
