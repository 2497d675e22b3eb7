"""The call was not answered: it failed, was cancelled, or reported no usage at all.

Such a call has no hit rate. Counting it as 0 % is how tools report misses that never were; it may
still have written the cache, or not.
"""

from tracer.cache.case import Case
from tracer.cache.wording import quoted
from tracer.model.events import Status
from tracer.model.verdict import CallFacts, Certainty, Fault, FoundCause, Share

CODE = "NO_USAGE"
TITLE = "no usage logged"
ORDER = 1
FIX = "Fix the error itself; do not count the call."


def has_no_usage(call: CallFacts) -> bool:
    """True where nothing was billed: no usage, an empty one, or an error before any token."""
    usage = call.usage
    if usage is None or (usage.input_tokens is None and usage.cache_read_tokens is None):
        return True
    if call.http_status is not None and call.http_status >= 400:
        return True
    return call.status in (Status.FAILED, Status.CANCELLED) and not usage.input_tokens


def detect(case: Case) -> FoundCause | None:
    """Status of 400 or more, `usage: {}`, aborted before usage (cache-rules.md 2.3, 1)."""
    call = case.call
    if not has_no_usage(call):
        return None
    facts = [f"status {call.status.value}", f"attempt {call.attempt}"]
    if call.http_status is not None:
        facts.append(f"HTTP {call.http_status}")
    if call.error:
        facts.append(quoted(call.error))
    if not call.response_id:
        facts.append("no response id")
    ended = {Status.FAILED: "failed", Status.CANCELLED: "was cancelled"}.get(call.status)
    told = f"The call {ended}" if ended else "The call reported no usage"
    return FoundCause(
        code=CODE,
        certainty=Certainty.CERTAIN,
        summary=f"{told}, so there is nothing to judge; it is not a miss.",
        fix=FIX,
        share=Share.NOTE,
        fault=Fault.NOBODY,
        evidence=tuple(facts),
    )
