"""A session as the agent lived it, one request after the other."""

from dataclasses import dataclass
from typing import ClassVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from web.conversation import MessageRow
from web.filters import one_line
from web.rendering import Chrome, Crumb, chrome, render, service_of
from web.replay import ReplayView, make_replay, message_here
from web.replay_state import replay_state


@dataclass(frozen=True)
class ReplayPage:
    """The whole page."""

    template: ClassVar[str] = "pages/replay.html"
    chrome: Chrome
    view: ReplayView


@dataclass(frozen=True)
class ReplayFragment:
    """The page without its frame."""

    template: ClassVar[str] = "partials/_replay.html"
    view: ReplayView


@dataclass(frozen=True)
class ReplayMessageFragment:
    """One message of the prompt, folded or unfolded."""

    template: ClassVar[str] = "partials/_message.html"
    row: MessageRow


def replay(request: Request) -> Response:
    """The page."""
    service = service_of(request)
    revision = service.revision()
    view = make_replay(service, replay_state(request))
    title = one_line(view.detail.session.title) or view.state.session_id
    name = f"Replay {view.detail.request.seq:,}"
    crumbs = Crumb("Sessions", "/"), Crumb(title, view.session_href), Crumb(name)
    frame = chrome(request, f"{name} · {title}", *crumbs, revision=revision)
    return render(request, ReplayPage(chrome=frame, view=view))


def replay_fragment(request: Request) -> Response:
    """The page without its frame."""
    view = make_replay(service_of(request), replay_state(request))
    return render(request, ReplayFragment(view=view))


def replay_message(request: Request) -> Response:
    """One message's row: unfolded, or folded again with `folded`."""
    index, state = request.path_params["index"], replay_state(request)
    folded = "folded" in request.query_params
    messages = state.messages - {index} if folded else state.messages | {index}
    after = state.with_messages(messages)
    row = message_here(service_of(request), after, index, opened=not folded)
    headers = {"HX-Replace-Url": f"{after.page}#m{index}"}
    return render(request, ReplayMessageFragment(row=row), headers=headers)


_FRAGMENT = "/fragments/sessions/{session_id:id}/replay"

ROUTES = (
    Route(_FRAGMENT + "/messages/{index:int}", replay_message, name="replay.message"),
    Route(_FRAGMENT, replay_fragment, name="replay.step"),
    Route("/sessions/{session_id:id}/replay", replay, name="replay"),
)
