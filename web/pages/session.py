"""A session: figures, overview, timeline, and a panel with the selected request beside it."""

from dataclasses import dataclass
from typing import ClassVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tracer.errors import UsageError
from tracer.service import Service
from web.board import LANE_NAMES, Board, make_board, window_of
from web.filters import one_line
from web.layout.axis import AXES
from web.layout.presence import FOLDS
from web.layout.timeline import SCALES
from web.panel import Panel, make_panel
from web.params import one_of, whole_number
from web.rendering import Chrome, Crumb, chrome, render, service_of
from web.urls import SessionState


@dataclass(frozen=True)
class SessionPage:
    """The whole page."""

    template: ClassVar[str] = "pages/session.html"
    chrome: Chrome
    board: Board
    panel: Panel


@dataclass(frozen=True)
class BoardFragment:
    """Figures, overview and timeline."""

    template: ClassVar[str] = "partials/_board.html"
    board: Board


@dataclass(frozen=True)
class PanelFragment:
    """The panel alone."""

    template: ClassVar[str] = "partials/_panel.html"
    panel: Panel


def _state(request: Request) -> SessionState:
    return SessionState(
        session_id=request.path_params["session_id"],
        request=request.query_params.get("request", ""),
        first=whole_number(request, "from", least=1),
        last=whole_number(request, "to", least=1),
        scale=one_of(request, "scale", SCALES),
        unfolded=tuple(name for name in FOLDS if one_of(request, name, ("few", "all")) == "all"),
        x=one_of(request, "x", AXES),
        off=_names(request, "off"),
        on=_names(request, "on"),
        row=request.query_params.get("row", ""),
    )


def _names(request: Request, parameter: str) -> tuple[str, ...]:
    """The names of lanes in a list with commas. Raises UsageError for one that there is not."""
    names = [name for name in request.query_params.get(parameter, "").split(",") if name]
    for name in names:
        if name not in LANE_NAMES:
            raise UsageError(
                f"There is no lane {name!r}: {parameter} takes {', '.join(sorted(LANE_NAMES))}."
            )
    return tuple(dict.fromkeys(names))


def _board(service: Service, state: SessionState) -> Board:
    timeline = service.timeline(state.session_id)
    window = window_of(timeline, state)
    around = service.surroundings(state.session_id, window.first, window.last)
    return make_board(timeline, service.presence(state.session_id), around, state)


def session(request: Request) -> Response:
    """The page."""
    state = _state(request)
    service = service_of(request)
    revision = service.revision()
    board = _board(service, state)
    panel = make_panel(service, state, board.session)
    title = one_line(board.session.title) or state.session_id
    frame = chrome(request, title, Crumb("Sessions", "/"), Crumb(title), revision=revision)
    return render(request, SessionPage(chrome=frame, board=board, panel=panel))


def board_fragment(request: Request) -> Response:
    """The board alone; with `push` its state becomes the page's address, and the panel's."""
    state = _state(request)
    board = _board(service_of(request), state)
    pushed = {"HX-Push-Url": state.page, "HX-Trigger-After-Settle": "board"}
    headers = pushed if "push" in request.query_params else {}
    return render(request, BoardFragment(board=board), headers=headers)


def panel_fragment(request: Request) -> Response:
    """The panel alone."""
    state = _state(request)
    service = service_of(request)
    panel = make_panel(service, state, service.session(state.session_id))
    return render(request, PanelFragment(panel=panel))


_FRAGMENTS = "/fragments/sessions/{session_id:id}"

ROUTES = (
    Route(_FRAGMENTS + "/timeline", board_fragment, name="session.timeline"),
    Route(_FRAGMENTS + "/panel", panel_fragment, name="session.panel"),
    Route("/sessions/{session_id:id}", session, name="session"),
)
