"""What an ideal cache could return for a request: the expected read (cache-rules.md 2.2).

Three depths of a prompt, in tokens: `reusable`, what would have been readable had the client kept
its prompt and parameters; `expected`, what was still readable as the request was sent; and the read
itself. Reusable - expected is the client's loss, expected - read the provider's.

Output that a provider could reuse is never expected: it may be read, and nobody is blamed if not.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from tracer.cache.changes import only_notes_gone
from tracer.cache.markers import Spot, has_marker, has_message_marker, reachable, spots
from tracer.cache.params import ParamChange, param_changes
from tracer.cache.providers.base import Lost, Match, Provider
from tracer.cache.scale import EXACT, Scale
from tracer.model.prompt import Tier
from tracer.model.verdict import CallFacts, Difference, Earlier, History

MIN_NOISE_TOKENS = 1_024
NOISE_FRACTION = 0.02
_TIERS = {Lost.TOOLS: 0, Lost.SYSTEM: 1, Lost.MESSAGES: 2}


@dataclass(frozen=True, slots=True)
class Expected:
    """The three depths in tokens, and how they were found.

    `common` is the prefix shared with the baseline. Without a
    comparison the prompt is taken to have been appended to.
    """

    reusable: int
    expected: int
    read: int
    common: int
    noise: int
    granularity: int
    method: str
    scale: Scale = EXACT

    @property
    def lost(self) -> int:
        """Tokens that were cached once and were not read."""
        return max(0, self.reusable - self.read)

    @property
    def before_lost(self) -> int:
        """Identical and reachable, and yet not read."""
        return max(0, self.expected - self.read)

    @property
    def after_lost(self) -> int:
        """Put out of reach by what the request itself changed."""
        return max(0, self.reusable - max(self.expected, self.read))


def noise_tokens(expected: int, granularity: int) -> int:
    """Less than this is no loss: max(1,024, two blocks, 2 %) (cache-rules.md 2.2)."""
    return max(MIN_NOISE_TOKENS, 2 * granularity, math.ceil(NOISE_FRACTION * expected))


def seen_granularity(reads: Iterable[int], documented: int) -> int:
    """The block size that a lane's reads show where it is coarser than the documented one.

    The greatest number that divides all reads. One or two different reads prove little, so what
    they show counts only up to 2,048 and 4,096 tokens, and only if it is a multiple of 16.
    """
    distinct = {read for read in reads if read > 0}
    if not distinct:
        return documented
    common = math.gcd(*distinct)
    if len(distinct) < 3:
        limit = 2_048 if len(distinct) == 1 else 4_096
        sizes = [s for s in _BLOCK_SIZES if s <= limit and common % s == 0]
        common = max(sizes, default=documented)
    return max(common, documented) if common <= _MAX_BLOCK else documented


_MAX_BLOCK = 8_192
_BLOCK_SIZES = (16, 32, 64, 128, 256, 512, 528, 1_024, 1_600, 2_048, 4_096)


def expect(
    call: CallFacts,
    baseline: CallFacts,
    difference: Difference | None,
    history: History,
    provider: Provider,
    scale: Scale = EXACT,
) -> Expected | None:
    """The expected read; None where the baseline's size or this request's read is not known."""
    before, now, read = baseline.prompt_tokens, call.prompt_tokens, call.read_tokens
    if before is None or now is None or read is None:
        return None
    common = common_tokens(before, now, difference)
    kept = kept_tokens(before, now, common, difference)
    match = provider.match.of(call.model).value
    block = _block(call, baseline, history, provider)
    changes = param_changes(baseline, call, provider, difference)
    limit = min(
        common, scope_limit(call, baseline), param_limit(changes, difference, read, now, scale)
    )
    whole = _floor(min(common + kept, now), block)
    if match is Match.MARKERS:
        entries = _entries(call, baseline, difference, history, provider, limit)
        reusable, expected, method = _by_markers(whole, limit, common, entries, baseline, read)
    elif match is Match.UNITS:
        reusable, expected, method = _by_units(whole, limit, block, difference, history, provider)
    else:
        expected = _floor(min(limit, now), block)
        reusable, method = whole, _prefix_method(common, min(limit, now), expected, block)
    noise = noise_tokens(max(reusable, expected), provider.granularity.of(call.model).value)
    if block > provider.granularity.of(call.model).value:
        noise = max(noise, block - 1)
    forked = difference is not None and not difference.append_only and limit == common
    notes = difference is not None and only_notes_gone(difference)
    if forked and kept <= noise and match is not Match.PREFIX and not notes:
        reusable = min(reusable, expected + kept)
    if limit < common or (difference is not None and not difference.append_only):
        shift = read - expected
        if abs(shift) <= scale.error_at(expected):
            # The read tells the place better than the counts do.
            reusable += round(shift * max(0.0, 1 - kept / max(1, now - common)))
            if shift:
                method += (
                    f"; the counts of blocks are within {scale.error_at(expected):,} tokens here, "
                    f"and the read itself tells the place: {read:,}"
                )
            expected = read
    return Expected(max(reusable, expected), expected, read, common, noise, block, method, scale)


def common_tokens(before: int, now: int, difference: Difference | None) -> int:
    """The common prefix in billed tokens: the baseline's whole size where nothing but an addition
    follows it, so that no estimate is needed; else the comparison's calibrated count."""
    if difference is None or difference.append_only:
        return min(before, now)
    if difference.cut:
        return now
    return min(difference.common_tokens, before, now)


