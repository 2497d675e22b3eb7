"""The head of a comparison: the two requests, and the ways to two others."""

from collections.abc import Sequence
from dataclasses import dataclass

from tracer.model.compare_views import ComparedSide, ComparisonView, RequestChoice
from tracer.model.views import RequestSummary, SessionSummary
from tracer.service import Service
from web.compare_state import CONTEXTS, VIEWS, CompareState
from web.filters import clock, num, one_line
from web.urls import SessionState, request_url

MOST_SESSIONS = 60
_VIEW_NAMES = {"unified": "unified", "split": "side by side"}


@dataclass(frozen=True, slots=True)
class Option:
    """A request that can be chosen."""

    value: str
    label: str
    selected: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """A link to another state; `held` is the one that holds now."""

    label: str
    href: str
    held: bool


@dataclass(frozen=True, slots=True)
class SideHead:
    """One of the two requests; addresses are empty where there is nothing."""

    name: str
    side: ComparedSide
    request: RequestSummary
    title: str
    title_shown: bool
    groups: tuple[tuple[str, tuple[Option, ...]], ...]
    request_href: str
    session_href: str
    previous: str
    next: str
    pick_href: str


@dataclass(frozen=True, slots=True)
class Head:
    """Both sides, and the ways on: the other way round, both a step on, the baseline."""

    a: SideHead
    b: SideHead
    swap: str
    both_previous: str
    both_next: str
    baseline: str
    views: tuple[Choice, ...]
    contexts: tuple[Choice, ...]
    look: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class PickRow:
    """A session in which a request can be chosen for one side."""

    session: SessionSummary
    title: str
    href: str


@dataclass(frozen=True, slots=True)
class Pick:
    """Sessions to choose from for the side `name`."""

    name: str
    rows: tuple[PickRow, ...]
    total: int
    close: str


def make_head(view: ComparisonView, state: CompareState) -> Head:
    """The head of a comparison."""
    a, b = view.a, view.b
    return Head(
        a=_side("A", a, b, state),
        b=_side("B", b, a, state),
        swap=state.other(state.b, state.a),
        both_previous=_both(state, a.previous_key, b.previous_key),
        both_next=_both(state, a.next_key, b.next_key),
        baseline=_both(state, view.baseline_key, state.b) if view.baseline_key != state.a else "",
        views=tuple(
            Choice(_VIEW_NAMES[name], state.looking(view=name).page, state.view == name)
            for name in VIEWS
        ),
        contexts=tuple(
            Choice(num(lines), state.looking(context=lines).page, state.context == lines)
            for lines in CONTEXTS
        ),
        look=tuple((name, str(value)) for name, value in state.look),
    )


def _both(state: CompareState, a: str, b: str) -> str:
    return state.other(a, b) if a and b else ""


def _side(name: str, side: ComparedSide, other: ComparedSide, state: CompareState) -> SideHead:
    first = name == "A"
    own = side.request

    def leading(key: str) -> str:
        return (state.other(key, state.b) if first else state.other(state.a, key)) if key else ""

    groups = [(one_line(side.session_title), _options(side.choices, own.key))]
    if other.request.session_id != own.session_id:
        groups.append((one_line(other.session_title), _options(other.choices, own.key)))
    return SideHead(
        name=name,
        side=side,
        request=own,
        title=one_line(side.session_title),
        title_shown=other.request.session_id != own.session_id,
        groups=tuple(groups),
        request_href=request_url(own.key),
        session_href=SessionState(own.session_id, own.key).page,
        previous=leading(side.previous_key),
        next=leading(side.next_key),
        pick_href=state.picking(name.lower()).page,
    )


def _options(choices: Sequence[RequestChoice], selected: str) -> tuple[Option, ...]:
    return tuple(
        Option(
            c.key,
            " · ".join(
                filter(None, (
                    f"request {c.seq:,}",
                    one_line(c.query_source)[:24] if c.side_call else "",
                    one_line(c.model_id)[:24],
                    clock(c.started_at_ms),
                    "" if c.has_prompt else "no prompt",
                ))
            ),
            c.key == selected,
        )
        for c in choices
    )  # fmt: skip


def make_pick(service: Service, view: ComparisonView, state: CompareState) -> Pick | None:
    """The latest sessions, while another one is being chosen."""
    if not state.pick:
        return None
    first = state.pick == "a"
    seq = (view.a if first else view.b).request.seq
    found = service.sessions(limit=MOST_SESSIONS)
    return Pick(
        name=state.pick.upper(),
        rows=tuple(
            PickRow(
                session,
                one_line(session.title) or session.session_id,
                state.choosing(f"{session.session_id}:{min(seq, session.requests)}", first),
            )
            for session in found.sessions
            if session.requests
        ),
        total=found.total,
        close=state.picking("").page,
    )
