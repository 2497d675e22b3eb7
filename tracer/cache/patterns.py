"""Reading a break from usage alone, where no prompt was logged (cache-rules.md 2.4).

A read can only stop where an earlier request left an entry, so the numbers of consecutive calls
tell something even without texts. What they tell is likely, never certain, and the words say so.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tracer.cache.expected import MIN_NOISE_TOKENS, noise_tokens
from tracer.cache.wording import times, tokens
from tracer.model.verdict import CallFacts, Certainty

_LEAST = 4
_SAME_FRACTION = 0.02
_MOST = 0.75


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern in the numbers of one lane: `code` for machines, a sentence for people."""

    code: str
    certainty: Certainty
    sentence: str


def lane_patterns(calls: Sequence[CallFacts]) -> tuple[Pattern, ...]:
    """The patterns in the calls of one lane, in any order. Calls without usage are left out."""
    rows = [c for c in sorted(calls, key=lambda c: c.order) if _row(c)]
    if len(rows) < 2:
        return ()
    if _healthy(rows):
        return (
            Pattern(
                "HEALTHY",
                Certainty.HIGH,
                "Each read covers the prompt before it; a lower rate is growth, not loss.",
            ),
        )
    found = [rule(rows) for rule in (_floor, _per_turn, _alternating, _dips, _falls_and_climbs)]
    return tuple(p for p in found if p is not None)


def floor_of(calls: Sequence[CallFacts]) -> int | None:
    """The most frequent read of calls that read less than they could: likely tools and system.

    None where no value recurs.
    """
    rows = [c for c in sorted(calls, key=lambda c: c.order) if _row(c)]
    low = [_read(b) for a, b in zip(rows, rows[1:], strict=False) if _short(a, b) and _read(b) > 0]
    if not low:
        return None
    groups: Counter[int] = Counter()
    for read in low:
        near = next((g for g in groups if abs(g - read) <= max(128, g * _SAME_FRACTION)), read)
        groups[near] += 1
    value, count = groups.most_common(1)[0]
    return value if count >= 2 else None


def _row(call: CallFacts) -> bool:
    return call.read_tokens is not None and bool(call.prompt_tokens)


def _read(call: CallFacts) -> int:
    return call.read_tokens or 0


def _size(call: CallFacts) -> int:
    return call.prompt_tokens or 0


def _short(before: CallFacts, call: CallFacts) -> bool:
    """True where the read misses more than rounding of the prompt before."""
    could = min(_size(before), _size(call))
    return could - _read(call) > noise_tokens(could, 1)


def _pairs(rows: Sequence[CallFacts]) -> list[tuple[CallFacts, CallFacts]]:
    return list(zip(rows, rows[1:], strict=False))


def _healthy(rows: Sequence[CallFacts]) -> bool:
    return not any(_short(a, b) for a, b in _pairs(rows))


def _floor(rows: Sequence[CallFacts]) -> Pattern | None:
    """A constant read, call after call: with writes, or with fresh input that grows."""
    floor = floor_of(rows)
    if floor is None or len(rows) < _LEAST:
        return None
    pairs = [(a, b) for a, b in _pairs(rows) if _short(a, b)]
    same = [b for _, b in pairs if abs(_read(b) - floor) <= max(128, floor * _SAME_FRACTION)]
    if len(same) < _MOST * (len(rows) - 1):
        return None
    writes = any(c.write_tokens for c in same)
    if writes:
        sentence = (
            f"Every read stops at {tokens(floor)} and the rest is written again: most likely the "
            "conversation changes right after tools and system, or its marker is never found."
        )
        return Pattern("FLOOR_WRITTEN", Certainty.MEDIUM, sentence)
    sentence = (
        f"Every read stops at {tokens(floor)} and the rest is paid as fresh input: most likely no "
        "message carries a marker, or the provider stopped extending its entry."
    )
    return Pattern("FLOOR_FRESH", Certainty.MEDIUM, sentence)


