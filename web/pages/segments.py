"""How the laid-out prompts of a session lived: capabilities, skills, states, compactions, files."""

from dataclasses import dataclass
from typing import ClassVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tracer.model.segment_story import LaidOutRequest, SegmentStory
from tracer.model.views import SessionSummary
from web.filters import one_line
from web.params import whole_number
from web.rendering import Chrome, Crumb, chrome, render, service_of
from web.urls import SessionState, request_url, segments_url

PAGE_REQUESTS = 200


@dataclass(frozen=True, slots=True)
class GroupBar:
    """The share of a group in the largest prompt of the page, in per cent."""

    css: str
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class LaidRow:
    """A request with its bar; `begins_run` where another run begins with it."""

    request: LaidOutRequest
    href: str
    bars: tuple[GroupBar, ...]
    tokens: int
    begins_run: bool


@dataclass(frozen=True, slots=True)
class Switching:
    """Addresses of the pages of requests before and after; empty where there is none."""

    earlier: str
    later: str


@dataclass(frozen=True)
class SegmentsPage:
    """The whole page. `hrefs` are the addresses of all laid-out requests, by their numbers."""

    template: ClassVar[str] = "pages/segments.html"
    chrome: Chrome
    about: SessionSummary
    story: SegmentStory
    rows: tuple[LaidRow, ...]
    pages: Switching
    hrefs: dict[int, str]


def segments_page(request: Request) -> Response:
    """The page."""
    service, session_id = service_of(request), request.path_params["session_id"]
    revision = service.revision()
    session, story = service.session(session_id), service.segment_story(session_id)
    start = min(max(whole_number(request, "from") or 0, 0), max(len(story.requests) - 1, 0))
    title = one_line(session.title) or session_id
    crumbs = Crumb("Sessions", "/"), Crumb(title, SessionState(session_id).page), Crumb("Segments")
    page = SegmentsPage(
        chrome=chrome(request, f"Segments · {title}", *crumbs, revision=revision),
        about=session,
        story=story,
        rows=_rows(story, start),
        pages=_switching(story, start),
        hrefs={r.seq: request_url(r.key) for r in story.requests},
    )
    return render(request, page)


def _switching(story: SegmentStory, start: int) -> Switching:
    before, after = start - PAGE_REQUESTS, start + PAGE_REQUESTS
    return Switching(
        segments_url(story.session_id, max(before, 0)) if start else "",
        segments_url(story.session_id, after) if after < len(story.requests) else "",
    )


def _rows(story: SegmentStory, start: int) -> tuple[LaidRow, ...]:
    shown = story.requests[start : start + PAGE_REQUESTS]
    sums = [sum(group.tokens for group in request.groups) for request in shown]
    top = max(sums, default=0) or 1
    rows = []
    run: int | None = None
    for request, tokens in zip(shown, sums, strict=True):
        begins = request.run is not None and request.run != run
        run = request.run
        rows.append(LaidRow(request, request_url(request.key), _bars(request, top), tokens, begins))
    return tuple(rows)


def _bars(request: LaidOutRequest, top: int) -> tuple[GroupBar, ...]:
    bars = []
    at = 0
    for group in request.groups:
        width = round(100 * group.tokens / top, 2)
        bars.append(GroupBar(f"g-{group.group}", round(100 * at / top, 2), width))
        at += group.tokens
    return tuple(bars)


ROUTES = (Route("/sessions/{session_id:id}/segments", segments_page, name="segments"),)
