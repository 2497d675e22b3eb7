"""A whole prompt: MCS and its evidence, what place settles, what was demoted, gaps and markers."""

from typing import Any

import pytest

from benchmarks.anatomy_accuracy import prompt_from
from tracer.anatomy.layout import Variant
from tracer.anatomy.mcs import McsState
from tracer.anatomy.prompt import AnatomyContext, PromptAnatomy, anatomy_of
from tracer.anatomy.reminders import Via
from tracer.anatomy.section_spans import How, LoggedText

Json = dict[str, Any]
BODIES = {
    "skills": "The following skills are available for use:\n- a: b",
    "context": "As you answer the user's questions, you can look:\n\n# agentsMd\nx\n\n"
    "# currentDate\nIt is 2026-01-12.\n\nUse what helps.",
    "todo": "The TodoWrite tool hasn't been used recently.",
    "mode": "Plan mode is active.",
    "exit": "## Exited Plan Mode",
    "read": 'Called the Read tool with {"file_path":"/a"}',
    "steer": "The user sent a new message while you were busy:\nwait",
    "notification": "[SYSTEM NOTIFICATION - NOT USER INPUT]\ndone",
    "fork": "This session was forked from a previous session.",
    "odd": "Words of a fork.",
    "plugin": "plugin://dye is there.\n\nIt knows colours.",
    "hook": "Stop hook additional context:\n#1\nhello",
}
PREFIX: list[Json | None] = [
    {"role": "system", "content": "Some Code."},
    {"role": "system", "content": "\nYou help.\n\n# Harness\n- x"},
    {"role": "system", "content": "\n\n# Communicating with the user\nBe brief."},
]


def story(words: str) -> list[Json | None]:
    """Messages: A answer, T result, U:text, r:name+name one tag, m:name+name system text, gap."""
    out: list[Json | None] = [*PREFIX]
    for word in words.split():
        kind, _, rest = word.partition(":")
        text = "\n\n".join(BODIES.get(name, name) for name in rest.split("+"))
        if kind == "r":
            tail = "\n" if rest == "context" else ""
            text = f"<system-reminder>\n{text}\n</system-reminder>{tail}"
        out.append(
            {
                "A": {"role": "assistant", "content": "done"},
                "T": {"role": "tool", "content": "ok", "toolCallId": "1", "toolName": "Read"},
                "U": {"role": "user", "content": text},
                "r": {"role": "user", "content": text},
                "m": {"role": "system", "content": text},
            }.get(kind)
        )
    return out


def read(words: str) -> PromptAnatomy:
    return anatomy_of(prompt_from(story(words)))


@pytest.mark.parametrize(
    ("words", "state", "at"),
    [
        ("r:context U:hi m:skills+mode", "on", 5),
        ("r:context U:one r:skills+steer U:two", "on", 5),
        ("r:context r:skills U:presented", "on", 4),
        ("r:skills r:context U:hi", "off", 3),
        ("r:skills U:hi", "off", 3),
        ("U:hi A T r:todo A", "off", 6),
        ("U:hi A T r:todo", "off", 6),
        ("U:hi A T r:steer A", "off", 6),
        ("U:hi A r:mode U:again", "off", 5),
        ("U:hi A r:exit A", "undecidable", None),
        ("U:hi A T r:todo U:again", "undecidable", None),
        ("U:hi A T r:odd r:todo A", "undecidable", None),
        ("U:hi A T r:steer U:again", "undecidable", None),
        ("r:context U:hi A", "undecidable", None),
        ("r:context U:hi A r:fork U:on", "undecidable", None),
        ("r:notification A", "undecidable", None),
        ("gap r:todo A", "undecidable", None),
        ("gap A T m:todo", "on", 6),
    ],
)
def test_the_state_of_mcs_and_the_message_that_shows_it(
    words: str, state: str, at: int | None
) -> None:
    verdict = read(words).mcs
    assert (verdict.state, verdict.message_index) == (McsState(state), at)
    assert verdict.evidence.endswith(".")
    assert at is None or str(at) in verdict.evidence


@pytest.mark.parametrize(
    ("words", "sources"),
    [
        # right behind a stop, MCS off or not known: it may be either
        ("r:skills r:context r:read U:hi", ("prompt_attachment", "resume")),
        # behind a user's text, or behind a note that does not float
        ("r:skills r:context r:mode U:summary r:read U:hi", ("resume",)),
        ("r:skills r:context U:hi A r:fork r:read U:hi", ("resume",)),
        # any tag of its own while MCS is on; in system text only an attachment can be
        ("r:context U:hi m:skills+mode A r:read U:more", ("resume",)),
        ("r:context U:hi m:skills+read", ("prompt_attachment",)),
        ("U:one r:read+steer U:two m:mode A", ("prompt_attachment",)),
    ],
)
def test_attachments_and_files_read_again_are_told_apart_by_place(
    words: str, sources: tuple[str, ...]
) -> None:
    full = {"resume": "resume_referenced_session_context"}
    wanted = tuple(full.get(source, source) for source in sources)
    found = [(r.source, *r.ambiguous_with) for r in read(words).reminders]
    assert [c for c in found if set(c) & {"prompt_attachment", *full.values()}] == [wanted]


