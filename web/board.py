"""The board of a session: its figures, the overview strip, the timeline and how to move it."""

from dataclasses import dataclass

from tracer.errors import NotFoundError
from tracer.model.anatomy_views import PRESENCE_GROUPS, Presence
from tracer.model.surroundings import Surroundings
from tracer.model.views import SessionSummary, Timeline, TimelineColumn, TimelineEvent
from web.layout.axis import AXES, Axis, make_axis
from web.layout.lanes import Switch, all_lanes, switches
from web.layout.overview import Jump, Overview, overview
from web.layout.presence import FOLDS, Hap, PresenceDrawing, draw_presence
from web.layout.timeline import (
    CACHE_HINT,
    PROMPT_HINT,
    SCALES,
    Addresses,
    TimelineDrawing,
    draw_timeline,
    window_columns,
)
from web.layout.window import DEFAULT_COLUMNS, Window, choose
from web.urls import SessionState, compare_url, marked_url, request_url

MOST_EVENTS = 60
_SCALE_WORDS = {"window": "fit window", "session": "fit session", "share": "100 %"}
_AXIS_WORDS = {"request": "by request", "time": "by time"}
_BARS = (
    Switch("prompt", "Prompt", PROMPT_HINT, shown=True, has=True),
    Switch("cache", "Cache", CACHE_HINT, shown=True, has=True),
)
_MATRIX_LABELS = {
    "sections": ("Sections", "how each named part of the prefix lived"),
    "reminders": ("Reminders", "how the notes of each source lived"),
    "mcs": ("Mid-conversation", "system messages in mid-conversation"),
    "tools": ("Tools", "how the schema of each tool lived"),
}

LANE_NAMES = frozenset(
    {switch.name for switch in _BARS} | {lane.name for lane in all_lanes()} | set(PRESENCE_GROUPS)
)


@dataclass(frozen=True, slots=True)
class Move:
    """A link that changes the window or the scale; `on` is false where it would change nothing."""

    name: str
    label: str
    hint: str
    href: str
    fragment: str
    on: bool


@dataclass(frozen=True, slots=True)
class SwitchLink:
    """A lane that a click draws or hides; `drawn` is whether it is there now."""

    switch: Switch
    drawn: bool
    move: Move


@dataclass(frozen=True, slots=True)
class JumpLink:
    """A clickable stretch of the overview."""

    jump: Jump
    href: str
    fragment: str


@dataclass(frozen=True, slots=True)
class EventRow:
    """One event with the address of the request after it."""

    event: TimelineEvent
    href: str


@dataclass(frozen=True, slots=True)
class ChildRow:
    """One session of a subagent."""

    session: SessionSummary
    href: str


@dataclass(frozen=True, slots=True)
class Board:
    """Everything above and beside the panel."""

    state: SessionState
    session: SessionSummary
    parent_href: str
    window: Window
    drawing: TimelineDrawing
    presence: PresenceDrawing | None
    folds: dict[str, Move]
    strip: Overview
    jumps: tuple[JumpLink, ...]
    moves: tuple[Move, ...]
    scales: tuple[Move, ...]
    axes: tuple[Move, ...]
    lanes: tuple[SwitchLink, ...]
    rows: dict[str, Move]
    column_prefix: str
    fragment_prefix: str
    events: tuple[EventRow, ...]
    events_total: int
    children: tuple[ChildRow, ...]
    uncounted_blocks: int
    grouped: bool


def make_board(
    timeline: Timeline, presence: Presence, around: Surroundings, state: SessionState
) -> Board:
    """The board in a state. Raises NotFoundError where the selected request is not in it."""
    selected = _position(timeline, state.request)
    window = window_of(timeline, state)
    bare = state.selecting("")
    pinned = bare.showing(window) if window.pinned else bare
    axis = make_axis(state.x, window_columns(timeline, window))
    lanes = _lanes(timeline, around, presence, state)
    drawn = frozenset(link.switch.name for link in lanes if link.drawn)
    drawing = draw_timeline(
        timeline,
        window,
        state.request,
        Addresses(
            select=lambda request: pinned.selecting(request.key).query,
            zoom=lambda w: bare.showing(w).query,
            child=lambda session_id, key: SessionState(session_id, key).page,
        ),
        around=around,
        axis=axis,
        lanes=drawn,
        scale=state.scale,
    )
    matrix = _presence(timeline, presence, axis, state, drawn)
    strip = overview(timeline.outline, window, selected)
    session = timeline.session
    parent = session.parent_session_id
    return Board(
        state=state,
        session=session,
        parent_href=SessionState(parent).page if parent else "",
        window=window,
        drawing=drawing,
        presence=matrix,
        folds={name: _fold(state, name) for name in FOLDS},
        strip=strip,
        jumps=tuple(_jump(state, jump) for jump in strip.jumps),
        moves=_moves(state, window),
        scales=_scales(state),
        axes=_axes(state),
        lanes=lanes,
        rows=_rows(matrix, state),
        column_prefix=state.path,
        fragment_prefix=f"/fragments{state.path}/panel",
        events=_events(timeline, pinned, window),
        events_total=len(timeline.events),
        children=tuple(
            ChildRow(child, SessionState(child.session_id).page) for child in timeline.children
        ),
        uncounted_blocks=timeline.uncounted_blocks,
        grouped=any(map(_is_laid_out, window_columns(timeline, window))),
    )


def window_of(timeline: Timeline, state: SessionState) -> Window:
    """The window of a state. Raises NotFoundError where the selected request is not in it."""
    selected = _position(timeline, state.request)
    return choose(len(timeline.columns), state.first, state.last, selected)


def _is_laid_out(column: TimelineColumn) -> bool:
    segments = column.request.segments
    return segments is not None and segments.known


