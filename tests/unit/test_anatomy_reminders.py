"""Each reminder source by example, in each form it can take; and what is none."""

import pytest

from benchmarks.anatomy_accuracy import prompt_from
from tracer.anatomy.messages import read_block
from tracer.anatomy.prompt import anatomy_of
from tracer.anatomy.reminder_sources import (
    FORK_SOURCES,
    OPENINGS,
    REMINDER_SOURCES,
    UNKNOWN,
    match_opening,
)
from tracer.anatomy.reminders import MAX_UNVERIFIED, Trust, Via, recognise_reminders
from tracer.model.prompt import Block, Kind, Tier

BODIES = {
    "context_prefix": "As you answer the user's questions, you can use this:\n\n# agentsMd\nx",
    "skills_listing": "The following skills are available for use with a tool:\n\n- a: b",
    "todo_reminder": "The TodoWrite tool hasn't been used recently. Never mind.",
    "task_status": "<task-notification>\nid 3\n</task-notification>",
    "queued_system_notification": "<subagent-notification>\nid 4\n</subagent-notification>",
    "resume_referenced_session_context": "Note: `/a b/c.py` was read before the summary.",
    "plan_file_reference": "A plan file exists from plan mode at: /p.md",
    "resume_goal_state": "The current session goal state was restored on start.",
    "goal_state_change": "The goal has changed.\nCurrent session goal state: paused",
    "target_continuation": "Continue working toward the active session goal.\nDo it.",
    "rewind_notice": "Workspace rewind applied. Two files.",
    "conversation_fork": "This session was forked from a previous session named x.",
    "selection_side_chat": "The preceding conversation was inherited from the parent session.",
    "shell_environment_change": "The Bash tool shell is zsh.",
    "incoming_message": "The coordinator sent a message while you were away:\nstop",
    "hook_context": "SessionStart hook additional context:\n#1\nhello",
    "runtime_mode": "Plan mode still active.",
    "plan_mode_exit": "## Exited Plan Mode\n\nGo.",
    "output_style": "Very terse output style is active.",
    "date_change": "The date has changed. Today's date is now 2026-01-13.",
    "referenced_session_context": "The user referenced prior ZCode session(s): x",
    "model_anomaly": "You have called `Read` with the same input 3 times.",
    "prompt_attachment": "Attached file: a.pdf",
}
WITHOUT_WORDS = {
    "tool_result_warning",
    "plugin_reference",
    "goal_completion_verification",
    "diagnostics",
}


def wrap(body: str) -> str:
    return f"<system-reminder>\n{body}\n</system-reminder>"


def sources(text: str, role: str, via: Via) -> list[str]:
    return [span.source for span in recognise_reminders(text, role, via)]


def test_the_table_has_the_27_sources_of_the_format_and_those_of_forks() -> None:
    base = [s for s in REMINDER_SOURCES.values() if s.base]
    assert len(base) == 27
    assert sum(s.mcs for s in base) == 19
    assert {s.channel for s in base} == {
        "request_prefix",
        "current_turn",
        "mid_turn_event",
        "tool_result",
        "history_continuity",
        "real_user",
    }
    assert set(FORK_SOURCES) == REMINDER_SOURCES.keys() - {s.source for s in base}


def test_every_source_has_an_opening_or_is_known_to_have_none() -> None:
    assert {o.source for o in OPENINGS} | WITHOUT_WORDS | {"goal_state_change"} == {
        s.source for s in REMINDER_SOURCES.values() if s.base
    }
    assert BODIES.keys() | WITHOUT_WORDS == {s.source for s in REMINDER_SOURCES.values() if s.base}


@pytest.mark.parametrize("source", BODIES)
def test_a_wrapped_body_is_known_by_how_it_starts(source: str) -> None:
    text = wrap(BODIES[source]) + ("\n" if source == "context_prefix" else "")
    (span,) = recognise_reminders(text, "user", Via.REMINDER)
    assert source in span.candidates
    assert text[span.start_char : span.end_char] == BODIES[source]
    assert span.trust is Trust.TAGGED and span.counted


