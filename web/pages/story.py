"""The turns of a session: what the user said, what the agent did, what the session belongs to."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tracer.model.story import SessionStory
from tracer.model.views import RequestSummary, SessionSummary
from tracer.service import Service
from tracer.service.verdicts import SessionCache
from web.filters import one_line
from web.layout.usage_chart import UsageChart, usage_chart
from web.panel import CACHE_BOX_REQUESTS
from web.params import whole_number
from web.rendering import Chrome, Crumb, chrome, render, service_of
from web.story import Relative, Turns, make_turns, relative
from web.story_usage import usage_points
from web.urls import SessionState, story_url


@dataclass(frozen=True, slots=True)
class StoryView:
    """Everything below the frame. `cache` is what the numbers alone tell, where they are all there
    is; None where prompts tell more, or the session is too long to wait for it."""

    session: SessionSummary
    story: SessionStory
    turns: Turns
    parent: Relative | None
    children: tuple[Relative, ...]
    chart: UsageChart | None
    cache: SessionCache | None
    session_href: str
    fragment: str


@dataclass(frozen=True)
class StoryPage:
    """The whole page."""

    template: ClassVar[str] = "pages/story.html"
    chrome: Chrome
    view: StoryView


@dataclass(frozen=True)
class StoryFragment:
    """The page without its frame."""

    template: ClassVar[str] = "partials/_story.html"
    view: StoryView


def _view(request: Request) -> StoryView:
    service, session_id = service_of(request), request.path_params["session_id"]
    turns_from = whole_number(request, "from", least=1) or 0
    session, story = service.session(session_id), service.story(session_id)
    outline, requests = service.outline(session_id), service.requests(session_id)
    return StoryView(
        session=session,
        story=story,
        turns=make_turns(story, outline, requests, turns_from),
        parent=relative(story.parent) if story.parent else None,
        children=tuple(map(relative, story.children)),
        chart=usage_chart(usage_points(story, outline)),
        cache=_numbers(service, session, requests),
        session_href=SessionState(session_id).page,
        fragment="/fragments" + story_url(session_id, turns_from),
    )


def _numbers(
    service: Service, session: SessionSummary, requests: Sequence[RequestSummary]
) -> SessionCache | None:
    if not requests or session.observed_metadata < session.requests:
        return None
    if len(requests) > CACHE_BOX_REQUESTS:
        return None
    return service.session_cache(session.session_id)


def story(request: Request) -> Response:
    """The page."""
    revision = service_of(request).revision()
    view = _view(request)
    title = one_line(view.session.title) or view.session.session_id
    crumbs = Crumb("Sessions", "/"), Crumb(title, view.session_href), Crumb("Turns")
    frame = chrome(request, f"Turns · {title}", *crumbs, revision=revision)
    return render(request, StoryPage(chrome=frame, view=view))


def story_fragment(request: Request) -> Response:
    """The page without its frame."""
    return render(request, StoryFragment(view=_view(request)))


ROUTES = (
    Route("/fragments/sessions/{session_id:id}/story", story_fragment, name="story.turns"),
    Route("/sessions/{session_id:id}/story", story, name="story"),
)
