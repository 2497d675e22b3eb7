"""The entry was not readable yet: the request that was writing it had not answered.

An entry can be read once its writer's answer begins. Requests with the same prefix that start
together each pay for it.
"""

from tracer.cache.case import Case
from tracer.cache.wording import duration, times, tokens
from tracer.model.verdict import CallFacts, Certainty, FoundCause, Share

CODE = "CONCURRENT"
TITLE = "sent while the entry was being written"
ORDER = 18
FIX = "Start one request, wait for its first token, then start the others."


def detect(case: Case) -> FoundCause | None:
    """It started before the first token of every request that could have written the entry
    (cache-rules.md 2.3, 18)."""
    start, expected = case.call.started_at_ms, case.expected
    if start is None or expected is None or not case.sharers:
        return None
    delay = case.provider.write_delay_ms.value
    ready = [_ready_ms(e.facts, delay) for e in case.sharers]
    times_known = [r for r in ready if r is not None]
    if not times_known or len(times_known) < len(ready) or min(times_known) <= start:
        return None
    writer = min(case.sharers, key=lambda e: (_ready_ms(e.facts, delay) or 0, e.facts.key)).facts
    late = min(times_known) - start
    began = writer.started_at_ms
    overlap = _in_flight(writer, start)
    siblings = [e.facts for e in case.sharers if e.facts.write_tokens]
    evidence = [f"request {writer.key} started {duration(start - began)} earlier" if began else ""]
    if siblings and case.call.write_tokens:
        evidence.append(
            f"the same prefix was written {times(len(siblings) + 1)}, "
            f"{tokens(case.call.write_tokens)} this time"
        )
    if not overlap:
        evidence.append(f"rule: {case.provider.write_delay_ms.source}")
    return FoundCause(
        code=CODE,
        subtype="in_flight" if overlap else "not_yet_written",
        certainty=Certainty.HIGH if overlap and writer.first_token_at_ms else Certainty.MEDIUM,
        summary=(
            f"It started {duration(late)} too early: the request that was writing the same prefix "
            f"{'had not begun to answer' if overlap else 'was not readable yet'}."
        ),
        fix=FIX,
        share=Share.BEFORE,
        evidence=tuple(e for e in evidence if e),
    )


def _ready_ms(writer: CallFacts, delay_ms: int) -> int | None:
    """When the writer's entry could be read: from its first token on, or after its end where the
    log has no first token; some providers need time after the end."""
    if delay_ms and writer.completed_at_ms is not None:
        return writer.completed_at_ms + delay_ms
    if writer.first_token_at_ms is not None:
        return writer.first_token_at_ms
    return writer.completed_at_ms


def _in_flight(writer: CallFacts, start: int) -> bool:
    first = writer.first_token_at_ms or writer.completed_at_ms
    return first is not None and first > start
