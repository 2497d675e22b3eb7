"""Entries are written with a shorter lifetime than was asked for, or than before.

The client's marker says an hour and the bill says five minutes, or the writes of a session move
from one to the other. Every pause in between then costs a rewrite.
"""

from tracer.cache.case import Case
from tracer.cache.markers import asked_ttl
from tracer.cache.wording import duration
from tracer.model.verdict import CallFacts, Certainty, FoundCause, Share

CODE = "TTL_DOWNGRADED"
TITLE = "kept for a shorter time"
ORDER = 14
FIX = "Check the client's setting or environment for the cache lifetime, and report it upstream."


def detect(case: Case) -> FoundCause | None:
    """Writes went from the 1-hour to the 5-minute bucket, or against what the markers ask
    (cache-rules.md 2.3, 14)."""
    calls = [e.facts for e in case.earlier]
    writers = [c for c in calls if c.write_5m_tokens or c.write_1h_tokens]
    if not writers or not _short(writers[-1]):
        return None
    last = writers[-1]
    long_before = [c for c in writers[:-1] if c.write_1h_tokens and not c.write_5m_tokens]
    asked = asked_ttl(last.markers) == "1h"
    if not asked and not long_before:
        return None
    short, long = case.provider.named_lifetime("5m"), case.provider.named_lifetime("1h")
    gap = case.gap_ms
    if short is None or long is None or short.value.gone_ms is None or long.value.gone_ms is None:
        return None
    if gap is not None and not short.value.gone_ms < gap <= long.value.gone_ms:
        return None
    first = next(
        (c for c in writers if _short(c) and (not long_before or c.order > long_before[-1].order)),
        last,
    )
    why = "its marker asked for an hour" if asked else "earlier requests wrote for an hour"
    gap_text = f"; after {duration(gap)} it was gone" if gap is not None else ""
    return FoundCause(
        code=CODE,
        certainty=Certainty.HIGH,
        summary=f"The entry was written for 5 minutes although {why}{gap_text}.",
        fix=FIX,
        share=Share.BEFORE,
        evidence=(
            f"first 5-minute write: request {first.key}",
            *((f"last 1-hour write: request {long_before[-1].key}",) if long_before else ()),
            *((f"client version {last.client_version}",) if last.client_version else ()),
        ),
    )


def _short(call: CallFacts) -> bool:
    return bool(call.write_5m_tokens) and not call.write_1h_tokens
