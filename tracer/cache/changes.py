"""What one change is, told by the change alone."""

import re

from tracer.model.verdict import Change, Difference

HOISTED = "ROLE_SYSTEM_HOISTED"
"""The hint of a system block that was a message before."""

SUMMARY = re.compile(
    r"continued from a previous conversation|summary of (the|our) conversation|"
    r"conversation summary|<summary>|compacted|context was compacted",
    re.IGNORECASE,
)
"""How a summary of a conversation introduces itself."""

TAIL_KINDS = frozenset({"todo_reminder", "repair_reminder", "transaction_snapshot"})
"""Kinds of messages at the end of a prompt, which every request writes anew."""

SUMMARY_KIND = "summary"

_TAGGED = re.compile(r"\s*<[a-z][a-z_-]*reminder>")


def is_reminder(change: Change) -> bool:
    """True for a block that is named as a reminder, or that stands in a reminder's tag."""
    if change.reminder:
        return True
    return change.role == "user" and bool(_TAGGED.match(change.before or change.after))


def only_notes_gone(difference: Difference) -> bool:
    """True where all that this request no longer carries are reminders and system notes."""
    gone = [c for c in difference.changes if c.a_index is not None]
    return bool(gone) and all(is_reminder(c) or c.role == "system" for c in gone)
