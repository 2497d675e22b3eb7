"""Nothing was cached yet: no earlier request on this cache shares a prefix worth reading.

The first request of a session, of a subagent or of a side call pays for its whole prompt. That is
the price of the cache, not a miss.
"""

from tracer.cache.case import Case
from tracer.cache.expected import MIN_NOISE_TOKENS
from tracer.cache.wording import tokens
from tracer.model.verdict import Certainty, Fault, FoundCause, Purpose, Share

CODE = "FIRST_IN_SCOPE"
TITLE = "first request of its kind"
ORDER = 3
FIX = "Nothing to do; a pre-warming request pays off only where the first answer has to be fast."


def is_first(case: Case) -> bool:
    """True where nothing could be read, or a title call, which shares nothing by design."""
    if case.baseline is None or case.call.purpose is Purpose.TITLE:
        return True
    difference, expected = case.difference, case.expected
    if difference is None or expected is None or difference.append_only or difference.cut:
        return False
    if _shared(case, expected.common, expected.scale.error_at(expected.common)):
        return False
    least = max(case.provider.minimum.of(case.call.model).value, MIN_NOISE_TOKENS)
    kept = expected.reusable - expected.expected
    return expected.common < least and expected.reusable < least and kept <= expected.noise


def _shared(case: Case, common: int, error: int) -> bool:
    """True where the session's own earlier request is what this one goes on from, however short:
    it explains the read, or nothing was read and it is most of either prompt."""
    read, before = case.call.read_tokens or 0, case.baseline
    if read:
        return read <= common + error
    sizes = [s for s in (case.call.prompt_tokens, before and before.prompt_tokens) if s]
    return bool(sizes) and 2 * common >= min(sizes)


_ERROR = 1.2
"""How far the counts of a shared prefix may be off: another tokenizer's, scaled to the bill."""


def cached_by(case: Case) -> str:
    """Who most likely cached what a first request read: the last earlier request of the session
    that shares as much, though it is of another kind, else another session."""
    read = case.call.read_tokens or 0
    sharers = [e for e in case.earlier if (e.common_tokens or 0) * _ERROR >= read]
    return f"request {sharers[-1].facts.key} of this session" if sharers else "another session"


def detect(case: Case) -> FoundCause | None:
    """No baseline, or a shared prefix below the minimum (cache-rules.md 2.3, 3)."""
    if not is_first(case):
        return None
    read = case.call.read_tokens
    evidence = []
    if read:
        evidence.append(
            f"{tokens(read)} were read nevertheless: most likely {cached_by(case)} had cached them"
        )
    if case.call.purpose is Purpose.TITLE:
        summary = "A title call: a short prompt of its own, with nothing it should have read."
    elif case.baseline is None:
        summary = "The first request of its kind on this cache: there was nothing to read yet."
    else:
        common = case.expected.common if case.expected else 0
        summary = f"No earlier request shares more than {tokens(common)} of this prompt."
    return FoundCause(
        code=CODE,
        certainty=Certainty.HIGH if read else Certainty.CERTAIN,
        summary=summary,
        fix=FIX,
        share=Share.NOTE,
        fault=Fault.NOBODY,
        evidence=tuple(evidence),
    )