def _per_turn(rows: Sequence[CallFacts]) -> Pattern | None:
    """Reads climb within a turn and fall at each new user message."""
    known = [(a, b) for a, b in _pairs(rows) if b.step is not None]
    firsts = [(a, b) for a, b in known if b.step == 1]
    inner = [(a, b) for a, b in known if b.step != 1]
    if len(firsts) < 2 or len(inner) < 2:
        return None
    low = [b for a, b in firsts if _short(a, b)]
    inner_low = sum(1 for a, b in inner if _short(a, b))
    if len(low) < _MOST * len(firsts) or inner_low > (1 - _MOST) * len(inner):
        return None
    sentence = (
        f"Reads climb within a turn and fall at new user messages ({len(low)} of {len(firsts)}): "
        "most likely reasoning is dropped, or a reminder, a list or a line of the system prompt is "
        "rebuilt for each user message."
    )
    return Pattern("FALLS_PER_TURN", Certainty.MEDIUM, sentence)


def _alternating(rows: Sequence[CallFacts]) -> Pattern | None:
    """Full and low reads in turn."""
    flags = [_short(a, b) for a, b in _pairs(rows)]
    if len(flags) < _LEAST or not all(a != b for a, b in zip(flags, flags[1:], strict=False)):
        return None
    sentence = (
        "Full and low reads take turns: most likely two versions of the system prompt alternate, "
        "two conversations are mixed, or requests reach two machines."
    )
    return Pattern("ALTERNATING", Certainty.MEDIUM, sentence)


def _dips(rows: Sequence[CallFacts]) -> Pattern | None:
    """Single reads of 0: written again, or back at once as if nothing had happened."""
    routed, rebuilt = [], []
    for a, b, c in zip(rows, rows[1:], rows[2:], strict=False):
        if _read(b) > MIN_NOISE_TOKENS or not _short(a, b) or _short(b, c):
            continue
        if not b.write_tokens and not c.write_tokens and _read(c) > _read(a):
            routed.append(b)
        else:
            rebuilt.append(b)
    if routed and len(routed) >= len(rebuilt):
        sentence = (
            f"Reads fell to nothing {times(len(routed))} and were back, higher than before, with "
            "the next request and without a write: most likely the provider's routing."
        )
        return Pattern("DIPS_WITHOUT_WRITE", Certainty.MEDIUM, sentence)
    if rebuilt:
        sentence = (
            f"Reads fell to nothing {times(len(rebuilt))} and the next request was normal: most "
            "likely an expired entry, a changed model or parameter, routing, or one edit at the "
            "very beginning."
        )
        return Pattern("DIPS_REBUILT", Certainty.MEDIUM, sentence)
    return None


def _falls_and_climbs(rows: Sequence[CallFacts]) -> Pattern | None:
    """The read falls to an older boundary once, and climbs again from there."""
    if len(rows) < 3:
        return None
    for i, (a, b) in enumerate(_pairs(rows), 1):
        if not _short(a, b) or _read(b) <= MIN_NOISE_TOKENS:
            continue
        known = {_read(c) + (c.write_tokens or 0) for c in rows[:i]} | {_read(c) for c in rows[:i]}
        known |= {_size(c) for c in rows[:i]}
        older = any(abs(k - _read(b)) <= max(128, _read(b) * _SAME_FRACTION) for k in known)
        climbs = all(not _short(x, y) for x, y in _pairs(rows[i:]))
        if older and climbs and i < len(rows) - 1:
            sentence = (
                f"The read fell to {tokens(_read(b))}, where an earlier request had ended, and "
                "climbed from there: most likely the history was rewritten at that place, once."
            )
            return Pattern("REWRITTEN_ONCE", Certainty.MEDIUM, sentence)
    return None


def cold_subagents(first_calls: Sequence[CallFacts]) -> Pattern | None:
    """The first calls of several subagents write the same amount: they share no cached prefix."""
    sizes = [c.write_tokens for c in first_calls if c.write_tokens and not c.read_tokens]
    if len(sizes) < 3:
        return None
    middle = sorted(sizes)[len(sizes) // 2]
    same = [s for s in sizes if abs(s - middle) <= max(128, middle * _SAME_FRACTION)]
    if len(same) < 3:
        return None
    sentence = (
        f"{len(same)} subagents each wrote about {tokens(middle)} with their first call: they "
        "share no cached prefix, use different keys, or started together."
    )
    return Pattern("COLD_SUBAGENTS", Certainty.MEDIUM, sentence)
