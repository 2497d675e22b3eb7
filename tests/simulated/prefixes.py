"""Providers that cache without markers, as cache-rules.md describes them.

* `PrefixServer`: the longest common prefix with an earlier prompt, rounded down to a step (OpenAI
  before 5.6: 128 tokens, GLM: 64, vLLM: a block, SGLang: a page, Gemini: not documented). Machines
  hold caches of their own.
* `BreakpointServer`: exact breakpoints at the ends of prompts (OpenAI from 5.6 on).
* `UnitServer`: whole persisted units only: ends of prompts, ends of answers, prefixes that two
  requests were seen to share (DeepSeek).
* `SlotServer`: slots that hold one sequence each (llama.cpp).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.simulated.stream import (
    Pricing,
    Stream,
    common_tokens,
    cut,
    is_prefix,
    reply_of,
    stream_of,
    total_of,
)
from tests.simulated.wire import Billed, Sent

DAY_MS = 24 * 3_600_000
_KEYED = (
    "reasoning_effort", "reasoning", "verbosity", "text", "service_tier", "prompt_cache_key",
    "response_format", "chat_template_kwargs",
)  # fmt: skip


def scope_of(sent: Sent) -> tuple[str, ...]:
    """What has to be the same for a cache to be shared at all."""
    body = sent.params.get("body")
    params = body if isinstance(body, dict) else {}
    return (
        sent.answered_by,
        sent.endpoint,
        sent.node,
        *(str(params.get(name)) for name in _KEYED),
    )


def _retention(sent: Sent) -> str:
    body = sent.params.get("body")
    return str(body.get("prompt_cache_retention", "")) if isinstance(body, dict) else ""


def _output(sent: Sent, pricing: Pricing) -> int:
    return total_of(reply_of(sent, pricing, shapes=False))


def _with_reply(sent: Sent, pricing: Pricing) -> Stream:
    whole = stream_of(sent, pricing, shapes=False)
    return whole + reply_of(sent, pricing, shapes=False)


@dataclass(slots=True)
class _Kept:
    scope: tuple[str, ...]
    stream: Stream
    used_ms: int


@dataclass(slots=True)
class PrefixServer:
    """`step` is the rounding, `minimum` the least that is read, `ttl_ms` the idle time after which
    a prompt is forgotten, `capacity` the tokens that fit (least recently used go first)."""

    pricing: Pricing
    step: int
    minimum: int = 0
    ttl_ms: int | None = None
    keeps_output: bool = False
    capacity: int | None = None
    lose_next: bool = False
    _kept: list[_Kept] = field(default_factory=list)

    def answer(self, sent: Sent) -> Billed:
        """Read the longest prefix, keep this prompt."""
        stream = stream_of(sent, self.pricing, shapes=False)
        scope, total = scope_of(sent), total_of(stream)
        ttl_ms = DAY_MS if _retention(sent) == "24h" else self.ttl_ms
        if ttl_ms is not None:
            alive = sent.start_ms - ttl_ms
            self._kept = [kept for kept in self._kept if kept.used_ms > alive]
        best = 0
        for kept in self._kept:
            if kept.scope == scope:
                common = common_tokens(kept.stream, stream, self.pricing)
                if common >= max(best, self.minimum, 1):
                    best, kept.used_ms = common, sent.start_ms
        if self.lose_next:
            best, self.lose_next = 0, False
        read = min(best, total - 1) // self.step * self.step
        self._keep(scope, stream, sent.start_ms)
        return Billed(total, read if read >= self.minimum else 0, 0, _output(sent, self.pricing))

    def said(self, sent: Sent) -> int:
        """Keep the answer where this engine does; its tokens."""
        if self.keeps_output:
            whole = _with_reply(sent, self.pricing)
            self._keep(scope_of(sent), whole, sent.start_ms)
        return _output(sent, self.pricing)

    def _keep(self, scope: tuple[str, ...], stream: Stream, used_ms: int) -> None:
        """Keep a prompt instead of those that it goes on from."""
        self._kept = [k for k in self._kept if k.scope != scope or not is_prefix(k.stream, stream)]
        self._kept.append(_Kept(scope, stream, used_ms))
        self._forget()

    def _forget(self) -> None:
        if self.capacity is None:
            return
        self._kept.sort(key=lambda kept: kept.used_ms)
        while len(self._kept) > 1 and self._size() > self.capacity:
            self._kept.pop(0)

    def _size(self) -> int:
        return sum(total_of(kept.stream) for kept in self._kept)


@dataclass(slots=True)
class BreakpointServer:
    """Breakpoints at the end of the system prompt and of the prompt; reads are exact."""

    pricing: Pricing
    ttl_ms: int
    minimum: int = 1_024
    lose_next: bool = False
    _points: list[_Kept] = field(default_factory=list)

    def answer(self, sent: Sent) -> Billed:
        """Read the longest breakpoint that this prompt begins with; write what is behind it."""
        stream = stream_of(sent, self.pricing, shapes=False)
        scope, total = scope_of(sent), total_of(stream)
        if self.lose_next:
            self._points, self.lose_next = [], False
        alive = sent.start_ms - self.ttl_ms
        self._points = [point for point in self._points if point.used_ms > alive]
        read = 0
        for point in self._points:
            if point.scope == scope and is_prefix(point.stream, stream):
                point.used_ms = sent.start_ms
                read = max(read, total_of(point.stream))
        head = tuple(atom for atom in stream if atom.place[0] != "messages")
        for points in (head, stream):
            if total_of(points) >= self.minimum:
                self._points.append(_Kept(scope, points, sent.start_ms))
        write = max(0, total - read) if total >= self.minimum else 0
        return Billed(total, min(read, total), write, _output(sent, self.pricing))

    def said(self, sent: Sent) -> int:
        """The tokens of an answer, which no breakpoint holds."""
        return _output(sent, self.pricing)


@dataclass(slots=True)
class UnitServer:
    """Units can be read `delay_ms` after the answer's end, and persist for good here: a simulated
    session is shorter than their life of hours."""

    pricing: Pricing
    step: int = 128
    delay_ms: int = 6_000
    lose_next: bool = False
    _units: list[_Kept] = field(default_factory=list)
    _prompts: list[tuple[tuple[str, ...], Stream]] = field(default_factory=list)

    def answer(self, sent: Sent) -> Billed:
        """Read the longest unit that this prompt begins with; persist new ones."""
        stream = stream_of(sent, self.pricing, shapes=False)
        scope = scope_of(sent)
        sizes = [
            total_of(unit.stream)
            for unit in self._units
            if unit.scope == scope
            and unit.used_ms <= sent.start_ms
            and is_prefix(unit.stream, stream)
        ]
        read = max(sizes, default=0) // self.step * self.step
        if self.lose_next:
            read, self.lose_next = 0, False
        for where, prompt in self._prompts:
            if where == scope:
                shared = common_tokens(prompt, stream, self.pricing)
                unit = cut(stream, shared, prompt, self.pricing)
                if shared >= 1_024 and unit:
                    self._units.append(_Kept(scope, unit, sent.end_ms + self.delay_ms))
        self._units.append(_Kept(scope, stream, sent.end_ms + self.delay_ms))
        self._prompts.append((scope, stream))
        return Billed(total_of(stream), read, 0, _output(sent, self.pricing))

    def said(self, sent: Sent) -> int:
        """The end of an answer ends a unit, too."""
        whole = _with_reply(sent, self.pricing)
        self._units.append(_Kept(scope_of(sent), whole, sent.end_ms + self.delay_ms))
        return _output(sent, self.pricing)


@dataclass(slots=True)
class SlotServer:
    """`slots` sequences; a request takes the slot that it shares more than a tenth with, else the
    one that was not used for longest. `rewinds` is false for models with a sliding window: they
    start over where a sequence does not simply go on."""

    pricing: Pricing
    slots: int = 1
    rewinds: bool = True
    lose_next: bool = False
    _held: list[_Kept] = field(default_factory=list)

    def answer(self, sent: Sent) -> Billed:
        """Read what the slot has in common with the prompt."""
        stream = stream_of(sent, self.pricing, shapes=False)
        scope, total = scope_of(sent), total_of(stream)
        slot = self._slot(scope, stream, total)
        read = 0
        if slot is not None and slot.scope == scope:
            read = min(common_tokens(slot.stream, stream, self.pricing), total - 1)
            if not self.rewinds and read < total_of(slot.stream):
                read = 0
        if self.lose_next:
            read, self.lose_next = 0, False
        if slot is not None:
            self._held.remove(slot)
        self._held.append(_Kept(scope, stream, sent.start_ms))
        return Billed(total, read, 0, _output(sent, self.pricing))

    def said(self, sent: Sent) -> int:
        """The slot that made an answer holds it, unless it was taken meanwhile."""
        for kept in self._held:
            if kept.used_ms == sent.start_ms and kept.scope == scope_of(sent):
                kept.stream = _with_reply(sent, self.pricing)
        return _output(sent, self.pricing)

    def _slot(self, scope: Sequence[str], stream: Stream, total: int) -> _Kept | None:
        alike = [
            (common_tokens(kept.stream, stream, self.pricing), kept)
            for kept in self._held
            if kept.scope == scope
        ]
        best = max(alike, key=lambda pair: pair[0], default=None)
        if best is not None and best[0] > total / 10:
            return best[1]
        if len(self._held) < self.slots:
            return None
        return min(self._held, key=lambda kept: kept.used_ms)
