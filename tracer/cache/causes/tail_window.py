"""The client drops its oldest messages and sends only the newest ones: a sliding window.

Every step then begins at another message, and nothing behind tools and system can ever be read.
"""

from tracer.cache.case import Case
from tracer.model.prompt import Tier
from tracer.model.verdict import CauseFinding, Certainty, Share

CODE = "TAIL_WINDOW"
ORDER = 12
FIX = "Keep the beginning and add a summary once, instead of sliding a window."


def detect(case: Case) -> CauseFinding | None:
    """The first message is message k > 0 of the one before, the overlap is equal, and the prompt
    itself stopped growing (cache-rules.md 2.3, 12)."""
    difference, baseline = case.difference, case.baseline
    if difference is None or baseline is None or difference.shift <= 0:
        return None
    before, now = baseline.prompt_tokens, case.call.prompt_tokens
    return CauseFinding(
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
