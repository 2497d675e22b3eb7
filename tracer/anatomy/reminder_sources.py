"""The reminder sources of ZCode: how each travels, and the words its body starts with.

The table and the openings are those of formats/zcode.md section 8 (27 sources) and 8.1; forks add
sources whose text is not known. A source without an opening cannot be told from its text alone.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

UNKNOWN = "unknown"
INLINE_SOURCE = "tool_result_warning"
PLUGIN_SOURCE = "plugin_reference"
INCOMING_SOURCE = "incoming_message"


@dataclass(frozen=True, slots=True)
class ReminderSource:
    """One source. `channel` is how it comes into a prompt. `mcs`: its text may become
    mid-conversation system text. `bubbles`: it moves up to the nearest earlier stop (rule P2).
    `base` is false for a fork's."""

    source: str
    channel: str
    mcs: bool
    bubbles: bool
    base: bool = True


_ROWS = """
context_prefix                    request_prefix     no  y
skills_listing                    request_prefix     yes y
todo_reminder                     current_turn       yes y
task_status                       mid_turn_event     yes y
tool_result_warning               tool_result        no  no
resume_referenced_session_context history_continuity no  no
plan_file_reference               history_continuity no  no
resume_goal_state                 history_continuity yes no
goal_state_change                 mid_turn_event     yes no
plugin_reference                  current_turn       yes y
target_continuation               real_user          no  no
goal_completion_verification      tool_result        no  no
rewind_notice                     history_continuity yes no
conversation_fork                 history_continuity no  no
selection_side_chat               history_continuity no  no
queued_system_notification        mid_turn_event     yes y
shell_environment_change          mid_turn_event     yes y
incoming_message                  mid_turn_event     yes no
hook_context                      current_turn       yes y
runtime_mode                      current_turn       yes y
plan_mode_exit                    current_turn       yes y
output_style                      current_turn       yes y
date_change                       current_turn       yes y
referenced_session_context        current_turn       yes y
model_anomaly                     mid_turn_event     yes y
prompt_attachment                 current_turn       yes y
diagnostics                       mid_turn_event     yes y
"""

FORK_SOURCES = (
    "agent_listing_delta",
    "bot_topic_context",
    "memory_update",
    "relevant_memory",
    "memory_recall",
    "memory_semantic_recall",
    "runtime_restart_tasks",
)
"""Sources that forks add (formats/zcode.md 8.2). Their texts are not known, so a body of theirs is
reported as `unknown`; the names are kept for logs that carry a source's name."""


def _table() -> dict[str, ReminderSource]:
    table = {}
    for row in _ROWS.strip().splitlines():
        name, channel, mcs, bubbles = row.split()
        table[name] = ReminderSource(name, channel, mcs == "yes", bubbles == "y")
    for name in FORK_SOURCES:
        table[name] = ReminderSource(name, UNKNOWN, mcs=False, bubbles=False, base=False)
    return table


REMINDER_SOURCES = _table()


class Opening(NamedTuple):
    """How a body of a source starts; `presentation` is that of an incoming message (8.1)."""

    source: str
    pattern: re.Pattern[str]
    presentation: str = ""


def _opening(source: str, pattern: str, presentation: str = "") -> Opening:
    return Opening(source, re.compile(pattern), presentation)


# `\S+` stands for the product's name, which forks change.
OPENINGS = (
    _opening("context_prefix", r"As you answer the user's questions, you can\b"),
    _opening("skills_listing", r"The following skills are available for use\b"),
    _opening("todo_reminder", r"The TodoWrite tool hasn't been used recently\."),
    _opening("task_status", r"<task-notification>"),
    _opening("queued_system_notification", r"<(?:subagent|task)-notification>"),
    _opening("prompt_attachment", r"Called the Read tool with\b"),
    _opening("prompt_attachment", r"Attached (?:inline text|file):"),
    _opening("resume_referenced_session_context", r"Called the Read tool with\b"),
    _opening("resume_referenced_session_context", r"Note: `?[^\n`]+`? was read before\b"),
    _opening("plan_file_reference", r"A plan file exists from plan mode at:"),
    _opening("resume_goal_state", r"The current session goal state was restored\b"),
    _opening("target_continuation", r"Continue working toward the active session goal\."),
    _opening("rewind_notice", r"(?:Workspace|Conversation) rewind applied\."),
    _opening("conversation_fork", r"This session was forked from a previous session\b"),
    _opening("selection_side_chat", r"The preceding conversation was inherited from the parent\b"),
    _opening("shell_environment_change", r"The Bash tool shell is\b"),
    _opening("hook_context", r"[A-Z][A-Za-z]* hook additional context:\s*#1\b"),
    _opening("runtime_mode", r"Plan mode (?:is active\.|still active\b)|<mode>Plan</mode>"),
    _opening("plan_mode_exit", r"## Exited Plan Mode\b"),
    _opening("output_style", r"[^\n]{1,120}? output style is active\."),
    _opening("date_change", r"The date has changed\. Today's date is now\b"),
    _opening("referenced_session_context", r"The user referenced prior \S+ session\(s\)"),
    _opening(
        "model_anomaly",
        r"You have called `?[^\s`]+`? with the same\b|This turn has already made\b",
    ),
    _opening(INCOMING_SOURCE, r"The user sent a new message while you\b", "user_steer"),
    _opening(
        INCOMING_SOURCE, r"The coordinator sent a message while you were\b", "coordinator_steer"
    ),
    _opening(
        INCOMING_SOURCE, r"Another \S+ session sent a message while\b", "subagent_reply_steer"
    ),
    _opening(
        INCOMING_SOURCE, r"\[SYSTEM NOTIFICATION - NOT USER INPUT\]", "task_notification_steer"
    ),
)

GOAL_STATE = "Current session goal state"
"""What a `goal_state_change` contains, not necessarily at its start."""

UNWRAPPED_REPLY = re.compile(r"Another \S+ session sent a message:")
"""How a user message with the presentation `subagent_reply` starts; it carries no tag."""


class Match(NamedTuple):
    """The sources that a body may come from, the likeliest first, and its presentation."""

    sources: tuple[str, ...]
    presentation: str = ""


def match_opening(text: str, at: int = 0, *, mcs_only: bool = False) -> Match | None:
    """The sources whose opening stands at `at`; `mcs_only` leaves out those whose text never
    becomes mid-conversation system text. None where there is none."""
    found = [o for o in OPENINGS if o.pattern.match(text, at)]
    if mcs_only:
        found = [o for o in found if REMINDER_SOURCES[o.source].mcs]
    if not found:
        return None
    sources = tuple(dict.fromkeys(o.source for o in found))
    return Match(sources, next((o.presentation for o in found if o.presentation), ""))


BODY_START = re.compile(
    "|".join(o.pattern.pattern for o in OPENINGS if REMINDER_SOURCES[o.source].mcs)
)
"""What a known body starts with in a text that holds several."""
