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
    """One source. `mcs`: its text may become mid-conversation system text. `bubbles`: it moves up
    to the nearest earlier stop (rule P2). `persistence`: what a restart leaves of it: `notice`,
    `rebuilt`, `inline`, `no`, or `unknown` (not read in source). `base` is false for a fork's."""

    source: str
    group: str
    channel: str
    lifecycle: str
    is_meta: bool
    mcs: bool
    bubbles: bool
    persistence: str
    base: bool = True

    @property
    def evidence_label(self) -> str:
        """The label that the agent gives its evidence."""
        return f"sr.{self.source}"


_ROWS = """
context_prefix                    prefix      request_prefix     request_prefix    y no  y  rebuilt
skills_listing                    prefix      request_prefix     request_prefix    y yes y  rebuilt
todo_reminder                     persisted   current_turn       per_current_turn  y yes y  notice
task_status                       persisted   mid_turn_event     mid_turn_event    y yes y  notice
tool_result_warning               persisted   tool_result        tool_result       y no  no inline
resume_referenced_session_context persisted   history_continuity resume_history    y no  no unknown
plan_file_reference               persisted   history_continuity resume_history    y no  no rebuilt
resume_goal_state                 persisted   history_continuity resume_history    y yes no rebuilt
goal_state_change                 persisted   mid_turn_event     mid_turn_event    y yes no notice
plugin_reference                  persisted   current_turn       per_current_turn  y yes y  notice
target_continuation               persisted   real_user          real_user         n no  no notice
goal_completion_verification      persisted   tool_result        tool_result       y no  no unknown
rewind_notice                     persisted   history_continuity resume_history    y yes no notice
conversation_fork                 persisted   history_continuity resume_history    y no  no notice
selection_side_chat               persisted   history_continuity resume_history    y no  no notice
queued_system_notification        persisted   mid_turn_event     mid_turn_event    y yes y  notice
shell_environment_change          persisted   mid_turn_event     mid_turn_event    y yes y  rebuilt
incoming_message                  per_request mid_turn_event     mid_turn_event    y yes no notice
hook_context                      per_request current_turn       per_current_turn  y yes y  no
runtime_mode                      per_request current_turn       per_current_turn  y yes y  no
plan_mode_exit                    per_request current_turn       runtime_local     y yes y  no
output_style                      per_request current_turn       per_current_turn  y yes y  no
date_change                       per_request current_turn       runtime_local     y yes y  no
referenced_session_context        per_request current_turn       per_current_turn  y yes y  no
model_anomaly                     per_request mid_turn_event     mid_turn_event    y yes y  no
prompt_attachment                 per_request current_turn       per_current_turn  y yes y  rebuilt
diagnostics                       per_request mid_turn_event     mid_turn_event    y yes y  no
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
        name, group, channel, lifecycle, meta, mcs, bubbles, persistence = row.split()
        table[name] = ReminderSource(
            name, group, channel, lifecycle, meta == "y", mcs == "yes", bubbles == "y", persistence
        )
    for name in FORK_SOURCES:
        table[name] = ReminderSource(
            name, "fork", UNKNOWN, UNKNOWN, True, False, False, UNKNOWN, base=False
        )
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