def kept_tokens(before: int, now: int, common: int, difference: Difference | None) -> int:
    """Content behind the first difference that both prompts hold; all of the shorter prompt where
    the comparison did not work it out."""
    if difference is None or difference.append_only or difference.cut:
        return 0
    if difference.kept_after_tokens is not None:
        return min(difference.kept_after_tokens, max(0, min(before, now) - common))
    return max(0, min(before, now) - common)


def is_log_window(call: CallFacts, baseline: CallFacts, difference: Difference) -> bool:
    """True where the visible messages slid forward although the prompt kept growing: the log is a
    window, not the prompt (cache-rules.md 0, finding 3). The announced number of messages decides,
    then the billed prompt, then a read that reaches behind the supposed difference."""
    if difference.shift <= 0 or _shows_all(call, difference):
        return False
    before, now = baseline.prompt_tokens, call.prompt_tokens
    grew = before is not None and now is not None and now > before
    if call.message_count is not None and baseline.message_count is not None:
        if call.message_count > baseline.message_count:
            return True
        read = call.read_tokens or 0
        common = difference.common_tokens
        return grew and read > common + noise_tokens(common, 1)
    return grew


def _shows_all(call: CallFacts, difference: Difference) -> bool:
    """True where the log shows as many messages as the request is said to have."""
    shown = {b.message_index for b in difference.boundaries if b.message_index is not None}
    return call.message_count is not None and len(shown) >= call.message_count


def scope_limit(call: CallFacts, baseline: CallFacts) -> int:
    """0 where model or endpoint changed, since a cache belongs to both; else no limit."""
    if model_changed(call, baseline) or endpoint_changed(call, baseline):
        return 0
    return _NO_LIMIT


_NO_LIMIT = 1 << 62


def model_changed(call: CallFacts, baseline: CallFacts) -> bool:
    """True where the requested or the returned model differ, both being known."""
    pairs = (
        (baseline.model_id, call.model_id),
        (baseline.returned_model_id, call.returned_model_id),
    )
    return any(old and new and old != new for old, new in pairs)


def endpoint_changed(call: CallFacts, baseline: CallFacts) -> bool:
    """True where the base URL, region or workspace, or the provider's id differ."""
    return bool(
        (call.endpoint and baseline.endpoint and call.endpoint != baseline.endpoint)
        or (call.provider_id and baseline.provider_id and call.provider_id != baseline.provider_id)
    )


