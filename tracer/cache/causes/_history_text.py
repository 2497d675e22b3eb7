"""Of what kind a rewritten history is: the subtypes of cache-rules.md 2.3, row 11."""

import re
from collections.abc import Sequence

from tracer.cache.changes import HOISTED, is_reminder
from tracer.model.comparison import Op
from tracer.model.prompt import Kind, Tier
from tracer.model.verdict import Change, Difference

SUBTYPES = {
    "COMPACTION": "the conversation was compacted",
    "CACHE_EDITS": "the provider deleted old content on request",
    "TOOL_RESULT_CLEARED": "an old tool result was cleared",
    "IMAGE_STRIPPED": "an image was taken out",
    "THINKING_STRIPPED": "earlier reasoning was taken out",
    "SHAPE_CHANGED": "the same text was sent in another shape (string or list)",
    "ARGS_RESERIALISED": "the arguments of a tool call were written in another key order",
    "REMINDER_MOVED": "a reminder was moved",
    "REMINDER_REMOVED": "a reminder was removed",
    "REMINDER_INSERTED": "a reminder was inserted",
    "ROLE_SYSTEM_HOISTED": "a system message was moved out of the conversation",
    "REORDERED": "messages come in another order",
    "REPAIRED": "an unfinished tool call was repaired",
    "REWIND": "the conversation was cut back and went on differently",
    "EDIT": "an old message was changed",
}
_PLACEHOLDER = re.compile(
    r"cleared|pruned|elided|truncated|omitted|removed|old tool result|\[\.{3}\]|placeholder",
    re.IGNORECASE,
)
_REPAIR = re.compile(
    r"interrupted|cancell?ed|aborted|no result|did not (finish|return)", re.IGNORECASE
)
_CLEARED_FRACTION = 0.5
_MEDIA = (Kind.IMAGE, Kind.VIDEO, Kind.FILE)


def subtype_of(change: Change, difference: Difference, all_changes: Sequence[Change]) -> str:
    """The subtype of the first rewritten message. Compactions are told by the caller."""
    hinted = next((h.upper() for h in change.hints if h.upper() in SUBTYPES), "")
    if hinted:
        return hinted
    for rule in (_bytes_only, _reasoning, _media, _tool_result, _reminder, _moved):
        found = rule(change, all_changes)
        if found:
            return found
    if change.kind in (Kind.TOOL_CALL, Kind.TOOL_RESULT) and _REPAIR.search(change.after):
        return "REPAIRED"
    return "REWIND" if is_rewind(change, difference) else "EDIT"


def is_rewind(change: Change, difference: Difference) -> bool:
    """True where the prompt was cut back: at a user's message, or to fewer blocks, with nothing
    kept behind the cut."""
    if difference.cut:
        return True
    nothing_kept = difference.kept_after_tokens == 0
    return nothing_kept and (change.role == "user" or change.op is Op.REMOVED)


def _bytes_only(change: Change, _: Sequence[Change]) -> str:
    if not change.canonical_equal:
        return ""
    return "ARGS_RESERIALISED" if change.kind is Kind.TOOL_CALL else "SHAPE_CHANGED"


def _reasoning(change: Change, changes: Sequence[Change]) -> str:
    gone = [c for c in changes if c.op is Op.REMOVED]
    if change.kind is Kind.REASONING and change.op in (Op.REMOVED, Op.CHANGED):
        return "THINKING_STRIPPED"
    all_reasoning = bool(gone) and all(c.kind is Kind.REASONING for c in gone)
    return "THINKING_STRIPPED" if all_reasoning and change in gone else ""


def _media(change: Change, changes: Sequence[Change]) -> str:
    """Media that is gone from the first changed message: words may stand in its place."""
    here = [c for c in changes if c.tier is change.tier and _same_message(c, change)]
    gone = any(
        c.kind in _MEDIA and (c.op is Op.REMOVED or c.after_tokens < c.before_tokens) for c in here
    )
    return "IMAGE_STRIPPED" if gone and change.kind in (*_MEDIA, Kind.TEXT) else ""


def _same_message(one: Change, other: Change) -> bool:
    if one.a_index is not None and one.a_index == other.a_index:
        return True
    return one.message_index is not None and one.message_index == other.message_index


def _tool_result(change: Change, _: Sequence[Change]) -> str:
    if change.kind is not Kind.TOOL_RESULT or change.op is not Op.CHANGED:
        return ""
    shorter = change.after_tokens < change.before_tokens
    far_shorter = change.after_tokens < change.before_tokens * _CLEARED_FRACTION
    named = bool(_PLACEHOLDER.search(change.after)) and not _PLACEHOLDER.search(change.before)
    return "TOOL_RESULT_CLEARED" if far_shorter or (shorter and named) else ""


def _reminder(change: Change, changes: Sequence[Change]) -> str:
    if change.note or not is_reminder(change):
        return ""
    same = [c for c in changes if c is change or (c.reminder and c.reminder == change.reminder)]
    ops = {c.op for c in same}
    if Op.MOVED in ops or {Op.ADDED, Op.REMOVED} <= ops:
        return "REMINDER_MOVED"
    if change.op is Op.ADDED:
        return "REMINDER_INSERTED"
    return "REMINDER_REMOVED" if change.op is Op.REMOVED else ""


def _moved(change: Change, changes: Sequence[Change]) -> str:
    gained = any(c.tier is Tier.SYSTEM and c.op in (Op.ADDED, Op.MOVED) for c in changes)
    if change.role == "system" and change.op in (Op.REMOVED, Op.MOVED) and gained:
        return HOISTED
    return "REORDERED" if change.op in (Op.MOVED, Op.REORDERED) else ""
