"""A laid-out prompt on the pages: its segments, what the model knew, and the budget."""

from dataclasses import dataclass

from tracer.model.segment_views import (
    CHANGE_WORDS,
    GroupSize,
    RequestSegments,
    SegmentView,
    StateChangeView,
    StateView,
)
from tracer.model.views import RequestDetail
from tracer.service.budget import ContextBudget, context_budget
from web.urls import segments_url

_ORDER = {"tools": "Tools", "prefix": "Prefix", "history": "History", "tail": "Tail"}


@dataclass(frozen=True, slots=True)
class SegmentRow:
    """One segment: `href` leads to its first message, `width` is its share of the prompt in
    per cent, `words` say what became of it since the request before."""

    view: SegmentView
    href: str
    x: float
    width: float
    words: str
    kinds: str


@dataclass(frozen=True, slots=True)
class GroupRows:
    """A group with its segments."""

    name: str
    css: str
    size: GroupSize
    rows: tuple[SegmentRow, ...]


@dataclass(frozen=True, slots=True)
class ToolGroup:
    """The tools of one kind."""

    name: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StateRow:
    """One value of a World State; `changed` since the request before."""

    path: str
    json: str
    changed: bool


@dataclass(frozen=True, slots=True)
class StateTable:
    """A World State as rows."""

    name: str
    view: StateView
    rows: tuple[StateRow, ...]


@dataclass(frozen=True, slots=True)
class Budget:
    """A budget, drawn. Widths are per cent of the larger of what is taken and the window."""

    tokens: ContextBudget
    used_width: float
    reserve_width: float
    window_x: float


@dataclass(frozen=True, slots=True)
class Outline:
    """A laid-out prompt."""

    segments: RequestSegments
    title: str
    groups: tuple[GroupRows, ...]
    tools: tuple[ToolGroup, ...]
    states: tuple[StateTable, ...]
    changes: tuple[StateChangeView, ...]
    budget: Budget | None
    session_href: str


def make_outline(detail: RequestDetail) -> Outline | None:
    """The outline of a request; None where the log does not say how its prompt was laid out."""
    segments = detail.request.segments
    if segments is None:
        return None
    return Outline(
        segments=segments,
        title=segments.layout or "a plain list of messages",
        groups=_groups(segments),
        tools=_tools(segments),
        states=_states(segments),
        changes=segments.world.changes,
        budget=_budget(detail),
        session_href=segments_url(detail.request.session_id),
    )


def _groups(segments: RequestSegments) -> tuple[GroupRows, ...]:
    total = sum(size.tokens for size in segments.groups) or 1
    found = []
    at = 0
    for size in segments.groups:
        rows = []
        x = at
        for view in segments.segments:
            if view.group == size.group:
                rows.append(_row(view, x, total))
                x += view.tokens
        at += size.tokens
        name = _ORDER.get(size.group, "Segments")
        found.append(GroupRows(name, f"g-{size.group}", size, tuple(rows)))
    return tuple(found)


def _row(view: SegmentView, at: int, total: int) -> SegmentRow:
    kinds = ", ".join(
        f"{count} × {kind or 'no kind'}" if count > 1 else kind or "no kind"
        for kind, count in view.kinds
    )
    href = f"#m{view.first_message}" if view.messages else ""
    width = round(100 * view.tokens / total, 2)
    return SegmentRow(
        view, href, round(100 * at / total, 2), width, CHANGE_WORDS.get(view.change, ""), kinds
    )


def _tools(segments: RequestSegments) -> tuple[ToolGroup, ...]:
    groups: dict[str, list[str]] = {}
    for tool in segments.tools:
        with_capability = f"{tool.name} ({tool.capability})" if tool.capability else tool.name
        groups.setdefault(tool.group, []).append(with_capability)
    return tuple(ToolGroup(name or "in no group", tuple(names)) for name, names in groups.items())


def _states(segments: RequestSegments) -> tuple[StateTable, ...]:
    world = segments.world
    changed = {(change.scope, change.path) for change in world.changes}
    return tuple(
        StateTable(
            view.scope,
            view,
            tuple(
                StateRow(
                    " › ".join(value.path),
                    value.json,
                    any(
                        (view.scope, value.path[: n + 1]) in changed for n in range(len(value.path))
                    ),
                )
                for value in view.values
            ),
        )
        for view in (world.session, world.run)
        if view is not None
    )


def _budget(detail: RequestDetail) -> Budget | None:
    tokens = context_budget(detail)
    if tokens is None:
        return None
    scale = max(tokens.total_tokens, tokens.window_tokens)
    return Budget(
        tokens,
        round(100 * tokens.estimate_tokens / scale, 2),
        round(100 * (tokens.reserve_tokens or 0) / scale, 2),
        round(100 * tokens.window_tokens / scale, 2),
    )
