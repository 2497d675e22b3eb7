"""One request under examination: the facts that every cause looks at, worked out once."""

from dataclasses import dataclass
from functools import cached_property

from tracer.cache.expected import Expected, is_log_window
from tracer.cache.markers import asked_ttl
from tracer.cache.params import ParamChange, find_param, param_changes
from tracer.cache.providers.base import Lifetime, Provider, Value
from tracer.model.prompt import Tier
from tracer.model.verdict import (
    CallFacts,
    Change,
    Difference,
    Earlier,
    History,
    LoggedEvent,
)


@dataclass(frozen=True)
class Case:
    """A request, its baseline, what differs and what surrounds it.

    `logged_difference` is what the comparison gave; `difference` is None where that is not about
    the prompt but about the log's window.
    """

    call: CallFacts
    baseline: CallFacts | None
    logged_difference: Difference | None
    history: History
    provider: Provider
    expected: Expected | None

    @cached_property
    def difference(self) -> Difference | None:
        """The comparison, where it speaks of the prompt."""
        found = self.logged_difference
        if found is None or self.baseline is None:
            return found
        return None if is_log_window(self.call, self.baseline, found) else found

    @cached_property
    def params(self) -> tuple[ParamChange, ...]:
        """Changed parameters, the costliest first."""
        if self.baseline is None:
            return ()
        return param_changes(self.baseline, self.call, self.provider, self.difference)

    @property
    def append_only(self) -> bool:
        """True where the comparison shows that nothing in common was changed."""
        return self.difference is not None and self.difference.append_only

    @property
    def lost(self) -> int:
        """Tokens that could have been read and were not."""
        return self.expected.lost if self.expected else 0

    @property
    def noise(self) -> int:
        """Less than this is rounding."""
        return self.expected.noise if self.expected else 0

    @property
    def misses(self) -> bool:
        """True where more than rounding was lost."""
        return self.lost > self.noise

    @cached_property
    def earlier(self) -> tuple[Earlier, ...]:
        """Earlier calls on the same cache, by start. The baseline is among them."""
        known = {e.facts.key: e for e in self.history.earlier if e.facts.order < self.call.order}
        if self.baseline is not None and self.baseline.key not in known:
            whole = self.append_only
            common = self.expected.common if self.expected else None
            known[self.baseline.key] = Earlier(self.baseline, common, None, whole)
        return tuple(sorted(known.values(), key=lambda e: e.facts.order))

    @cached_property
    def sharers(self) -> tuple[Earlier, ...]:
        """Earlier calls that held what this request was expected to read, by start: each of them
        wrote it or refreshed it. A call whose prefix is not known is not one, but the baseline."""
        if self.expected is None or self.baseline is None:
            return ()
        need = self.expected.expected - self.expected.noise
        return tuple(
            e
            for e in self.earlier
            if e.facts.key == self.baseline.key
            or (e.common_tokens is not None and e.common_tokens >= need and answered(e.facts))
        )

    @cached_property
    def gap_ms(self) -> int | None:
        """From the start of the request that last wrote or read the prefix to this one's start:
        a lifetime runs from a request's start (cache-rules.md 0, finding 8)."""
        if self.call.started_at_ms is None:
            return None
        starts = [e.facts.started_at_ms for e in self.sharers if e.facts.started_at_ms is not None]
        return self.call.started_at_ms - max(starts) if starts else None

    @cached_property
    def lifetime(self) -> Value[Lifetime]:
        """How long the entry lived: by the lifetime of the last write, then by what was asked for,
        then the provider's rule."""
        for name, source in (
            (self._written_ttl(), "the lifetime of the last write, as billed"),
            (self._asked_ttl(), "the lifetime that the earlier request asked for"),
        ):
            value = self.provider.named_lifetime(name) if name else None
            if value is not None:
                return Value(value.value, f"{source}; {value.source}")
        return self.provider.lifetime.of(self.call.model)

    def _written_ttl(self) -> str:
        for earlier in reversed(self.earlier):
            if earlier.facts.write_5m_tokens:
                return "5m"
            if earlier.facts.write_1h_tokens:
                return "1h"
        return ""

    def _asked_ttl(self) -> str:
        if self.baseline is None:
            return ""
        asked = asked_ttl(self.baseline.markers)
        return asked or find_param(self.baseline, r"retention$|cache_options\.ttl$") or ""

    def changes_in(self, *tiers: Tier) -> tuple[Change, ...]:
        """The changes of some tiers, by place."""
        found = self.difference.changes if self.difference else ()
        return tuple(change for change in found if change.tier in tiers)

    def events_since_baseline(self, *kinds: str) -> tuple[LoggedEvent, ...]:
        """Logged events of some kinds between the baseline's start and this request's, by time."""
        since = self.baseline.started_at_ms if self.baseline else None
        until = self.call.started_at_ms
        return tuple(
            e for e in self.history.events if e.kind in kinds and within(e.at_ms, since, until)
        )

    def changed_before(self, tier: Tier) -> tuple[int, int]:
        """In how many of the earlier requests a tier differed from the one before it, and of how
        many that is known."""
        values = [h for e in self.earlier if (h := tier_hash(e.facts, tier))]
        now = tier_hash(self.call, tier)
        values = [*values, now] if now else values
        pairs = list(zip(values, values[1:], strict=False))
        return sum(1 for a, b in pairs if a != b), len(pairs)

    def counter_evidence(self, signal: str) -> tuple[int, int]:
        """How often the same thing happened earlier without a miss, and how often in all
        (cache-rules.md 5, 17)."""
        same = [p for p in self.history.past if signal in p.signals]
        return sum(1 for p in same if not p.missed), len(same)


def tier_hash(call: CallFacts, tier: Tier) -> str:
    """The hash of a tier, empty where it is not known."""
    return call.hashes.tools if tier is Tier.TOOLS else call.hashes.system


def answered(call: CallFacts) -> bool:
    """True where the call was billed for a prompt."""
    return call.usage is not None and bool(call.usage.input_tokens)


def within(at_ms: int | None, since: int | None, until: int | None) -> bool:
    """True where a moment lies between two others, unknown ends being open."""
    if at_ms is None:
        return False
    return (since is None or at_ms >= since) and (until is None or at_ms <= until)
