"""Builders of what stands beside the prompts of a session."""

from tracer.model.doctor_views import DoctorLine
from tracer.model.story import (
    CompactionView,
    ConflictView,
    FamilyLink,
    SessionStory,
    StoredSession,
    TodoView,
    ToolCallView,
    TurnView,
    UsageRowView,
)

AT_MS = 1_772_356_502_118  # 2026-03-01T09:15:02.118Z


def a_link(session_id: str = "sess_child") -> FamilyLink:
    """A session of the family of which everything is known."""
    return FamilyLink(
        session_id, "Look it up", "subagent_child", "call_1", "Explore", "completed", "exact",
        "the tool call that started it",
    )  # fmt: skip


def a_story() -> SessionStory:
    """A session of which everything is known."""
    numbers = (AT_MS, 16_000, 440, 4, 2, 4, 1, 7_365, 4_672, 212)
    turn = TurnView(
        "turn_1", 1, "Where is it lost?", "completed", *numbers, True, "msg_1", "message",
        "turn_usage",
    )  # fmt: skip
    call = ToolCallView(
        "call_1", "turn_1", "Agent", "error", "allowed", AT_MS + 2_800, AT_MS + 8_300, 5_500, 900,
        41, "no input", "msg_2", "c0ffee000001", "sess_child", ("tool_usage", "part"),
    )  # fmt: skip
    row = UsageRowView(
        "c0ffee000001", "u1", "database", "completed", "heuristic", "turn and time",
        (ConflictView("input_tokens", "100", "101"),), 2, 440, "msg_2",
        2_398, 200_000, (("system_prompt", 9_000),),
    )  # fmt: skip
    stored = StoredSession(
        "Departure missing", "generated", "/home/ada/demo", "interactive", "1", AT_MS, "msg_1",
    )  # fmt: skip
    return SessionStory(
        session_id="sess_demo",
        stored=stored,
        parent=a_link("sess_parent"),
        children=(a_link(),),
        turns=(turn,),
        tools=(call,),
        usage_rows=(row,),
        compactions=(CompactionView(AT_MS, "above_threshold", "completed", 2_796, 17),),
        todos=(TodoView("Add a test", "completed", "high"),),
        abandoned_messages=3,
        evidence=(DoctorLine("missing", "No prompts", "No record was read.", "Watch it."),),
    )


def a_bare_story() -> SessionStory:
    """A session of which next to nothing is known."""
    nothing = (None,) * 10
    return SessionStory(
        session_id="sess_bare",
        stored=None,
        parent=None,
        children=(FamilyLink("sess_child", "", "", "", "", "", "session", "the sessions only"),),
        turns=(TurnView("turn_1", 1, "", "", *nothing, abandoned=False, known_from="requests"),),
        tools=(
            ToolCallView(
                "call_1", "", "", "", "", *(None,) * 5, "", "", "", "", ("answer",),
            ),
        ),
        usage_rows=(
            UsageRowView("", "u1", "event", "", "", "", (), 0, None, "", None, None, ()),
        ),
        compactions=(CompactionView(None, "", "", None, None),),
        todos=(TodoView("Add a test", "", ""),),
        abandoned_messages=0,
        evidence=(DoctorLine("ok", "Prompts", "All were read."),),
    )  # fmt: skip
