"""What was compared and found equal, what the log does not prove, and which log would prove it."""

from tracer.cache.case import Case
from tracer.cache.expected import endpoint_changed, model_changed
from tracer.cache.providers.base import Lifetime, Match
from tracer.cache.wording import duration
from tracer.model.prompt import Tier
from tracer.model.verdict import Boundary, CallFacts


def checked_equal(case: Case) -> tuple[str, ...]:
    """What is the same in the baseline and in this request, in words."""
    call, baseline = case.call, case.baseline
    if baseline is None:
        return ()
    found = []
    found += _tiers(case, call, baseline)
    if not model_changed(call, baseline) and call.model and baseline.model:
        found.append(f"model {call.model}")
    if not endpoint_changed(call, baseline) and (call.endpoint or call.provider_id):
        found.append(f"endpoint {call.endpoint or call.provider_id}")
    if call.params and baseline.params and not case.params:
        found.append("all parameters that a provider may cache")
    if call.markers and baseline.markers and case.append_only:
        found.append(
            f"cache markers present in both ({len(baseline.markers)}, {len(call.markers)})"
        )
    gap, sure = case.gap_ms, case.lifetime.value.sure_ms
    if gap is not None and sure is not None and gap <= sure:
        found.append(f"pause {duration(gap)}, within the lifetime of {duration(sure)}")
    return tuple(found)


CHECKED = "checked and equal: "
"""How the evidence begins that a verdict lists by itself, too."""


def _tiers(case: Case, call: CallFacts, baseline: CallFacts) -> list[str]:
    difference = case.difference
    found = []
    for tier in (Tier.TOOLS, Tier.SYSTEM):
        a, b = getattr(baseline.hashes, tier.value), getattr(call.hashes, tier.value)
        if a and a == b and not case.changes_in(tier):
            found.append(f"{tier.value} (hash {a[:12]})")
        elif difference is not None and not case.changes_in(tier) and difference.boundaries:
            size = sum(1 for block in difference.boundaries if block.tier is tier)
            if size and _reached(case, tier):
                found.append(f"{tier.value} ({size} blocks)")
    if difference is None:
        return found
    common = [b for b in difference.boundaries if b.index < difference.common_blocks]
    if any(b.message_index is not None for b in common):
        found += _messages(common, difference.unverified_from_tokens, call, baseline)
    elif difference.append_only and difference.common_blocks:
        found.append(f"the first {difference.common_blocks} blocks")
    return found


def _messages(
    common: list[Boundary], unverified_from: int | None, call: CallFacts, baseline: CallFacts
) -> list[str]:
    """The equal messages of a common prefix, as far as the records of both requests prove them:
    those in front of what is carried over, and those behind it."""
    places = [(b.message_index, b.end_tokens) for b in common if b.message_index is not None]
    last = max(index for index, _ in places)
    if unverified_from is None:
        return [_span(0, last)]
    front = [index for index, end in places if end <= unverified_from]
    found = [_span(0, max(front))] if front else []
    shown = [facts.verified_from for facts in (call, baseline) if facts.verified_from is not None]
    behind = max(shown) if len(shown) == len((call, baseline)) else last + 1
    if behind <= last:
        found.append(_span(behind, last))
    return found


def _span(first: int, last: int) -> str:
    return f"messages {first} to {last}" if first < last else f"message {first}"


def _reached(case: Case, tier: Tier) -> bool:
    """True where all blocks of a tier lie in the common prefix."""
    difference = case.difference
    if difference is None:
        return False
    last = max((b.index for b in difference.boundaries if b.tier is tier), default=-1)
    return last < difference.common_blocks


def unverified(case: Case) -> bool:
    """True where an edit that the log cannot show may be what stopped the read: the read reached
    the first message that this request's own record does not prove."""
    difference, expected = case.difference, case.expected
    if difference is None or expected is None:
        return True
    start = difference.unverified_from_tokens
    if start is None:
        return False
    by_units = case.provider.match.of(case.call.model).value is Match.UNITS
    if expected.read < start - expected.noise and not by_units:
        # Where whole units are read only, an edit further on makes the read end further in front.
        return False
    later = case.history.later
    if later is None or not case.history.later_extends or later.read_tokens is None:
        return True
    came_back = later.read_tokens >= expected.expected - expected.noise
    # Where writes are billed, a read that came back without one proves that nothing had changed.
    bills_writes = case.provider.match.of(case.call.model).value is Match.MARKERS
    return not (came_back and bills_writes and case.call.write_tokens == 0)


def not_verifiable(case: Case) -> tuple[str, ...]:
    """What the log leaves open."""
    call, difference = case.call, case.difference
    found = []
    if case.baseline is None:
        return ()
    if case.logged_difference is not None and difference is None:
        found.append("the earlier messages: the log is a window and the prompt grew")
    elif difference is None:
        found.append("the prompt: the log holds no content to compare")
    elif difference.unverified_from_tokens is not None:
        from_tokens = f"from about token {difference.unverified_from_tokens:,} on"
        found.append(f"{difference.unverified_note} ({from_tokens})")
    if not call.params or not case.baseline.params:
        found.append("parameters: not in the log")
    if call.markers is None and case.provider.match.of(call.model).value is Match.MARKERS:
        found.append("cache markers: not in the log")
    if case.gap_ms is None:
        found.append("the pause: start times are missing")
    if case.lifetime.value == Lifetime(None, None):
        found.append(f"whether the entry still lived: {case.provider.title} names no lifetime")
    if not case.provider.guaranteed.value:
        found.append(f"whether the prefix was cached at all: {case.provider.guaranteed.source}")
    return tuple(found)


def would_establish(case: Case) -> tuple[str, ...]:
    """What to log next time, so that the cause can be named."""
    call, difference = case.call, case.difference
    wanted = []
    if difference is None or difference.unverified_from_tokens is not None:
        wanted.append("a full record of both prompts")
    if not call.params:
        wanted.append("the request's parameters")
    if not call.headers:
        wanted.append("the request's headers (session id, cache key)")
    if call.first_token_at_ms is None:
        wanted.append("the time of the first token")
    if case.history.later is None or not case.history.later_extends:
        wanted.append("the next request with the same prefix")
    others = [c.path for c in case.params if c.rule is None]
    if others:
        wanted.append(f"a control with the same {', '.join(others[:3])}")
    return tuple(wanted)
