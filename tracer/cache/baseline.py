"""Which earlier request a request is compared with, and why (cache-rules.md 2.1, 5).

The request before it in its lane, unless another one on the same cache shares clearly more of the
prefix. Failed calls are no baseline: nobody knows whether they wrote anything.
"""

from collections.abc import Iterable
from typing import NamedTuple

from tracer.cache.case import answered
from tracer.cache.expected import (
    MIN_NOISE_TOKENS,
    endpoint_changed,
    model_changed,
    noise_tokens,
)
from tracer.cache.wording import tokens
from tracer.model.verdict import CallFacts, Earlier, Purpose


class Baseline(NamedTuple):
    """The chosen call, and a sentence that says why."""

    call: CallFacts
    reason: str


def choose_baseline(call: CallFacts, earlier: Iterable[Earlier]) -> Baseline | None:
    """The baseline of a request among earlier calls of its session or account; None for the first.

    Calls of the same lane come first. A call of another lane is taken where it shares clearly
    more (a compaction call that continues the conversation), or where the lane is new because the
    model was switched.
    """
    known = [
        e
        for e in earlier
        if e.facts.order < call.order and answered(e.facts) and e.facts.key != call.key
    ]
    own = [e for e in known if e.facts.lane == call.lane and same_cache(call, e.facts)]
    others = [e for e in known if e.facts.lane != call.lane and same_cache(call, e.facts)]
    best = _nearest(own)
    elsewhere = _best(others)
    shared = (best.common_tokens or 0) if best else 0
    if elsewhere is not None and (elsewhere.common_tokens or 0) > shared + MIN_NOISE_TOKENS:
        return Baseline(
            elsewhere.facts,
            f"shares the longest prefix ({_measured(call, elsewhere.common_tokens or 0)}), in lane "
            f"{elsewhere.facts.lane or '?'}",
        )
    if best is not None:
        return Baseline(best.facts, _own_reason(call, best, own))
    switched = _best([e for e in known if _continues(call, e.facts)])
    if switched is not None:
        reason = "the conversation's last request before model or place changed"
        return Baseline(switched.facts, reason)
    return None


def _nearest(own: list[Earlier]) -> Earlier | None:
    """The request right before, unless an older one shares clearly more: counts of a prefix are
    estimates, and what changed is seen against the request before."""
    best = _best(own)
    if best is None:
        return None
    last = max(own, key=lambda e: e.facts.order)
    more = (best.common_tokens or 0) - (last.common_tokens or 0)
    return best if more > noise_tokens(best.common_tokens or 0, 1) else last


def same_cache(call: CallFacts, other: CallFacts) -> bool:
    """Whether two calls asked the same model at the same endpoint: caches are apart otherwise."""
    return not model_changed(call, other) and not endpoint_changed(call, other)


def _continues(call: CallFacts, other: CallFacts) -> bool:
    talks = (Purpose.CONVERSATION, Purpose.SUBAGENT, Purpose.COMPACTION)
    return (
        call.purpose in talks
        and other.purpose is call.purpose
        and other.session_id == call.session_id
    )


def _best(calls: list[Earlier]) -> Earlier | None:
    """The longest common prefix, the latest of equals. Unknown prefixes count as none."""
    if not calls:
        return None
    return max(calls, key=lambda e: (e.common_tokens or 0, e.facts.order))


def _own_reason(call: CallFacts, best: Earlier, own: list[Earlier]) -> str:
    last = max(own, key=lambda e: e.facts.order)
    if best.common_tokens is None:
        return "the request before it in the same lane; their prompts could not be compared"
    if last.facts.key == best.facts.key:
        if not best.common_tokens:
            return "the request before it in the same lane; not even their first blocks are equal"
        shared = f"they share whole blocks of {_measured(call, best.common_tokens)}"
        if best.whole:
            shared = (
                f"all of its {_measured(call, best.common_tokens)} stand at the head of this one"
            )
        doubt = "" if call.verified_from == best.facts.verified_from == 0 else "by what is logged, "
        return f"the request before it in the same lane; {doubt}{shared}"
    return (
        f"shares more ({_measured(call, best.common_tokens)}) than the request right before it "
        f"({tokens(last.common_tokens or 0)})"
    )


def _measured(call: CallFacts, count: int) -> str:
    """A length with its scale: other counts of the same prompt are BPE."""
    return tokens(count) + (" as billed" if call.prompt_tokens else "")
