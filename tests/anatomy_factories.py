"""Builders of the views of anatomy and presence."""

from collections.abc import Sequence
from dataclasses import replace

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
    UnverifiedTagView,
    UsageCategoryView,
)
from tracer.model.views import Timeline

CATEGORIES = (
    "system_prompt", "context", "tools", "skills", "messages", "reminders", "attachments",
)  # fmt: skip


def a_presence_row(
    name: str, cells: str, seqs: Sequence[int], group: str = "section", note: str = ""
) -> PresenceRowView:
    """A row from a letter a request of the lane: a(ppeared), s(ame), c(hanged), m(oved), g(one),
    u(nseen), a dot where it is away; short texts are filled up with their last letter."""
    words = {"a": "appeared", "s": "same", "c": "changed", "m": "moved", "g": "gone", "u": "unseen"}
    letters = (cells + cells[-1:] * (len(seqs) - len(cells)))[: len(seqs)]
    runs: list[PresenceRun] = []
    for i, (letter, seq) in enumerate(zip(letters, seqs, strict=True)):
        cell = words.get(letter)
        if cell and i and letters[i - 1] == letter:
            runs[-1] = replace(runs[-1], last_seq=seq)
        elif cell:
            block = None if letter in "gu" else 4
            before = f"r{seqs[i - 1]}" if i else ""
            runs.append(PresenceRun(cell, seq, seq, f"r{seq}", block, before))
    changes = sum(letter in "cmg" for letter in letters)
    return PresenceRowView(group, name, note, tuple(runs), changes)


def a_presence(timeline: Timeline, *rows: PresenceRowView) -> Presence:
    """The matrix of a timeline whose requests share one lane; by default some usual rows."""
    seqs = tuple(c.request.seq for c in timeline.columns if not c.request.side_call)
    lane = timeline.columns[0].request.lane if timeline.columns else ""
    made = rows or (
        a_presence_row("identity", "as", seqs, note="system, stable"),
        a_presence_row("request_user_context", "asscs", seqs, note="meta_user, per_session"),
        a_presence_row("todo_reminder", ".asg.", seqs, "reminder", "reminder"),
        a_presence_row("MCS message 9", "..as", seqs, "mcs"),
        a_presence_row("read_file", "as", seqs, "tool"),
        a_presence_row("run_command", "ascs", seqs, "tool"),
    )
    lanes = (PresenceLane(lane, seqs, tuple(made)),) if seqs else ()
    return Presence(timeline.session.session_id, len(timeline.columns), lanes)


def a_category(name: str = "messages", **changes: object) -> UsageCategoryView:
    """A category whose number was redacted in the log and recomputed."""
    made = UsageCategoryView(
        name=name,
        source=name,
        chars=12_000,
        tokens=3_000,
        method="recomputed",
        logged_chars=12_000,
        logged_tokens=None,
        recomputed_chars=12_000,
        recomputed_tokens=3_000,
        redacted=True,
        complete=True,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def a_breakdown(**changes: object) -> ContextBreakdown:
    """Seven categories, two things in none of them, three totals."""
    logged = a_category(
        CATEGORIES[0], method="logged", logged_tokens=3_000, redacted=False,
        contributors=(ContributorView("section", "identity", "identity", 900, 225),),
        contributor_count=9,
    )  # fmt: skip
    made = ContextBreakdown(
        categories=(logged, *(a_category(name) for name in CATEGORIES[1:])),
        leftovers=(
            LeftoverView("runtime_reminders", 4, 2_800, 700, ("todo_reminder", "hook_context")),
            LeftoverView("mcs_messages", 2, 900, 225, ("runtime_mode",)),
        ),
        estimate_tokens=21_000,
        bpe_tokens=20_100,
        billed_tokens=20_944,
        complete=True,
        logged_strength="exact",
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def a_file(path: str = "/home/dev/uploader/AGENTS.md", **changes: object) -> InstructionFileView:
    """An instruction file in message 1, cut short by the agent."""
    made = InstructionFileView(
        path, "workspace", 1, 0, 12, 40, 28, True, "truncated to 40,000 characters"
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def an_anatomy(**changes: object) -> AnatomyView:
    """The anatomy of a request of the default agent with everything in it."""
    made = AnatomyView(
        variant="main",
        variant_evidence="The system messages open as those of the default agent.",
        mcs_state=McsStateView("on", "A system message stands behind the prefix.", 5),
        instruction_files=(a_file(),),
        demoted=(DemotedView(6, ("runtime_mode",), "It stood before a tool result."),),
        unverified=(UnverifiedTagView(7, 0, 0, 9, "typed by a user"),),
        usage=a_breakdown(),
        calibration=CalibrationView("main_turn", 1.042, 1.031, 1.055, 0.006, 41, "lane", 312),
    )
    return replace(made, **changes)  # type: ignore[arg-type]
