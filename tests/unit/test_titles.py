"""A session's title: the first words that the user typed."""

import json
from typing import Any

import pytest

from tracer.formats.zcode_model_io import FORMAT
from tracer.ingest.titles import TITLE_CHARS, title_of
from tracer.model.events import ModelCall

REMINDER = "<system-reminder>\nPLACEHOLDER\n</system-reminder>"


def title(*messages: Any, source: str = "main_turn", offset: int = 0) -> str:
    record = {
        "type": "model_io",
        "querySource": source,
        "request": {"messages": list(messages), "messageOffset": offset},
    }
    call = FORMAT.parse(json.dumps(record).encode())
    assert isinstance(call, ModelCall)
    return title_of(call)


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def test_the_first_text_of_the_user_is_the_title() -> None:
    assert title(user("Fix the parser"), user("Now the tests")) == "Fix the parser"


def test_system_texts_reminders_and_answers_are_passed_over() -> None:
    before = ({"role": "system", "content": "You are"}, user(REMINDER))
    answer = {"role": "assistant", "content": "Hello"}
    assert title(*before, answer, user("Fix it")) == "Fix it"


def test_only_the_first_line_counts() -> None:
    assert title(user("\n\n  Fix it  \nPlease.")) == "Fix it"


def test_a_long_line_is_cut_and_shows_it() -> None:
    made = title(user("x" * 200))
    assert (len(made), made[-1]) == (TITLE_CHARS, "…")
    assert title(user("x" * TITLE_CHARS)) == "x" * TITLE_CHARS
    assert title(user("x" * (TITLE_CHARS - 2) + "  y")) == "x" * (TITLE_CHARS - 2) + "…"


def test_the_first_text_of_an_array_counts() -> None:
    image = {"type": "image", "dataUrl": "[omitted]"}
    texts = [{"type": "text", "text": REMINDER}, {"type": "text", "text": "What is this?"}]
    assert title(user([image, *texts])) == "What is this?"


@pytest.mark.parametrize("source", ["session_title", "compact", "goal_completion_verification"])
def test_a_side_call_carries_only_a_copy(source: str) -> None:
    assert title(user("Write a title for: Fix it"), source=source) == ""


@pytest.mark.parametrize("source", ["main_turn", "subagent", "workflow_child", ""])
def test_every_kind_of_conversation_has_a_title(source: str) -> None:
    assert title(user("Fix it"), source=source) == "Fix it"


def test_a_window_that_does_not_show_the_beginning_gives_no_title() -> None:
    assert title(user("Fix it"), offset=5) == ""


def test_where_the_user_typed_nothing_there_is_no_title() -> None:
    assert title() == title(user("  \n ")) == title(user(REMINDER)) == ""


def test_a_message_that_cannot_be_read_is_passed_over() -> None:
    assert title("odd", None, 5, user(5), user("Fix it")) == "5"
    assert title("odd", None, user("Fix it")) == "Fix it"
