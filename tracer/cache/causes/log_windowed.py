"""The log shows only the newest messages; the prompt that was sent held all of them.

A log may write a window of each message list. Comparing two windows looks like a prompt that lost
its beginning. The billed input, which keeps growing, shows that it did not.
"""

from tracer.cache.case import Case
from tracer.cache.expected import is_log_window
from tracer.model.verdict import Certainty, Fault, FoundCause, Share

CODE = "LOG_WINDOWED"
TITLE = "the log shows only a part"
ORDER = 12
FIX = "Log full records if the older messages have to be proven."


def detect(case: Case) -> FoundCause | None:
    """The visible tail slid while the prompt kept growing (cache-rules.md 2.3, 12)."""
    found, baseline = case.logged_difference, case.baseline
    if found is None or baseline is None or not is_log_window(case.call, baseline, found):
        return None
    before, now = baseline.prompt_tokens, case.call.prompt_tokens
    return FoundCause(
        code=CODE,
        certainty=Certainty.HIGH,
        summary=(
            f"The visible messages slid by {found.shift}, but the billed prompt grew: the log is a "
            "window, not the prompt."
        ),
        fix=FIX,
        share=Share.NOTE,
        fault=Fault.NOBODY,
        evidence=(
            f"prompt: {before or 0:,} → {now or 0:,} tokens",
            f"messages: {baseline.message_count or '?'} → {case.call.message_count or '?'}",
        ),
    )
