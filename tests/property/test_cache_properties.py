"""What holds for every verdict: appending is no miss, order is no evidence, equal is silent."""

import random
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.test_cache_facts import appended, call, diverged, judge, marker
from tracer.cache import all_providers
from tracer.cache.expected import MIN_NOISE_TOKENS
from tracer.cache.providers import Provider
from tracer.cache.providers.base import Match
from tracer.cache.session import Judged, session_cache
from tracer.model.comparison import Op
from tracer.model.prompt import Tier
from tracer.model.verdict import (
    CallFacts,
    Change,
    Earlier,
    History,
    LoggedEvent,
    PastVerdict,
    Result,
)

_IDS = {
    "anthropic": ("anthropic", "claude-opus-5"),
    "deepseek": ("deepseek", "deepseek-v4"),
    "gemini": ("google", "gemini-3-flash"),
    "glm": ("zai", "glm-5"),
    "llamacpp": ("llama-server", "qwen"),
    "openai": ("openai", "gpt-5.5"),
    "sglang": ("sglang", "qwen"),
    "unknown": ("somebody", "some-model"),
    "vllm": ("vllm", "qwen"),
}
PROVIDERS = st.sampled_from(all_providers())
GROWTH = st.lists(st.integers(1, 9_000), min_size=2, max_size=12)


def simulate(provider: Provider, sizes: list[int], block: int, gap_s: float) -> list[CallFacts]:
    """A session that only grows, billed as the provider bills."""
    of, found, before = _IDS[provider.name], [], 0
    for i, size in enumerate(sizes):
        if provider.match.of(of[1]).value is Match.MARKERS:
            read, write = before, size - before
        else:
            read, write = before // block * block, 0
        markers = (marker(Tier.SYSTEM, 0), marker(Tier.MESSAGES, 7 if i == 0 else 8))
        found.append(call(str(i), i * gap_s, size, read, write, of, markers=markers))
        before = size
    return found


@given(PROVIDERS, st.integers(10_000, 80_000), GROWTH, st.integers(1, 1_024), st.floats(7, 240))
@settings(max_examples=150, deadline=None)
def test_appending_is_never_a_miss(
    provider: Provider, start: int, growth: list[int], block: int, gap_s: float
) -> None:
    sizes = [start]
    for more in growth:
        sizes.append(sizes[-1] + more)
    calls = simulate(provider, sizes, block, gap_s)
    reads = tuple(c.read_tokens or 0 for c in calls)
    rows = [Judged(calls[0], judge(calls[0], None))]
    for i, (before, now) in enumerate(zip(calls, calls[1:], strict=False), 1):
        history = History(
            tuple(Earlier(c, c.prompt_tokens, None, True) for c in calls[:i]), lane_reads=reads
        )
        difference = appended(before.prompt_tokens or 0, now.prompt_tokens or 0)
        verdict = judge(now, before, difference, history)
        assert verdict.result is Result.HIT, (provider.name, verdict.one_line)
        assert verdict.missed_tokens == verdict.avoidable_tokens == 0
        rows.append(Judged(now, verdict))
    assert session_cache(rows).misses == 0


OPS = st.sampled_from((Op.ADDED, Op.REMOVED, Op.CHANGED, Op.MOVED, Op.REORDERED))
CHANGES = st.builds(
    Change,
    op=OPS,
    tier=st.sampled_from(tuple(Tier)),
    a_index=st.integers(0, 9),
    b_index=st.integers(0, 9),
    label=st.sampled_from(("Bash", "mcp__web__x", "message 3")),
    reminder=st.sampled_from(("", "todo_reminder")),
    token_offset=st.integers(0, 50_000),
    before=st.sampled_from(("2026-01-12", "cch=1", "x")),
    after=st.sampled_from(("2026-01-13", "cch=2", "y")),
)


