"""Layouts of requests, as the service gives them."""

from tracer.model.segment_views import (
    CapabilityView,
    GroupSize,
    RequestSegments,
    SegmentView,
    SkillView,
    StateChangeView,
    StateValue,
    StateView,
    SummaryView,
    WorldView,
)
from tracer.model.segments import ToolNote


def some_segments() -> RequestSegments:
    """A layout of which everything is known."""
    state = StateView("session", {"cwd": "/w"}, (StateValue(("cwd",), '"/w"'),), 1, 2)
    return RequestSegments(
        layout="segments-14",
        known=True,
        segments=(
            SegmentView(1, "System prompt", "prefix", 0, 1, 40, 9, True, (("rules", 1),), "same"),
            SegmentView(8, "Inputs", "history", 1, 2, 80, 20, False, (("", 2),), "changed"),
        ),
        groups=(
            GroupSize("tools", 1, 100, 30, True),
            GroupSize("prefix", 1, 40, 9, True),
            GroupSize("history", 2, 80, 20, False),
        ),
        tools=(ToolNote("Read", "stable"), ToolNote("Search", "dynamic", "web")),
        world=WorldView(
            state,
            None,
            (
                StateChangeView("session", ("cwd",), '"/v"', '"/w"'),
                StateChangeView("session", ("web",), "true", ""),
            ),
            1,
        ),
        capabilities=(CapabilityView("web", 1, True, False), CapabilityView("ask", 0, False, None)),
        skills=(SkillView("review", "start", 1),),
        summary=SummaryView(1, 3, "m1", "m3"),
        transaction=(StateValue(("status",), '"open"'),),
        unresolved=("m9",),
        extra_json='{"mood":1}',
    )
