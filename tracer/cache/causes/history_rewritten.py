"""An old message changed: cleared, cut, moved, edited, or written in another shape.

A conversation that is only appended to stays cached. Whatever is touched in the middle makes the
provider read everything behind it again. A compaction does that on purpose.
"""

import math

from tracer.cache.case import Case
from tracer.cache.causes._history_text import SUBTYPES, subtype_of
from tracer.cache.causes.tail_window import is_window
from tracer.cache.changes import HOISTED, SUMMARY, SUMMARY_KIND
from tracer.cache.ordering import place_of
from tracer.cache.params import find_param
from tracer.cache.wording import excerpt, tier_place, tokens
from tracer.model.comparison import Op
from tracer.model.prompt import Tier
from tracer.model.verdict import Certainty, Change, Fault, FoundCause, Purpose, Share
from tracer.words import capital

CODE = "HISTORY_REWRITTEN"
TITLE = "history rewritten"
ORDER = 11
FIX = "Keep the history append-only, and send earlier blocks back word for word."
_FIXES = {
    "COMPACTION": "Nothing to do; compact at a good moment, since the rest is billed once more.",
    "TOOL_RESULT_CLEARED": "Clear tool results rarely and many at a time, or leave them.",
    "REMINDER_MOVED": "Put reminders last, and leave old ones where they are.",
    "REMINDER_REMOVED": "Leave old reminders where they are.",
    "REMINDER_INSERTED": "Add reminders at the end only.",
    "SHAPE_CHANGED": "Send a message in the same shape every time, also after a resume.",
    "ARGS_RESERIALISED": "Send the arguments back as the model wrote them.",
    "THINKING_STRIPPED": "Send reasoning blocks back unchanged.",
    "REWIND": "Nothing to do; going back costs what was cut.",
}
_COMPACTED_FRACTION = 0.6
_ASSUMED_READ_FACTOR = 0.1


def detect(case: Case) -> FoundCause | None:
    """The first change among old messages, or a compaction (cache-rules.md 2.3, 11)."""
    deliberate = _deliberate(case)
    change = _first(case)
    if change is None and deliberate is None:
        return None
    difference = case.difference
    subtype = deliberate or (
        subtype_of(change, difference, difference.changes) if change and difference else "EDIT"
    )
    expected = subtype in ("COMPACTION", "CACHE_EDITS")
    rewind = subtype == "REWIND"
    side_call = case.call.purpose is Purpose.COMPACTION
    evidence = _evidence(case, change, subtype)
    return FoundCause(
        code=CODE,
        subtype=subtype,
        certainty=Certainty.CERTAIN,
        summary=_summary(change, subtype, side_call),
        fix=_FIXES.get(subtype, FIX),
        tier=change.tier if change else Tier.MESSAGES,
        block_index=place_of(change) if change else None,
        message_index=change.message_index if change else None,
        section=change.section if change else "",
        reminder=change.reminder if change else "",
        char_offset=change.char_offset if change else None,
        token_offset=0 if side_call else _offset(case, change),
        before=change.before if change else "",
        after=change.after if change else "",
        share=Share.ALL if side_call else Share.AFTER,
        fault=Fault.USER if expected or rewind else Fault.CLIENT,
        expected=expected,
        evidence=tuple(evidence),
    )


def _first(case: Case) -> Change | None:
    """The first change among the messages that is not about a section of the prefix, nor the
    step of a sliding window; a message that became a system block is one, and so is a summary of
    the history."""
    if case.difference is not None and is_window(case.difference):
        return None
    changes = case.changes_in(Tier.SYSTEM, Tier.MESSAGES)
    mine = (c for c in changes if c.tier is Tier.MESSAGES or HOISTED in c.hints or _sums_up(c))
    return next((c for c in mine if not c.section), None)


def _sums_up(change: Change) -> bool:
    return change.note_kind == SUMMARY_KIND


def _deliberate(case: Case) -> str | None:
    """COMPACTION or CACHE_EDITS, where somebody meant to rewrite the history."""
    call, baseline = case.call, case.baseline
    if baseline is None:
        return None
    if call.purpose is Purpose.COMPACTION:
        return "COMPACTION"
    if find_param(call, r"applied_edits|cache_edits"):
        return "CACHE_EDITS"
    if case.append_only or (case.difference is None and case.logged_difference is not None):
        return None
    between = any(
        o.purpose is Purpose.COMPACTION and baseline.order < o.order < call.order
        for o in case.history.others
    )
    logged = bool(case.events_since_baseline("compaction", "clear"))
    if any(_sums_up(c) and c.b_index is not None for c in case.changes_in(*Tier)):
        return "COMPACTION"
    shrank = _shrank(case, logged=bool(case.events_since_baseline("compaction")))
    texts = " ".join(c.after for c in case.changes_in(Tier.MESSAGES))
    told = between or logged or bool(SUMMARY.search(texts))
    hinted = any(
        "COMPACTION" in (h.upper() for h in c.hints) for c in case.changes_in(Tier.MESSAGES)
    )
    return "COMPACTION" if hinted or (shrank and told) else None


