"""One paragraph that explains the cause to somebody who has never heard of it.

A cause to copy: rename the file to the code in lower case, without the underscore, and the registry
finds it. Answer the condition, not the miss; never look at another cause's result.
"""

from tracer.cache.case import Case
from tracer.model.verdict import Certainty, FoundCause, Share

CODE = "SKELETON"
TITLE = "what it is, in a few words"
ORDER = 99
FIX = "What the reader should do, in one sentence."


def detect(case: Case) -> FoundCause | None:
    """The condition in one sentence, with its row in cache-rules.md 2.3."""
    if case.baseline is None or case.call.model != "example":
        return None
    return FoundCause(
        code=CODE,
        certainty=Certainty.MEDIUM,
        summary="The model is the example model.",
        fix=FIX,
        share=Share.BEFORE,
        evidence=(f"model {case.call.model}",),
    )