@given(
    PROVIDERS,
    st.lists(CHANGES, max_size=5),
    st.integers(0, 59_000),
    st.integers(0, 60_000),
    st.floats(1, 9_000),
    st.randoms(use_true_random=False),
)
@settings(max_examples=200, deadline=None)
def test_a_verdict_does_not_depend_on_order(
    provider: Provider,
    changes: list[Change],
    common: int,
    read: int,
    gap_s: float,
    shuffler: random.Random,
) -> None:
    of = _IDS[provider.name]
    before, now = call("a", 0, 60_000, 50_000, 10_000, of), call("b", gap_s, 61_000, read, 0, of)
    others = [call(f"o{i}", gap_s * i / 4, 9_000, 0, 0, of, lane=f"l{i}") for i in range(4)]
    old = [
        Earlier(call(f"e{i}", -60 * i, 50_000, 9_000 * i, 0, of), 9_000 * i) for i in range(1, 5)
    ]
    history = History(
        tuple(old),
        tuple(others),
        past=tuple(PastVerdict(str(i), ("TTL_EXPIRED/",), i % 2 == 0) for i in range(4)),
        lane_reads=(9_000, 18_000, read),
        events=(
            LoggedEvent(before.started_at_ms, "mcp", "a"),
            LoggedEvent(now.started_at_ms, "mcp", "b"),
        ),
    )
    difference = diverged(common, 60_000 - common, total=61_000, changes=tuple(changes))
    verdict = judge(now, before, difference, history)

    def shuffled(items: tuple[object, ...]) -> tuple[object, ...]:
        found = list(items)
        shuffler.shuffle(found)
        return tuple(found)

    other = replace(
        history,
        **{
            f: shuffled(getattr(history, f))
            for f in ("earlier", "others", "past", "lane_reads", "events")
        },  # type: ignore[arg-type]
    )
    mixed = replace(
        difference,
        changes=shuffled(difference.changes),  # type: ignore[arg-type]
        boundaries=shuffled(difference.boundaries),  # type: ignore[arg-type]
    )
    assert judge(now, before, mixed, other) == verdict


@given(
    PROVIDERS,
    st.lists(CHANGES, max_size=3),
    st.integers(0, 59_000),
    st.integers(0, 70_000),
    st.floats(1, 9_000),
)
@settings(max_examples=200, deadline=None)
def test_the_numbers_of_a_verdict_add_up(
    provider: Provider, changes: list[Change], common: int, read: int, gap_s: float
) -> None:
    of = _IDS[provider.name]
    before, now = call("a", 0, 60_000, 50_000, 10_000, of), call("b", gap_s, 61_000, read, 0, of)
    verdict = judge(now, before, diverged(common, None, total=61_000, changes=tuple(changes)))
    assert verdict.one_line and verdict.one_line[0].isupper()
    if verdict.result is Result.FIRST:
        return
    assert verdict.is_miss == (verdict.result in (Result.PARTIAL, Result.MISS))
    assert (
        verdict.rebilled_tokens == 0
        or verdict.rebilled_tokens > verdict.noise_tokens >= MIN_NOISE_TOKENS
    )
    if verdict.is_miss:
        assert verdict.causes and (verdict.read_stop is not None)
        assert sum(c.tokens or 0 for c in verdict.causes) == verdict.rebilled_tokens
        assert verdict.missed_tokens + verdict.avoidable_tokens == verdict.rebilled_tokens
        assert (verdict.result is Result.MISS) == (read == 0)
    else:
        assert verdict.missed_tokens == verdict.avoidable_tokens == 0


@given(PROVIDERS, st.integers(2_000, 90_000), st.floats(1, 200))
@settings(max_examples=80, deadline=None)
def test_the_same_prompt_read_in_full_is_silent(
    provider: Provider, size: int, gap_s: float
) -> None:
    of = _IDS[provider.name]
    before = call("a", 0, size, size, 0, of, markers=(marker(Tier.MESSAGES, 7),))
    now = replace(before, key="b", started_at_ms=(before.started_at_ms or 0) + round(gap_s * 1_000))
    found = appended(size, size, boundaries=appended(size, size).boundaries[:-1])
    verdict = judge(now, before, replace(found, current_blocks=found.baseline_blocks))
    assert verdict.result is Result.HIT
    assert (verdict.causes, verdict.also) == ((), ())


@given(PROVIDERS, st.integers(10_000, 80_000), st.integers(0, 3_000))
@settings(max_examples=80, deadline=None)
def test_a_read_within_the_noise_is_a_hit(provider: Provider, size: int, short: int) -> None:
    of = _IDS[provider.name]
    before = call("a", 0, size, size, 0, of, markers=None)
    verdict = judge(
        call("b", 9, size + 500, size - short, 0, of, markers=None),
        before,
        appended(size, size + 500),
    )
    assert (verdict.result is Result.HIT) or short > MIN_NOISE_TOKENS