@pytest.mark.parametrize(
    ("words", "presentation"),
    [
        ("U:hi A r:notification A", "task_notification"),
        ("U:hi A T r:notification A T r:todo A", "task_notification_steer"),
        ("U:hi m:mode A T r:notification", "task_notification"),
        ("U:hi A T m:notification", "task_notification_steer"),
    ],
)
def test_a_notification_is_a_message_or_a_steer(words: str, presentation: str) -> None:
    (found,) = [r for r in read(words).reminders if r.source == "incoming_message"]
    assert found.presentation == presentation


def test_with_mcs_off_a_tag_holds_one_body_whatever_it_quotes() -> None:
    words = "r:skills r:context r:hook+mode U:hi"
    assert [r.source for r in read(words).reminders] == [
        "skills_listing",
        "context_prefix",
        "hook_context",
    ]
    body = f"{BODIES['hook']}\n\n{BODIES['mode']}"
    assert read(words).reminders[-1].chars == len(body)


def test_mcs_messages_name_what_is_merged_in_them() -> None:
    found = read("r:context U:hi m:skills+hook+mode A T m:todo")
    assert [(m.message_index, m.sources) for m in found.mcs_messages] == [
        (5, ("skills_listing", "hook_context", "runtime_mode")),
        (8, ("todo_reminder",)),
    ]
    assert {r.via for r in found.reminders} == {Via.REMINDER, Via.MCS}
    (skills,) = [s for s in found.sections if s.source == "skills"]
    assert (skills.message_index, skills.start_char, skills.target) == (5, 0, "meta_user")
    assert found.demoted == ()


def test_demoted_notes_are_named_with_the_reason() -> None:
    found = read("r:context U:one m:mode A r:exit A U:two r:todo+steer U:three")
    assert [(d.message_index, d.sources) for d in found.demoted] == [
        (7, ("plan_mode_exit",)),
        (10, ("todo_reminder", "incoming_message")),
    ]
    assert len({d.reason for d in found.demoted}) == 2
    assert read("r:skills r:context U:hi").demoted == ()


@pytest.mark.parametrize(
    ("words", "sources"),
    [
        ("r:plugin U:see+plugin://dye", ["plugin_reference"]),
        ("r:plugin U:hi", ["unknown"]),
        ("U:see+plugin://dye, m:read+plugin", ["prompt_attachment", "plugin_reference"]),
        ("U:hi m:read+plugin", ["prompt_attachment"]),
        ("U:plugin://dye A r:plugin U:hi", ["unknown"]),
    ],
)
def test_a_note_about_a_plugin_answers_the_users_reference(words: str, sources: list[str]) -> None:
    assert [r.source for r in read(words).reminders] == sources


def test_a_message_from_another_session_is_no_reminder() -> None:
    messages = story("U:hi A")
    messages.append({"role": "user", "content": "Another ZCode session sent a message:\nhello"})
    found = anatomy_of(prompt_from(messages))
    assert found.reminders == ()


def test_gaps_keep_the_places_of_what_is_known() -> None:
    messages: list[Json | None] = [None, None, *story("U:hi A T r:todo A")[3:]]
    found = anatomy_of(prompt_from(messages))
    assert found.gaps == ((0, 1), (1, 1))
    assert found.variant is Variant.UNKNOWN and found.sections == ()
    assert [(r.source, r.message_index) for r in found.reminders] == [("todo_reminder", 5)]


def test_nothing_is_nothing() -> None:
    found = anatomy_of(prompt_from([]))
    assert (found.sections, found.reminders) == ((), ())
    assert found.mcs.state is McsState.UNDECIDABLE


def test_sections_know_their_message_and_how_they_were_found() -> None:
    log = (LoggedText("dynamic_behavior", "Dynamic Behavior", PREFIX[2]["content"].strip()),)  # type: ignore[index]
    prompt = prompt_from(story("r:skills r:context U:hi"))
    found = anatomy_of(prompt, AnatomyContext(log))
    assert [(s.source, s.message_index, s.how) for s in found.sections] == [
        ("cli_prefix", 0, How.PLACE),
        ("identity", 1, How.HEADING),
        ("dynamic_behavior", 2, How.LOGGED),
        ("skills", 3, How.HEADING),
        ("request_user_context", 4, How.HEADING),
        ("current_date", 4, How.HEADING),
    ]
    assert {(s.target, s.cache_hint) for s in found.sections[:2]} == {("system", "stable")}


def test_equal_texts_have_equal_hashes_wherever_they_stand() -> None:
    wrapped, moved = read("r:skills r:context U:hi"), read("r:context U:hi m:skills")
    hashes = {s.source: s.content_hash for s in wrapped.sections}
    assert {s.source: s.content_hash for s in moved.sections} == hashes