def param_limit(
    changes: Iterable[ParamChange],
    difference: Difference | None,
    read: int,
    now: int,
    scale: Scale = EXACT,
) -> int:
    """How deep the prompt stays usable after parameters changed, in tokens.

    Where a change also costs an earlier tier on some models, the read decides. Where the sizes of
    the tiers are not known, all above the read is put down to the parameter.
    """
    limit = _NO_LIMIT
    for change in changes:
        if change.lost not in _TIERS:
            continue
        start = tier_start(change.lost, difference)
        if start is None:
            limit = min(limit, read)
            continue
        doubt = max(noise_tokens(start, 1), scale.error_at(start))
        if change.may_reach is not None and read < start - doubt:
            start = min(start, tier_start(change.may_reach, difference) or 0)
        limit = min(limit, start, now)
    return limit


def tier_start(lost: Lost, difference: Difference | None) -> int | None:
    """Where a tier begins, in tokens of this request; None where the log does not tell."""
    depth = _TIERS[lost]
    if depth == 0:
        return 0
    if difference is None or not difference.boundaries:
        return None
    tiers = (Tier.TOOLS, Tier.SYSTEM, Tier.MESSAGES)[:depth]
    return max((b.end_tokens for b in difference.boundaries if b.tier in tiers), default=0)


def _block(call: CallFacts, baseline: CallFacts, history: History, provider: Provider) -> int:
    documented = provider.granularity.of(call.model).value
    if provider.match.of(call.model).value is Match.MARKERS:
        return documented
    reads = [call.read_tokens or 0, baseline.read_tokens or 0, *history.lane_reads]
    reads += [e.facts.read_tokens or 0 for e in history.earlier]
    return seen_granularity(reads, documented)


def _floor(tokens: int, block: int) -> int:
    return tokens // block * block if block > 1 else tokens


def _prefix_method(common: int, limit: int, expected: int, block: int) -> str:
    text = f"{common:,} tokens in common"
    if limit < common:
        text += f", {f'usable up to {limit:,}' if limit else 'none of them usable'} after a change "
        text += "of model, place or parameter"
    if block > 1 and expected:
        text += f", rounded down to blocks of {block}: {expected:,}"
    return text


@dataclass(frozen=True, slots=True)
class _Entries:
    """What markers wrote: the baseline's deepest entry, and the deepest that is still readable."""

    written: int | None
    readable: int | None
    message_marker: bool | None
    method: str


def _entries(
    call: CallFacts,
    baseline: CallFacts,
    difference: Difference | None,
    history: History,
    provider: Provider,
    limit: int,
) -> _Entries:
    """The entries of a provider with markers. The deepest entry of a request is what it read and
    wrote: an exact number, where both were reported."""
    written = _deepest(baseline)
    message_marker = has_message_marker(baseline)
    if has_marker(call) is False:
        return _Entries(
            written, 0, message_marker, "this request has no marker, so it reads nothing"
        )
    whole = _whole_entries(history, difference)
    candidates = [d for d in whole if d <= limit]
    if written and (difference is None or difference.append_only or written <= limit):
        candidates.append(min(written, limit))
    marked = _marked(baseline, difference)
    if difference is not None and marked is not None:
        now = spots(call, difference.boundaries, difference.current_blocks - 1)
        least = provider.minimum.of(call.model).value
        deepest = max(marked, key=lambda s: s.tokens, default=None)
        ends = {s.tokens: s for s in marked if least <= s.tokens <= limit and written != 0}
        if written and deepest is not None and difference.append_only:
            ends.pop(deepest.tokens, None)
        candidates += list(ends)
        if now is not None:
            known = {**whole, **ends}
            candidates = [
                c for c in candidates if _found(known.get(c), deepest, now, difference, provider)
            ]
    if not candidates:
        return _Entries(written, None, message_marker, "no entry is known to end before that")
    best = max(candidates)
    return _Entries(
        written, best, message_marker, f"the deepest entry within reach ends at {best:,}"
    )


def _found(
    spot: Spot | None,
    deepest: Spot | None,
    now: tuple[Spot, ...],
    difference: Difference,
    provider: Provider,
) -> bool:
    """True where a marker of this request finds the entry. An entry that is known by its size only
    is taken to stand at the baseline's last marker."""
    entry = spot or deepest
    return entry is None or reachable(entry, now, difference.boundaries, provider)


