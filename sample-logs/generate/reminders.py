"""The reminder sources and their properties (formats/zcode.md section 8)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

OPEN_TAG = "<system-reminder>"
CLOSE_TAG = "</system-reminder>"

_NESTED = re.compile(r"<(?=/?system-reminder)")


@dataclass(frozen=True)
class ReminderKind:
    """How reminders of one source travel."""

    source: str
    channel: str
    is_meta: bool = True
    mcs: bool = True
    persistence: str = "no"

    @property
    def floats(self) -> bool:
        """Whether it bubbles to the nearest earlier stop (rule P2)."""
        anchored = {"history_continuity", "tool_result", "real_user"}
        return self.is_meta and self.channel not in anchored and self.source != "goal_state_change"


def _kinds() -> dict[str, ReminderKind]:
    continuity, event, turn = "history_continuity", "mid_turn_event", "current_turn"
    kinds = [
        ReminderKind("context_prefix", "request_prefix", mcs=False, persistence="rebuilt"),
        ReminderKind("skills_listing", "request_prefix", persistence="rebuilt"),
        ReminderKind("todo_reminder", turn, persistence="notice"),
        ReminderKind("task_status", event, persistence="notice"),
        ReminderKind("tool_result_warning", "tool_result", mcs=False, persistence="inline"),
        ReminderKind("resume_referenced_session_context", continuity, mcs=False),
        ReminderKind("plan_file_reference", continuity, mcs=False, persistence="rebuilt"),
        ReminderKind("resume_goal_state", continuity, persistence="rebuilt"),
        ReminderKind("goal_state_change", event, persistence="notice"),
        ReminderKind("plugin_reference", turn, persistence="notice"),
        ReminderKind("target_continuation", "real_user", False, False, "notice"),
        ReminderKind("goal_completion_verification", "tool_result", mcs=False),
        ReminderKind("rewind_notice", continuity, persistence="notice"),
        ReminderKind("conversation_fork", continuity, mcs=False, persistence="notice"),
        ReminderKind("selection_side_chat", continuity, mcs=False, persistence="notice"),
        ReminderKind("queued_system_notification", event, persistence="notice"),
        ReminderKind("shell_environment_change", event, persistence="rebuilt"),
        ReminderKind("incoming_message", event, persistence="notice"),
        ReminderKind("hook_context", turn),
        ReminderKind("runtime_mode", turn),
        ReminderKind("plan_mode_exit", turn),
        ReminderKind("output_style", turn),
        ReminderKind("date_change", turn),
        ReminderKind("referenced_session_context", turn),
        ReminderKind("model_anomaly", event),
        ReminderKind("prompt_attachment", turn, persistence="rebuilt"),
        ReminderKind("diagnostics", event),
    ]
    return {kind.source: kind for kind in kinds}


KINDS = _kinds()

# Sources that forks of the agent add (section 8.2); how they travel is not known.
FORK_KINDS = {
    name: ReminderKind(name, "fork", mcs=False)
    for name in ("agent_listing_delta", "memory_recall", "runtime_restart_tasks")
}

# Presentations of an incoming message (section 8.1): the words each one starts with.
STEER_INTROS = {
    "user_steer": "The user sent a new message while you were working on the last one:",
    "coordinator_steer": "The coordinator sent a message while you were busy with this task:",
    "subagent_reply_steer": "Another ZCode session sent a message while this turn was running:",
    "task_notification_steer": "[SYSTEM NOTIFICATION - NOT USER INPUT]",
}


def escape_nested(body: str) -> str:
    """Return `body` with the `<` of any reminder tag in it escaped."""
    return _NESTED.sub("&lt;", body)


def wrapped_bodies(bodies: Iterable[str]) -> tuple[tuple[int, int], ...]:
    """Return where each body stands in the tagged form of all of them."""
    return body_spans([escape_nested(body) for body in bodies], len(OPEN_TAG) + 1)


def body_spans(bodies: Iterable[str], start: int = 0) -> tuple[tuple[int, int], ...]:
    """Return where each of some bodies stands that are joined by a blank line."""
    spans = []
    for body in bodies:
        spans.append((start, start + len(body)))
        start += len(body) + 2
    return tuple(spans)


def wrap(source: str, body: str) -> str:
    """Return the tagged form of a reminder; only the context prefix ends with a newline."""
    text = f"{OPEN_TAG}\n{escape_nested(body)}\n{CLOSE_TAG}"
    return text + "\n" if source == "context_prefix" else text