@pytest.mark.parametrize("source", [s for s in BODIES if REMINDER_SOURCES[s].mcs])
def test_system_text_is_split_where_a_known_body_starts_a_paragraph(source: str) -> None:
    bodies = ["PreToolUse hook additional context:\n#1\none\n\ntwo", BODIES[source]]
    text = "\n\n".join([*bodies, "## Exited Plan Mode\n\nmore"])
    spans = recognise_reminders(text, "system", Via.MCS)
    assert source in spans[1].candidates
    assert [text[s.start_char : s.end_char] for s in spans[:2]] == bodies
    assert [spans[0].source, spans[2].source] == ["hook_context", "plan_mode_exit"]
    assert all(s.merged and s.trust is Trust.SYSTEM for s in spans)


@pytest.mark.parametrize("source", [s for s in BODIES if not REMINDER_SOURCES[s].mcs])
def test_a_source_that_never_becomes_system_text_splits_none(source: str) -> None:
    text = f"{BODIES['todo_reminder']}\n\n{BODIES[source]}"
    assert sources(text, "system", Via.MCS) == ["todo_reminder"]


def test_a_body_that_ends_with_a_newline_keeps_it() -> None:
    text = f"Attached file: a\nline\n\n\n{BODIES['date_change']}"
    first, second = recognise_reminders(text, "system", Via.MCS)
    assert text[first.start_char : first.end_char] == "Attached file: a\nline\n"
    assert second.source == "date_change"


def test_text_before_the_first_known_body_is_kept_as_unknown() -> None:
    text = f"Something a fork says.\n\n{BODIES['runtime_mode']}"
    spans = recognise_reminders(text, "system", Via.MCS)
    assert [s.source for s in spans] == [UNKNOWN, "runtime_mode"]
    assert text[: spans[0].end_char] == "Something a fork says."
    assert sources(wrap("Something a fork says."), "user", Via.REMINDER) == [UNKNOWN]


def test_an_opening_in_a_code_fence_splits_nothing() -> None:
    hook = "Stop hook additional context:\n#1\n```\n\nPlan mode is active.\n\n```\nend"
    assert sources(hook, "system", Via.MCS) == ["hook_context"]
    cut = "Stop hook additional context:\n#1\n```\nnever closed\n\nPlan mode is active."
    assert sources(cut, "system", Via.MCS) == ["hook_context", "runtime_mode"]


def test_a_fallback_tag_holds_several_bodies_with_escaped_tags() -> None:
    bodies = [BODIES["skills_listing"], "The user sent a new message while you slept:\n&lt;x"]
    text = wrap("\n\n".join(bodies))
    spans = recognise_reminders(text, "user", Via.REMINDER)
    assert [s.source for s in spans] == ["skills_listing", "incoming_message"]
    assert [text[s.start_char : s.end_char] for s in spans] == bodies
    assert all(s.merged for s in spans)


def test_a_goal_that_is_told_twice_is_one_body() -> None:
    text = "Current session goal state: a\n\nThen: Current session goal state: b"
    assert sources(text, "system", Via.MCS) == ["goal_state_change"]


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (
            "Called the Read tool with {}",
            ("prompt_attachment", "resume_referenced_session_context"),
        ),
        ("<task-notification>x", ("task_status", "queued_system_notification")),
    ],
)
def test_two_sources_with_one_opening_are_both_named(body: str, named: tuple[str, ...]) -> None:
    (span,) = recognise_reminders(wrap(body), "user", Via.REMINDER)
    assert span.candidates == named


@pytest.mark.parametrize(
    ("body", "presentation"),
    [
        ("The user sent a new message while you were busy", "user_steer"),
        ("The coordinator sent a message while you were busy", "coordinator_steer"),
        ("Another ZCode session sent a message while you", "subagent_reply_steer"),
        ("Another FreeCode session sent a message while you", "subagent_reply_steer"),
        ("[SYSTEM NOTIFICATION - NOT USER INPUT]\nx", "task_notification_steer"),
    ],
)
def test_the_presentations_of_an_incoming_message(body: str, presentation: str) -> None:
    (span,) = recognise_reminders(body, "system", Via.MCS)
    assert (span.source, span.presentation) == ("incoming_message", presentation)


