"""The request did not ask for a cache, on a provider that caches only where it is asked to.

Without a marker nothing is written and nothing is read, however equal the prompts are.
"""

from tracer.cache.case import Case
from tracer.cache.markers import has_marker
from tracer.cache.params import find_param
from tracer.model.verdict import Certainty, FoundCause

CODE = "CACHING_OFF"
TITLE = "caching switched off"
ORDER = 6
FIX = "Add a cache marker to the last system block and to the last block of the newest message."


def detect(case: Case) -> FoundCause | None:
    """No marker where one is needed, nothing read or written (cache-rules.md 2.3, 6)."""
    call = case.call
    if call.read_tokens or call.write_tokens:
        return None
    if case.provider.needs_opt_in.value:
        if has_marker(call) is not False:
            return None
        where = f"{case.provider.title} caches only where a marker asks for it"
    elif find_param(call, r"prompt_cache_options\.mode$") == "explicit" and not call.markers:
        where = "the request chose explicit caching and set no breakpoint"
    else:
        return None
    return FoundCause(
        code=CODE,
        certainty=Certainty.CERTAIN,
        summary=f"The request carries no cache marker, and {where}.",
        fix=FIX,
        token_offset=0,
        evidence=("0 markers", "read 0, write 0"),
    )