def _position(timeline: Timeline, key: str) -> int | None:
    """The selected column, counted from 1."""
    if not key:
        return None
    for request in timeline.outline:
        if request.key == key:
            return request.seq
    raise NotFoundError(f"Session {timeline.session.session_id} has no request {key}.")


def _pushing(state: SessionState) -> str:
    """The fragment of the timeline in a state, asking for the state to go into the history."""
    url = state.timeline
    return url + ("&" if "?" in url else "?") + "push=1"


def _jump(state: SessionState, jump: Jump) -> JumpLink:
    moved = state.showing(jump.window)
    return JumpLink(jump, moved.page, _pushing(moved))


def _moves(state: SessionState, window: Window) -> tuple[Move, ...]:
    everything = Window(1, window.total, window.total, pinned=True)
    start = window.around(1)
    tail = choose(window.total, None, None, None)
    steps = (
        ("first", "«", "first requests", start),
        ("back", "‹", "earlier requests", window.panned(-0.8)),
        ("forward", "›", "later requests", window.panned(0.8)),
        ("last", "»", f"last {DEFAULT_COLUMNS} requests, following new ones", tail),
        ("in", "+", "zoom in", window.zoomed(0.5)),
        ("out", "−", "zoom out", window.zoomed(2)),
        ("fit", "all", "all requests", everything),
    )
    return tuple(
        Move(name, label, hint, state.showing(target).page, _pushing(state.showing(target)),
             (target.first, target.last) != (window.first, window.last))
        for name, label, hint, target in steps
    )  # fmt: skip


def _scales(state: SessionState) -> tuple[Move, ...]:
    return tuple(
        Move(scale, _SCALE_WORDS[scale], f"height of the bars: {_SCALE_WORDS[scale]}",
             state.scaled(scale).page, _pushing(state.scaled(scale)), scale != state.scale)
        for scale in SCALES
    )  # fmt: skip


def _axes(state: SessionState) -> tuple[Move, ...]:
    return tuple(
        Move(x, _AXIS_WORDS[x], f"columns {_AXIS_WORDS[x]}",
             state.along(x).page, _pushing(state.along(x)), x != state.x)
        for x in AXES
    )  # fmt: skip


def _lanes(
    timeline: Timeline, around: Surroundings, presence: Presence, state: SessionState
) -> tuple[SwitchLink, ...]:
    """All lanes from top to bottom, each with the link that draws or hides it."""
    groups = {row.group for lane in presence.lanes for row in lane.rows}
    matrix = tuple(
        Switch(name, *_MATRIX_LABELS[name], shown=True, has=kind in groups)
        for name, kind in PRESENCE_GROUPS.items()
    )
    links = []
    for switch in (*_BARS, *switches(timeline, around), *matrix):
        drawn = switch.has and (
            switch.name in state.on or (switch.shown and switch.name not in state.off)
        )
        target = state.switching(switch.name, shown=not drawn, usual=switch.shown)
        move = Move(f"lane-{switch.name}", switch.label, switch.hint, target.page,
                    _pushing(target), switch.has)  # fmt: skip
        links.append(SwitchLink(switch, drawn, move))
    return tuple(links)


def _rows(matrix: PresenceDrawing | None, state: SessionState) -> dict[str, Move]:
    """A link for each row of the matrix that picks it out, or lets go of it."""
    links = {}
    for row in (row for group in (matrix.groups if matrix else ()) for row in group.rows):
        target = state.choosing("" if row.chosen else row.row)
        hint = "let go of this row" if row.chosen else "pick out this row: n and p walk its changes"
        links[row.row] = Move("", row.name, hint, target.page, _pushing(target), True)
    return links


def _presence(
    timeline: Timeline,
    presence: Presence,
    axis: Axis,
    state: SessionState,
    drawn: frozenset[str],
) -> PresenceDrawing | None:
    """The presence matrix under the timeline, on the same columns."""
    if not axis.slots:
        return None
    keys = {request.seq: request.key for request in timeline.outline}
    side = {request.lane for request in timeline.outline if request.side_call}

    def address(group: str, hap: Hap, name: str) -> str:
        key = keys.get(hap.seq, hap.run.first_key)
        before = hap.run.baseline_key if hap.seq == hap.run.first_seq else ""
        before = before or keys.get(hap.baseline_seq or 0, "")
        block = hap.run.block_index if hap.seq == hap.run.first_seq else None
        if hap.cell in ("changed", "gone") and before:
            return compare_url(before, key, block)
        if block is None:
            return request_url(key)
        return marked_url(key, block, "" if group == "tool" else name)

    kinds = [kind for name, kind in PRESENCE_GROUPS.items() if name in drawn]
    return draw_presence(
        presence, axis, side, state.unfolded, address, kinds=kinds, chosen=state.row
    )


def _fold(state: SessionState, name: str) -> Move:
    target = state.folding(name)
    shown = name in state.unfolded
    label, hint = ("fewer", "hide what did not change") if shown else ("all", "show all of them")
    return Move(f"fold-{name}", label, hint, target.page, _pushing(target), True)


def _events(timeline: Timeline, state: SessionState, window: Window) -> tuple[EventRow, ...]:
    """The events between the first and the last request of the window, the last ones of many."""
    first, last = window.first, window.last
    shown = [event for event in timeline.events if first <= event.after_seq + 1 <= last + 1]
    keys = {request.seq: request.key for request in timeline.outline}
    rows = []
    for event in shown[-MOST_EVENTS:]:
        near = keys.get(event.after_seq + 1) or keys.get(event.after_seq)
        rows.append(EventRow(event, state.selecting(near).page if near else ""))
    return tuple(rows)
