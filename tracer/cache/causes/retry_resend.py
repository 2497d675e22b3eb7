"""The same prompt was sent again: a retry, billed a second time.

A retry that is equal byte for byte can read what the first attempt wrote; one with moved markers or
other parameters pays in full.
"""

from tracer.cache.case import Case
from tracer.cache.wording import tokens
from tracer.model.verdict import Certainty, FoundCause, Share

CODE = "RETRY_RESEND"
TITLE = "sent again after a failure"
ORDER = 23
FIX = "Resend the very same bytes, with the same markers, and wait before the next attempt."


def detect(case: Case) -> FoundCause | None:
    """The same prompt, a later attempt, its own usage (cache-rules.md 2.3, 23)."""
    call, baseline = case.call, case.baseline
    if baseline is None or call.attempt <= 1 or call.usage is None:
        return None
    same_hash = bool(call.hashes.prompt) and call.hashes.prompt == baseline.hashes.prompt
    identical = case.difference is not None and case.difference.identical
    if not same_hash and not identical:
        return None
    paid = (call.prompt_tokens or 0) - (call.read_tokens or 0)
    return FoundCause(
        code=CODE,
        certainty=Certainty.CERTAIN,
        summary=f"Attempt {call.attempt} sent the same prompt again and paid {tokens(paid)} anew.",
        fix=FIX,
        share=Share.BEFORE,
        evidence=(f"same prompt as request {baseline.key}", f"attempt {call.attempt}"),
    )
