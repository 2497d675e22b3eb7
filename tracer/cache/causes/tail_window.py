"""The client drops its oldest messages and sends only the newest ones: a sliding window.

Every step then begins at another message, and nothing behind tools and system can ever be read.
"""

from tracer.cache.case import Case
from tracer.cache.changes import is_reminder
from tracer.model.prompt import Tier
from tracer.model.verdict import Certainty, Difference, FoundCause, Share

CODE = "TAIL_WINDOW"
TITLE = "the prompt is a moving window"
ORDER = 12
FIX = "Keep the beginning and add a summary once, instead of sliding a window."


def is_window(difference: Difference) -> bool:
    """True where the oldest messages are gone and nothing else: a reminder that is not sent any
    more is no step of a window."""
    changes = difference.changes
    notes = bool(changes) and all(is_reminder(change) for change in changes)
    return difference.shift > 0 and not notes


def detect(case: Case) -> FoundCause | None:
    """The first message is message k > 0 of the one before, the overlap is equal, and the prompt
    itself stopped growing (cache-rules.md 2.3, 12)."""
    difference, baseline = case.difference, case.baseline
    if difference is None or baseline is None or not is_window(difference):
        return None
    before, now = baseline.prompt_tokens, case.call.prompt_tokens
    return FoundCause(
        code=CODE,
        certainty=Certainty.HIGH,
        summary=(
            f"The prompt is a sliding window: its oldest {difference.shift} messages were dropped, "
            "so the conversation begins elsewhere."
        ),
        fix=FIX,
        tier=Tier.MESSAGES,
        block_index=0,
        token_offset=case.expected.common if case.expected else None,
        share=Share.AFTER,
        evidence=(
            f"messages: {baseline.message_count or '?'} → {case.call.message_count or '?'}",
            f"prompt: {before or 0:,} → {now or 0:,} tokens",
            "the messages that remain are equal",
        ),
    )