def _marked(baseline: CallFacts, difference: Difference | None) -> tuple[Spot, ...] | None:
    """The baseline's markers that stand in the common prefix, on this request's prompt."""
    if difference is None:
        return None
    common = tuple(b for b in difference.boundaries if b.index < difference.common_blocks)
    return spots(baseline, common, difference.baseline_blocks - 1)


def _deepest(call: CallFacts) -> int | None:
    read, write = call.read_tokens, call.write_tokens
    if read is None or write is None:
        return None
    return read + write


def _whole_entries(history: History, difference: Difference | None) -> dict[int, Spot | None]:
    """The deepest entries of the requests that this one goes on from, and where they end: at the
    end of the request's prompt, if that was read or written up to there."""
    blocks = {b.index + 1: b for b in difference.boundaries} if difference else {}
    found: dict[int, Spot | None] = {}
    for earlier in history.earlier:
        depth, size = _deepest(earlier.facts), earlier.facts.prompt_tokens
        if not earlier.whole or not depth:
            continue
        end = blocks.get(earlier.common_blocks or 0)
        at_end = end is not None and size is not None and size - depth <= noise_tokens(size, 1)
        found[depth] = Spot(end.index, depth, end.tier, end.label) if end and at_end else None
    return found


def _by_markers(
    whole: int, limit: int, common: int, entries: _Entries, baseline: CallFacts, read: int
) -> tuple[int, int, str]:
    """Reusable, expected and method for a provider with markers.

    What the baseline sent behind its last message marker was never written, so nobody lost it.
    """
    reusable = whole
    fresh = baseline.usage.fresh_tokens if baseline.usage else None
    marked = entries.message_marker
    if marked is None and entries.written and fresh is not None:
        marked = fresh <= max(noise_tokens(whole, 1), whole // 10)
    if marked and entries.written:
        reusable = min(whole, entries.written)
    if entries.readable is not None:
        return reusable, min(entries.readable, limit), entries.method
    if entries.written is None and limit >= common:
        return reusable, min(whole, limit), f"{min(whole, limit):,} tokens in common"
    return reusable, min(read, limit), entries.method


def _by_units(
    whole: int,
    limit: int,
    block: int,
    difference: Difference | None,
    history: History,
    provider: Provider,
) -> tuple[int, int, str]:
    """Reusable, expected and method for a provider that reuses whole units (cache-rules.md 1.4):
    the end of an earlier prompt, or a prefix at which two earlier prompts parted."""
    if difference is None or difference.append_only:
        expected = _floor(min(whole, limit), block)
        return whole, expected, f"the end of the previous prompt is a unit: {expected:,}"
    units = [e.facts.prompt_tokens or 0 for e in history.earlier if e.whole]
    if provider.keeps_forks.value:
        units += _forks(history.earlier)
    units = [u for u in units if u <= limit]
    expected = _floor(max(units, default=0), block)
    return whole, expected, f"the deepest unit known to end before the difference: {expected:,}"


def _forks(earlier: tuple[Earlier, ...]) -> list[int]:
    """Prefixes at which two earlier prompts parted: the second of them made the prefix a unit. Two
    that share as much with this request may share more with each other."""
    parted = [(e.facts, e.common_tokens) for e in earlier if not e.whole and e.common_tokens]
    wholes = [e.facts.prompt_tokens or 0 for e in earlier if e.whole]
    longest = max((*(depth for _, depth in parted), *wholes), default=0)
    return sorted(
        depth
        for call, depth in parted
        if depth < longest or any(_parted(other, call, depth) for other, d in parted if d >= depth)
    )


def _parted(first: CallFacts, second: CallFacts, depth: int) -> bool:
    """True where a request read less than it shares with one before it: it did not go on from it,
    but parted from it there."""
    read = second.read_tokens
    return first.order < second.order and read is not None and read < depth - noise_tokens(depth, 1)
