"""A parameter changed that is part of what the provider caches.

Effort, thinking, tool choice, formats and keys are rendered into the prompt or into the cache's
key, at different depths: one costs the messages only, another everything. Which, depends on the
provider and sometimes on the model.
"""

from tracer.cache.case import Case
from tracer.cache.expected import tier_start
from tracer.cache.params import ParamChange, param_source
from tracer.cache.providers.base import Lost
from tracer.cache.wording import quoted, tokens
from tracer.model.prompt import Tier
from tracer.model.verdict import Certainty, FoundCause, Share

CODE = "PARAM_CHANGED"
TITLE = "parameter changed"
ORDER = 10
FIX = "Pin the parameter for a session, or change it in-band, in a message, where the provider can."

_KEPT = {
    Lost.TOOLS: "which loses everything",
    Lost.SYSTEM: "which keeps the tools and loses system and messages",
    Lost.MESSAGES: "which keeps tools and system and loses the messages",
    Lost.UNKNOWN: "which can invalidate the cache; how much, the provider does not document",
}
_TIER = {Lost.TOOLS: Tier.TOOLS, Lost.SYSTEM: Tier.SYSTEM, Lost.MESSAGES: Tier.MESSAGES}


def detect(case: Case) -> FoundCause | None:
    """A parameter with a rule differs (cache-rules.md 2.3, 10, and 1.2)."""
    changes = [c for c in case.params if c.rule is not None and c.lost is not Lost.NOTHING]
    if not changes:
        return None
    first = changes[0]
    lost = _observed(case, first)
    known = first.lost is not Lost.UNKNOWN
    start = tier_start(lost, case.difference) if lost is not Lost.UNKNOWN else None
    evidence = [param_source(c) for c in changes] + [f"rule: {first.source}"]
    if lost is not first.lost:
        evidence.append(
            f"this model loses more than the {first.lost.value}: the read fell below their start"
        )
    if start:
        evidence.append(f"the {lost.value} begin at about token {start:,}")
    read = case.call.read_tokens
    if read is not None:
        evidence.append(f"{tokens(read)} were read" if read else "nothing was read")
    return FoundCause(
        code=CODE,
        subtype=first.name,
        certainty=Certainty.HIGH if known else Certainty.MEDIUM,
        summary=(
            f"The parameter {first.name} changed from {quoted(first.old)} to {quoted(first.new)}, "
            f"{_KEPT[lost]}."
        ),
        fix=FIX,
        tier=_TIER.get(lost),
        token_offset=start,
        before=first.old,
        after=first.new,
        share=Share.ALL if known else Share.BEFORE,
        evidence=tuple(evidence),
    )


def _observed(case: Case, change: ParamChange) -> Lost:
    """The tier that was lost: the rule's, or the one that the rule allows and the read shows."""
    expected = case.expected
    if expected is None or change.may_reach is None or change.lost is Lost.UNKNOWN:
        return change.lost
    start = tier_start(change.lost, case.difference)
    if start is None:
        return change.lost
    if expected.read < start - max(expected.noise, expected.scale.error_at(start)):
        return change.may_reach
    return change.lost