def test_a_fork_says_its_plan_mode_in_other_words() -> None:
    match = match_opening("<mode>Plan</mode>\nread only")
    assert match is not None and match.sources == ("runtime_mode",)


def test_an_inline_reminder_is_known_by_its_place_alone_and_never_counted() -> None:
    text = f"12 lines\n\n{wrap('The file is cut.')}"
    (span,) = recognise_reminders(text, "tool", Via.INLINE)
    assert span.candidates == ("tool_result_warning", "goal_completion_verification")
    assert text[span.start_char : span.end_char] == "The file is cut."
    assert span.trust is Trust.PLACE and not span.counted


@pytest.mark.parametrize(
    "text",
    [
        f"page\n\n{wrap('x')}\n\nmore of the page",
        f"{wrap('x')}\nafter it",
        f"quoted\n{wrap('x')}",
        f"two\n\n{wrap('x')}\n\n{wrap('y')}",
        "    1\t<system-reminder>\n    2\tx\n    3\t</system-reminder>",
        "\n\n<system-reminder>\nx <System-Reminder> y\n</system-reminder>",
        "\n\n<system-reminder>x</system-reminder>",
    ],
)
def test_tags_elsewhere_in_a_tools_result_are_no_reminders(text: str) -> None:
    reading = read_block(Block(Tier.MESSAGES, "tool", Kind.TOOL_RESULT, text))
    assert reading.spans == () and reading.unverified


@pytest.mark.parametrize(
    "text",
    [
        f"Look: {wrap('Plan mode is active.')}",
        f"{wrap('Plan mode is active.')}\nWhy?",
        f"{wrap('a')}\n{wrap('b')}",
        "<system-reminder>Plan mode is active.</system-reminder>",
        "<system-reminder>\na </system-reminder> b\n</system-reminder>",
        "< system-reminder >",
        "</SYSTEM-REMINDER>",
    ],
)
def test_tags_in_a_users_own_words_are_of_unverified_origin(text: str) -> None:
    reading = read_block(Block(Tier.MESSAGES, "user", Kind.TEXT, text))
    assert reading.spans == () and reading.unverified


def test_roles_and_carriers_that_hold_no_reminder() -> None:
    text = wrap(BODIES["todo_reminder"])
    assert recognise_reminders(text, "assistant", Via.REMINDER) == ()
    assert recognise_reminders(text, "user", Via.MCS) == ()
    for kind in (Kind.TOOL_CALL, Kind.TEXT, Kind.REASONING):
        reading = read_block(Block(Tier.MESSAGES, "assistant", kind, text))
        assert reading.spans == () and len(reading.unverified) == 2
    assert read_block(Block(Tier.SYSTEM, "system", Kind.TEXT, text)).unverified == ()


def test_a_text_about_tags_is_marked_up_to_a_limit() -> None:
    reading = read_block(Block(Tier.MESSAGES, "user", Kind.TEXT, "<system-reminder> " * 500))
    assert len(reading.unverified) == MAX_UNVERIFIED


def test_several_tagged_blocks_in_one_message_count_if_all_of_them_are_tags() -> None:
    def content(*texts: str) -> dict[str, object]:
        return {"role": "user", "content": [{"type": "text", "text": t} for t in texts]}

    note, other = wrap(BODIES["todo_reminder"]), wrap(BODIES["runtime_mode"])
    found = anatomy_of(prompt_from([content(note, other)]))
    assert [(r.source, r.block_index) for r in found.reminders] == [
        ("todo_reminder", 0),
        ("runtime_mode", 1),
    ]
    mixed = anatomy_of(prompt_from([content(note, "What is that?")]))
    assert mixed.reminders == ()
    assert [u.message_index for u in mixed.unverified] == [0]


def test_literal_tags_inside_system_text_are_quoted() -> None:
    text = f"Stop hook additional context:\n#1\nsay {wrap('x')}"
    reading = read_block(Block(Tier.MESSAGES, "system", Kind.TEXT, text))
    assert [s.source for s in reading.spans] == ["hook_context"]
    assert len(reading.unverified) == 2
