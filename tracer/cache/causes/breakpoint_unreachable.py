"""The marker stood on a block that never comes again: a reminder at the end, or a system note.

Its entry was written, and paid for, and no later prompt contains that block at that place. The read
falls back to the marker before it.
"""

from tracer.cache.case import Case
from tracer.cache.expected import noise_tokens
from tracer.cache.wording import tokens
from tracer.model.comparison import Op
from tracer.model.prompt import Tier
from tracer.model.verdict import Certainty, Change, FoundCause

CODE = "BREAKPOINT_UNREACHABLE"
TITLE = "cache marker behind a change"
ORDER = 17
FIX = "Put the marker on the last block that stays, before reminders and other volatile blocks."


def detect(case: Case) -> FoundCause | None:
    """The earlier request's last marker stands on a block that was moved, removed or changed
    (cache-rules.md 2.3, 17)."""
    baseline, difference, expected = case.baseline, case.difference, case.expected
    if baseline is None or difference is None or not baseline.markers or expected is None:
        return None
    if case.provider.lookback.value is None or difference.append_only:
        return None
    marked = [m for m in baseline.markers if m.tier is Tier.MESSAGES]
    if not marked:
        return None
    last = max(marked, key=lambda m: (m.index, m.block_index))
    change = _change_at(case, last.index)
    if change is None or not _volatile(change):
        return None
    tail = expected.common + noise_tokens(expected.common, 1)
    size = baseline.prompt_tokens
    if size is None or size > max(tail, expected.common + change.before_tokens + expected.noise):
        return None
    what = change.reminder or change.label or "a volatile block"
    return FoundCause(
        code=CODE,
        certainty=Certainty.HIGH,
        summary=(
            f"The marker stood on {what}, which is not in this prompt any more, so its entry can "
            "never be read."
        ),
        fix=FIX,
        tier=Tier.MESSAGES,
        block_index=last.index,
        message_index=last.message_index,
        reminder=change.reminder,
        token_offset=case.call.read_tokens,
        before=change.before,
        after=change.after,
        evidence=(
            f"marker on message {last.index}",
            f"{tokens(case.call.read_tokens or 0)} were read: the marker before it",
        ),
    )


def _change_at(case: Case, index: int) -> Change | None:
    return next((c for c in case.changes_in(Tier.MESSAGES) if c.a_index == index), None)


def _volatile(change: Change) -> bool:
    return bool(change.reminder or change.role == "system") or change.op in (Op.MOVED, Op.REMOVED)
