"""Builders of the facts that verdicts are made from, and what the facts say of themselves."""

from dataclasses import replace

import pytest

from tracer.cache import provider_for
from tracer.cache.explain import explain
from tracer.cache.facts import purpose_of, written_lifetimes
from tracer.cache.prices import PriceTable
from tracer.model.events import Status
from tracer.model.prompt import Kind, Marker, Tier
from tracer.model.usage import Convention, Usage
from tracer.model.verdict import (
    Boundary,
    CallFacts,
    Difference,
    Earlier,
    HashLadder,
    History,
    Purpose,
    Verdict,
)

START_MS = 1_768_220_000_000
GLM = ("builtin:zai-coding-plan", "glm-5")
CLAUDE = ("anthropic", "claude-opus-5")
GPT = ("openai", "gpt-5.5")
DEEPSEEK = ("deepseek", "deepseek-v4")
PARAMS: dict[str, object] = {"body": {"thinking": {"type": "enabled"}, "max_tokens": 32_000}}


def usage(total: int | None, read: int | None = 0, write: int | None = 0) -> Usage:
    """Usage whose input includes the cache counts, as a log of ZCode has it."""
    fresh = total - (read or 0) - (write or 0) if total is not None and read is not None else None
    return Usage(
        total, fresh, read, write, 100, None, Convention.INCLUSIVE, "total = input + output"
    )


def call(
    key: str,
    at_s: float,
    total: int | None = 50_000,
    read: int | None = 0,
    write: int | None = 0,
    of: tuple[str, str] = GLM,
    **changes: object,
) -> CallFacts:
    """A call that started `at_s` seconds into the session and took two seconds."""
    start = START_MS + round(at_s * 1_000)
    made = CallFacts(
        key=key,
        provider_id=of[0],
        model_id=of[1],
        returned_model_id=of[1],
        lane=f"main@{of[1]}",
        session_id="sess_1",
        query_source="main_turn",
        started_at_ms=start,
        first_token_at_ms=start + 500,
        completed_at_ms=start + 2_000,
        status=Status.COMPLETED,
        response_id=f"msg_{key}",
        usage=None if total is None and read is None else usage(total, read, write),
        markers=(),
        params=PARAMS,
        headers={"x-session-id": "sess_1"},
        hashes=HashLadder("t0", "s0", f"p_{key}"),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def blocks(*sizes: tuple[Tier, int] | tuple[Tier, int, Kind, str]) -> tuple[Boundary, ...]:
    """Boundaries of blocks of the given sizes in tokens, each a message (or tool, or block)."""
    found: list[Boundary] = []
    end, position = 0, {Tier.TOOLS: 0, Tier.SYSTEM: 0, Tier.MESSAGES: 0}
    for index, size in enumerate(sizes):
        tier = size[0]
        kind, role = (size[2], size[3]) if len(size) == 4 else (Kind.TEXT, "user")
        end += size[1]
        at = position[tier]
        position[tier] += 1
        message = at if tier is Tier.MESSAGES else None
        found.append(Boundary(index, tier, at, message, 0, role, kind, end))
    return tuple(found)


def prompt_blocks(total: int, messages: int = 8, head: int = 10_000) -> tuple[Boundary, ...]:
    """Tools and system of `head` tokens, then equal messages up to `total`."""
    each = (total - head) // messages
    sizes = [each] * (messages - 1) + [total - head - each * (messages - 1)]
    return blocks(
        (Tier.TOOLS, head // 2),
        (Tier.SYSTEM, head - head // 2),
        *((Tier.MESSAGES, size) for size in sizes),
    )


def appended(before: int, now: int, **changes: object) -> Difference:
    """The baseline of `before` tokens as a whole, and one more message."""
    found = (*prompt_blocks(before), *())
    tail = Boundary(
        len(found), Tier.MESSAGES, 8, 8, 0, "user", Kind.TEXT, max(now, before)
    )  # fmt: skip
    made = Difference(
        common_blocks=len(found),
        common_tokens=before,
        baseline_blocks=len(found),
        current_blocks=len(found) + 1,
        boundaries=(*found, tail),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def diverged(
    common: int, kept: int | None, *, total: int = 60_000, **changes: object
) -> Difference:
    """Two prompts that part at token `common`."""
    found = prompt_blocks(total)
    equal = sum(1 for b in found if b.end_tokens <= common)
    made = Difference(
        common_blocks=equal,
        common_tokens=common,
        baseline_blocks=len(found),
        current_blocks=len(found),
        kept_after_tokens=kept,
        boundaries=found,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def judge(
    now: CallFacts,
    before: CallFacts | None,
    difference: Difference | None = None,
    history: History | None = None,
    prices: PriceTable | None = None,
) -> Verdict:
    """The verdict by the rules of the call's own provider."""
    provider = provider_for(now.provider_id, now.model_id, now.endpoint)
    return explain(now, before, difference, history or History(), provider, prices)


def earlier(
    *calls: CallFacts, common: int | None = None, whole: bool = False
) -> tuple[Earlier, ...]:
    """Earlier calls that share `common` tokens."""
    return tuple(Earlier(c, common, None, whole) for c in calls)


def marker(tier: Tier, index: int, ttl: str = "") -> Marker:
    """A marker on the first block of a message, tool or system block."""
    return Marker(tier, index, 0, ttl, "", index if tier is Tier.MESSAGES else None)


def test_an_appended_prompt_is_append_only() -> None:
    found = appended(50_000, 51_000)
    assert found.append_only and not found.identical and not found.cut


def test_a_call_without_usage_knows_no_read() -> None:
    made = call("a", 0, None, None)
    assert made.usage is None and made.read_tokens is None and made.prompt_tokens is None


def test_the_model_that_answered_counts() -> None:
    assert call("a", 0, returned_model_id="glm-4.6").model == "glm-4.6"
    assert call("a", 0, returned_model_id="").model == "glm-5"


@pytest.mark.parametrize(
    ("query_source", "purpose"),
    [
        ("main_turn", Purpose.CONVERSATION),
        ("", Purpose.CONVERSATION),
        ("subagent", Purpose.SUBAGENT),
        ("compact", Purpose.COMPACTION),
        ("auto_compact_v2", Purpose.COMPACTION),
        ("session_title", Purpose.TITLE),
        ("web_search_tool", Purpose.SIDE),
    ],
)
def test_what_a_call_is_for(query_source: str, purpose: Purpose) -> None:
    assert purpose_of(query_source) is purpose


def test_the_lifetimes_of_a_write() -> None:
    reported = {
        "provider": {
            "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 900}
        }
    }
    assert written_lifetimes(reported) == (0, 900)
    assert written_lifetimes({"usage": {"inputTokens": 3}}) == (None, None)
    assert written_lifetimes(None) == (None, None)
