"""Builders of what the command line prints of anatomies, for the fakes of its tests."""

from tracer.model.anatomy_views import (
    AnatomyView,
    CalibrationView,
    ContextBreakdown,
    ContributorView,
    DemotedView,
    InstructionFileView,
    LeftoverView,
    McsStateView,
    Presence,
    PresenceLane,
    PresenceRowView,
    PresenceRun,
    ReminderView,
    SectionView,
    UnverifiedTagView,
    UsageCategoryView,
    WireView,
)

SECTION = SectionView(
    "identity", "Agent", "system", "stable", 410, 99, 103, 0, None, 0, 0, 410, "heading", "9b1d", 1,
    True, 0,
)  # fmt: skip
REMINDER = ReminderView(
    "date", "reminder", 1, ("clock",), 0, 18, 60, "user_steer", "tagged", True, False, 42, 14,
    "77ab", 1,
)  # fmt: skip


def an_anatomy() -> AnatomyView:
    """An anatomy of which everything is known."""
    skills = ContributorView("skill", "Review", "skills", 90, 30)
    category = UsageCategoryView(
        "Skills", "skills", 90, 30, "logged", 90, 30, 90, 30, False, True, (skills,), 1
    )
    return AnatomyView(
        variant="subagent",
        variant_evidence="3 system messages, one a section.",
        mcs_state=McsStateView("on", "Message 1 is a system message behind the prefix.", 1),
        instruction_files=(
            InstructionFileView(
                "/home/ada/AGENTS.md", "workspace", 1, 0, 20, 90, 70, True, "Cut at 100 KB.", 4
            ),
        ),
        demoted=(DemotedView(2, ("todo_reminder",), "Nothing stands before it.", 5),),
        unverified=(UnverifiedTagView(3, 0, 4, 21, "Typed by the user.", 6),),
        usage=ContextBreakdown(
            (category,),
            (LeftoverView("runtime_reminders", 1, 42, 14, ("date",)),),
            103,
            970,
            1000,
            True,
            "heuristic",
        ),
        calibration=CalibrationView("main@demo/demo-large", 1.03, 1.01, 1.06, 0.01, 9, "own", 0),
        wire=WireView(
            "wire", "full", 1, 1, {"user": 1}, 2, 1, 2, 1, "779698cb", "1 wire message for 2"
        ),
    )


def a_bare_anatomy() -> AnatomyView:
    """The anatomy of a request without a prompt."""
    known = ContributorView("skill", "Review", "skills", None, None)
    category = UsageCategoryView(
        "Skills", "skills", None, None, "logged", None, None, None, None, True, False, (known,), 1
    )
    return AnatomyView(
        variant="unknown",
        variant_evidence="The log shows no prompt of this request.",
        mcs_state=McsStateView("undecidable", "The log shows no message of this request."),
        instruction_files=(InstructionFileView("AGENTS.md", "user", 1, 0, 0, 9, 9, False, ""),),
        demoted=(DemotedView(2, ("todo_reminder",), "Nothing stands before it."),),
        unverified=(UnverifiedTagView(3, 0, 4, 21, "Typed by the user."),),
        usage=ContextBreakdown((category,), (), 0, None, None, False),
        calibration=None,
    )


def a_presence(session_id: str = "sess_demo") -> Presence:
    """Two requests, of which the second changed a section and lost a reminder."""
    lane = "main@demo/demo-large"
    env = (
        PresenceRun("appeared", 1, 1, "sess_demo-1", 3, ""),
        PresenceRun("changed", 2, 2, "sess_demo-2", 3, "sess_demo-1"),
    )
    todo = (
        PresenceRun("appeared", 1, 1, "sess_demo-1", 5, ""),
        PresenceRun("gone", 2, 2, "sess_demo-2", None, "sess_demo-1"),
    )
    rows = (
        PresenceRowView("section", "env_info", "system, dynamic", env, 1),
        PresenceRowView("reminder", "todo_reminder", "", todo, 1),
    )
    bare = PresenceLane("title@demo/demo-large", (3,), ())
    return Presence(session_id, 3, (PresenceLane(lane, (1, 2), rows), bare))
