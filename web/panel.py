"""The panel beside the timeline: one request in short, or the session while none is selected."""

from dataclasses import dataclass

from tracer.errors import NotFoundError
from tracer.model.views import RequestDetail, SessionSummary
from tracer.service import Service
from web.layout.prompt_map import MapPiece, map_of_parts
from web.layout.window import Window, choose
from web.urls import SessionState, request_url


@dataclass(frozen=True, slots=True)
class Step:
    """A link to the request before or after. `fragment` is empty where the timeline has to move,
    so that the whole page is loaded."""

    href: str
    fragment: str


@dataclass(frozen=True, slots=True)
class Panel:
    """What the panel shows. `detail` is None while no request is selected."""

    state: SessionState
    session: SessionSummary
    detail: RequestDetail | None
    pieces: tuple[MapPiece, ...]
    previous: Step | None
    next: Step | None
    clear: Step
    request_href: str


def make_panel(service: Service, state: SessionState, session: SessionSummary) -> Panel:
    """The panel of the request that the state selects. Raises NotFoundError for a foreign key."""
    clear = _step(state.selecting(""))
    if not state.request:
        return Panel(state, session, None, (), None, None, clear, "")
    detail = service.request(state.request, block_limit=0)
    if detail.request.session_id != session.session_id:
        raise NotFoundError(
            f"Request {state.request} belongs to session {detail.request.session_id},"
            f" not to {session.session_id}."
        )
    seq = detail.request.seq
    window = choose(session.requests, state.first, state.last, seq)
    return Panel(
        state=state,
        session=session,
        detail=detail,
        pieces=map_of_parts(detail.part_sizes),
        previous=_neighbour(state, window, detail.previous_key, seq - 1),
        next=_neighbour(state, window, detail.next_key, seq + 1),
        clear=clear,
        request_href=request_url(state.request),
    )


def _step(state: SessionState) -> Step:
    return Step(state.page, state.panel)


def _neighbour(state: SessionState, window: Window, key: str, seq: int) -> Step | None:
    if not key:
        return None
    target = state.selecting(key)
    if window.holds(seq):
        return _step(target.showing(window) if window.pinned else target)
    moved = target.showing(window.around(seq)) if window.pinned else target
    return Step(moved.page, "")
