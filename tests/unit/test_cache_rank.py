"""Which of several true causes comes first, what speaks against one, and forks at DeepSeek."""

from tests.unit.test_cache_causes_content import message, miss, system, tool
from tests.unit.test_cache_facts import (
    DEEPSEEK,
    appended,
    call,
    diverged,
    earlier,
    judge,
    prompt_blocks,
)
from tracer.model.comparison import Op
from tracer.model.prompt import Tier
from tracer.model.verdict import (
    CallFacts,
    Change,
    Difference,
    History,
    PastVerdict,
    Result,
    Verdict,
)


def test_the_earliest_change_is_the_primary_one() -> None:
    changes = (message(Op.CHANGED, 3), system("a", "b"), tool(Op.CHANGED, 2, "Read"))
    verdict = miss(changes, 800, 768)
    assert [c.code for c in verdict.causes] == ["TOOLS_CHANGED"]
    assert [c.code for c in verdict.also] == ["SYSTEM_CHANGED", "HISTORY_REWRITTEN"]


def test_a_change_that_the_provider_read_past_is_no_cause() -> None:
    verdict = miss((tool(Op.CHANGED, 2, "Read", canonical_equal=True),), 800, 30_016)
    assert verdict.causes[0].code != "TOOLS_CHANGED"
    assert any(c.code == "TOOLS_CHANGED" and "cost nothing" in c.evidence[-1] for c in verdict.also)
    assert verdict.read_stop is not None and verdict.read_stop.agrees is False


def test_the_same_change_without_a_miss_is_told() -> None:
    past = tuple(PastVerdict(str(i), ("SYSTEM_CHANGED/date",), i == 0) for i in range(5))
    cause = miss(system("2026-01-12", "2026-01-13"), 5_060, 5_056, past=past).causes[0]
    assert "against it: the same happened 4 times without a miss (of 5 in all)" in cause.evidence


def test_a_fork_at_deepseek_reads_whole_units_only() -> None:
    """A+B, then A+C reads nothing; a third, A+D, reads A (cache-rules.md 1.4)."""
    first = call("ab", 0, 40_000, 0, of=DEEPSEEK)
    fork = Change(
        Op.CHANGED, Tier.MESSAGES, 4, 4, role="user", message_index=4, token_offset=30_000
    )

    def second(key: str, at: float, read: int, history: History, before: CallFacts) -> Verdict:
        now = call(key, at, 41_000, read, of=DEEPSEEK)
        return judge(now, before, diverged(30_000, 0, total=41_000, changes=(fork,)), history)

    verdict = second("ac", 60, 0, History(earlier=earlier(first, common=30_000)), first)
    assert verdict.result is Result.HIT and verdict.expected_read_tokens == 0
    other = call("ac", 60, 41_000, 0, of=DEEPSEEK)
    third = second("ad", 120, 0, History(earlier=earlier(first, other, common=30_000)), other)
    assert third.expected_read_tokens == 29_952 and third.result is Result.MISS


def test_an_appended_prompt_at_deepseek_is_a_unit() -> None:
    before = call("a", 0, 40_000, 0, of=DEEPSEEK)
    now = call("b", 30, 41_000, 39_936, of=DEEPSEEK)
    assert judge(now, before, appended(40_000, 41_000)).result is Result.HIT


def test_differences_without_any_change_listed_are_not_explained() -> None:
    difference = Difference(4, 30_000, 10, 10, boundaries=prompt_blocks(60_000))
    verdict = judge(call("b", 9, 61_000, 29_952), call("a", 0, 60_000, 55_000), difference)
    assert verdict.causes[0].code == "UNKNOWN"