def _shrank(case: Case, *, logged: bool) -> bool:
    """True where this prompt is far shorter than the baseline's; where the log tells of a
    compaction, at all shorter."""
    call, baseline = case.call, case.baseline
    if baseline is None:
        return False
    if call.message_count is not None and baseline.message_count is not None:
        fewer = call.message_count < baseline.message_count
        most = baseline.message_count * (1.0 if logged else _COMPACTED_FRACTION)
        return fewer and call.message_count <= max(4, most)
    before, now = baseline.prompt_tokens, call.prompt_tokens
    return before is not None and now is not None and now < before * _COMPACTED_FRACTION


def _offset(case: Case, change: Change | None) -> int | None:
    if change is not None and change.token_offset is not None:
        return change.token_offset
    return case.expected.common if case.expected else None


def _summary(change: Change | None, subtype: str, side_call: bool) -> str:
    if side_call:
        return "This is the compaction call itself: its prompt differs from the conversation's."
    what = SUBTYPES[subtype]
    if change is None or subtype in ("COMPACTION", "CACHE_EDITS"):
        return f"{capital(what)}."
    place = tier_place(change.tier, _index(change))
    called = change.note or change.role
    role = f" ({called})" if called else ""
    reminder = f", reminder {change.reminder}" if change.reminder and not change.note else ""
    return f"History was rewritten at {place}{role}{reminder}: {what}."


def _evidence(case: Case, change: Change | None, subtype: str) -> tuple[str, ...]:
    found = []
    if change is not None:
        where = f" at character {change.char_offset:,}" if change.char_offset is not None else ""
        name = f"message {_index(change)}"
        told = change.label.removeprefix(name).removeprefix(" · ")
        label = f" ({change.note or told})" if change.note or told else ""
        found.append(f"first changed: {name}{label}{where}")
        if change.before or change.after:
            found.append(f"“{excerpt(change.before)}” → “{excerpt(change.after)}”")
    call, baseline = case.call, case.baseline
    if subtype == "COMPACTION" and baseline is not None:
        if baseline.message_count is not None and call.message_count is not None:
            found.append(f"messages: {baseline.message_count} → {call.message_count}")
        if baseline.prompt_tokens is not None and call.prompt_tokens is not None:
            found.append(f"prompt: {baseline.prompt_tokens:,} → {call.prompt_tokens:,} tokens")
    if subtype in ("TOOL_RESULT_CLEARED", "IMAGE_STRIPPED", "THINKING_STRIPPED"):
        found += _break_even(case)
    return tuple(found)


def _index(change: Change) -> int:
    """The message's number over the whole list, as pages show it."""
    return change.message_index if change.message_index is not None else place_of(change)


def _break_even(case: Case) -> list[str]:
    """What taking content out saved against what it cost (cache-rules.md 4, break-even)."""
    removed = sum(
        c.before_tokens - c.after_tokens
        for c in case.changes_in(Tier.MESSAGES)
        if c.op in (Op.CHANGED, Op.REMOVED) and c.before_tokens > c.after_tokens
    )
    again = case.expected.after_lost if case.expected else 0
    if removed <= 0 or again <= case.noise:
        return []
    model = case.call.model
    read = case.provider.read_factor.of(model).value
    write = case.provider.write_factor.of(model).value
    known = read is not None
    read_factor = read if read is not None else _ASSUMED_READ_FACTOR
    paid = write if write is not None else 1.0
    turns = math.ceil(again * (paid - read_factor) / (removed * read_factor))
    basis = f"a read at {read_factor:g} and a rewrite at {paid:g} of the input price"
    return [
        f"saved: {tokens(removed)} less in every later request",
        f"cost: {tokens(again)} billed once more",
        f"it pays for itself after {turns:,} requests, with {basis}"
        f"{'' if known else ' (assumed)'}: "
        f"{again:,} × ({paid:g} − {read_factor:g}) ÷ ({removed:,} × {read_factor:g})",
    ]
