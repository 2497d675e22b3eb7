"""Where the keys lead from a request: to another request, turn, miss, or change of a row."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tracer.model.views import RequestOutline, SessionSummary
from tracer.service import Service
from web.filters import one_line
from web.layout.presence import row_events
from web.layout.window import Window, choose
from web.urls import SessionState


@dataclass(frozen=True, slots=True)
class Link:
    """A link to another request. `fragment` is that of the panel; empty where the timeline has to
    move, too."""

    href: str
    fragment: str


@dataclass(frozen=True, slots=True)
class Pair:
    """Both ways of one walk, with the ids that the keys press."""

    name: str
    back_id: str
    back_key: str
    back: Link | None
    on_id: str
    on_key: str
    on: Link | None


Leading = Callable[[int | None], Link | None]
"""From a request's number to the link that leads to it."""


def make_walk(
    service: Service, state: SessionState, session: SessionSummary, seq: int
) -> tuple[Pair, ...]:
    """The walks from a request, or with `seq` 0 from before the first one."""
    requests = service.outline(state.session_id)
    window = choose(session.requests, state.first, state.last, seq or None)

    def step(target: int | None) -> Link | None:
        if target is None or target == seq or not 0 < target <= len(requests):
            return None
        return _link(state, window, requests[target - 1])

    misses = [request.seq for request in requests if request.is_miss]
    pairs = [
        Pair("request", "previous", "k", step(seq - 1), "next", "j", step(seq + 1)),
        _pair("turn", "t", _turn_starts(requests), seq, step),
        _pair("miss", "m", misses, seq, step, around=True),
    ]
    if state.row:
        events = row_events(service.presence(state.session_id), state.row)
        back, on = _around(events, seq)
        name = one_line(state.row.partition(":")[2]) or "MCS messages"
        pairs.append(Pair(name, "row-back", "p", step(back), "row-on", "n", step(on)))
    return tuple(pair for pair in pairs if pair.back or pair.on)


def clear_link(state: SessionState) -> Link:
    """The link that lets go of the request."""
    bare = state.selecting("")
    return Link(bare.page, bare.panel)


def _pair(
    name: str, key: str, places: Sequence[int], seq: int, step: Leading, *, around: bool = False
) -> Pair:
    """Both ways; `around` goes on at the other end."""
    back, on = _around(places, seq)
    if around and places:
        back, on = back or places[-1], on or places[0]
    return Pair(name, f"{name}-back", key.upper(), step(back), f"{name}-on", key, step(on))


def _around(places: Sequence[int], seq: int) -> tuple[int | None, int | None]:
    """The last place before and the first place after a request."""
    before = [place for place in places if place < seq]
    return (before[-1] if before else None), next((p for p in places if p > seq), None)


def _turn_starts(requests: Sequence[RequestOutline]) -> list[int]:
    starts: list[int] = []
    turn = ""
    for request in requests:
        if request.turn_number is not None and request.turn_id != turn:
            turn = request.turn_id
            starts.append(request.seq)
    return starts


def _link(state: SessionState, window: Window, request: RequestOutline) -> Link:
    target = state.selecting(request.key)
    if window.holds(request.seq):
        target = target.showing(window) if window.pinned else target
        return Link(target.page, target.panel)
    moved = target.showing(window.around(request.seq)) if window.pinned else target
    return Link(moved.page, "")
