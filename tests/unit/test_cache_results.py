"""What is a miss, and above all what is not (cache-rules.md 2.1 and 2.2)."""

from dataclasses import replace

import pytest

from tests.unit.test_cache_facts import (
    CLAUDE,
    GLM,
    appended,
    call,
    diverged,
    earlier,
    judge,
    marker,
)
from tracer.model.comparison import Op
from tracer.model.events import Status
from tracer.model.prompt import Tier
from tracer.model.verdict import Change, Difference, History, LoggedEvent, Purpose, Result


def codes(*findings: object) -> list[str]:
    return [getattr(f, "code", "") for f in findings]


def test_the_published_example_is_a_hit_minus_rounding() -> None:
    """Input 51,969, then 61,642 with a read of 51,968: one block of 64 short of one token."""
    before = call("a", 0, 51_969, 51_136)
    now = call("b", 2, 61_642, 51_968)
    verdict = judge(now, before, appended(51_969, 61_642))
    assert verdict.result is Result.HIT
    assert codes(*verdict.causes) == ["NOT_A_MISS_ROUNDING"]
    assert verdict.expected_read_tokens == 51_968
    assert (verdict.missed_tokens, verdict.avoidable_tokens) == (0, 0)
    assert "rounding to blocks of 64" in verdict.one_line
    assert "84.3 %" in verdict.convention and "45.7 %, a double count" in verdict.convention


def test_an_edited_message_rebills_what_stands_behind_it() -> None:
    """Then input 70,263 and a read of 36,160: an old message was edited at about token 36,170."""
    before = call("b", 2, 61_642, 51_968)
    now = call("c", 60, 70_263, 36_160)
    change = Change(
        Op.CHANGED, Tier.MESSAGES, 5, 5, "message 5", role="user", message_index=5,
        token_offset=36_170, before="a plan", after="another plan",
        before_tokens=40, after_tokens=41,
    )  # fmt: skip
    difference = diverged(36_170, 25_472, total=70_263, changes=(change,))
    verdict = judge(now, before, difference)
    assert verdict.result is Result.PARTIAL
    primary = verdict.causes[0]
    assert (primary.code, primary.subtype) == ("HISTORY_REWRITTEN", "EDIT")
    assert primary.token_offset == 36_170 and primary.message_index == 5
    assert primary.tokens == 25_472
    assert (verdict.expected_read_tokens, verdict.actual_read_tokens) == (36_160, 36_160)
    assert (verdict.missed_tokens, verdict.avoidable_tokens) == (0, 25_472)
    assert verdict.rebilled_tokens == 25_472
    assert "25,472 tokens" in verdict.one_line
    assert verdict.read_stop is not None and verdict.read_stop.agrees is True


def test_without_what_was_kept_the_rest_of_the_shorter_prompt_counts() -> None:
    before = call("b", 2, 61_642, 51_968)
    now = call("c", 60, 70_263, 36_160)
    verdict = judge(now, before, diverged(36_170, None, total=70_263))
    assert verdict.avoidable_tokens == 25_472


def test_the_first_request_is_no_miss() -> None:
    verdict = judge(call("a", 0, 40_000, 0), None)
    assert verdict.result is Result.FIRST and codes(*verdict.causes) == ["FIRST_IN_SCOPE"]


def test_a_first_request_may_read_what_an_earlier_session_cached() -> None:
    verdict = judge(call("a", 0, 40_000, 12_032), None)
    assert verdict.result is Result.FIRST
    assert "12,032 tokens were read anyway" in verdict.one_line


def test_another_conversation_is_a_first_request() -> None:
    verdict = judge(
        call("b", 9, 30_000, 0), call("a", 0, 50_000, 0), diverged(300, 0, total=30_000)
    )
    assert verdict.result is Result.FIRST


def test_a_title_call_is_no_miss() -> None:
    title = call("b", 1, 900, 0, purpose=Purpose.TITLE, query_source="session_title")
    verdict = judge(title, call("a", 0, 40_000, 0), diverged(20, 800, total=900))
    assert verdict.result is Result.FIRST and "title call" in verdict.one_line


@pytest.mark.parametrize(
    "failed",
    [
        call("b", 9, None, None, status=Status.FAILED, error="APIError: 400"),
        call("b", 9, None, None),
        call("b", 9, 0, 0, status=Status.CANCELLED),
        call("b", 9, 40_000, 0, http_status=529),
    ],
)
def test_a_call_without_an_answer_is_no_miss(failed: object) -> None:
    verdict = judge(failed, call("a", 0, 40_000, 0), appended(40_000, 41_000))  # type: ignore[arg-type]
    assert verdict.result is Result.NO_USAGE and codes(*verdict.causes) == ["NO_USAGE"]
    assert verdict.missed_tokens == 0


def test_a_read_that_was_not_reported_is_not_zero() -> None:
    verdict = judge(call("b", 9, 41_000, None), call("a", 0, 40_000, 0), appended(40_000, 41_000))
    assert verdict.result is Result.NOT_REPORTED
    assert verdict.actual_read_tokens is None and verdict.not_verifiable


def compaction_history() -> History:
    side = call("side", 20, 60_500, 60_000, purpose=Purpose.COMPACTION, lane="compact")
    return History(others=(side,))


def test_a_compaction_is_an_expected_rebuild() -> None:
    before = call("a", 0, 60_000, 55_000, message_count=80)
    now = call("b", 40, 18_000, 9_984, message_count=6)
    summary = Change(
        Op.CHANGED, Tier.MESSAGES, 0, 0, role="user", message_index=0, token_offset=10_000,
        before="Fix the build",
        after="This session is being continued from a previous conversation",
    )  # fmt: skip
    difference = diverged(10_000, 6_000, total=18_000, changes=(summary,))
    for history in (History(), compaction_history()):
        verdict = judge(now, before, difference, history)
        assert verdict.result is Result.EXPECTED_REBUILD
        assert verdict.causes[0].subtype == "COMPACTION" and verdict.causes[0].expected
        assert (verdict.missed_tokens, verdict.avoidable_tokens) == (0, 0)
        assert not verdict.is_miss


def test_a_logged_compaction_counts_too() -> None:
    before = call("a", 0, 60_000, 55_000, message_count=80)
    now = call("b", 40, 18_000, 9_984, message_count=6)
    event = LoggedEvent((now.started_at_ms or 0) - 5_000, "compaction", "context compacted")
    verdict = judge(now, before, diverged(10_000, 6_000, total=18_000), History(events=(event,)))
    assert verdict.result is Result.EXPECTED_REBUILD


def test_fewer_messages_without_a_word_of_compaction_are_no_compaction() -> None:
    before = call("a", 0, 60_000, 55_000, message_count=80)
    now = call("b", 40, 58_000, 9_984, message_count=70)
    change = Change(Op.CHANGED, Tier.MESSAGES, 0, 0, token_offset=10_000, role="assistant")
    verdict = judge(now, before, diverged(10_000, 45_000, changes=(change,)))
    assert verdict.result is Result.PARTIAL and verdict.causes[0].subtype == "EDIT"


def test_the_compaction_call_itself_is_an_expected_rebuild() -> None:
    before = call("a", 0, 60_000, 55_000)
    side = call("b", 20, 61_000, 0, purpose=Purpose.COMPACTION, query_source="compact")
    verdict = judge(side, before, diverged(2_000, 55_000, total=61_000))
    assert verdict.result is Result.EXPECTED_REBUILD and not verdict.is_miss
    reads_all = judge(
        call("b", 20, 61_000, 59_968, purpose=Purpose.COMPACTION), before, appended(60_000, 61_000)
    )
    assert reads_all.result is Result.HIT


def test_a_users_model_switch_is_an_expected_rebuild() -> None:
    before = call("a", 0, 60_000, 55_000)
    now = call("b", 60, 61_000, 0, of=(GLM[0], "glm-4.6"))
    verdict = judge(now, before, appended(60_000, 61_000))
    assert verdict.result is Result.EXPECTED_REBUILD
    assert (verdict.causes[0].code, verdict.causes[0].subtype) == ("MODEL_CHANGED", "switched")
    assert verdict.missed_tokens == verdict.avoidable_tokens == 0


def test_a_rewind_loses_nothing_that_was_kept() -> None:
    before = call("a", 0, 60_000, 55_000)
    now = call("b", 60, 42_000, 29_952)
    cut = Change(Op.CHANGED, Tier.MESSAGES, 4, 4, role="user", message_index=4, token_offset=30_000)
    verdict = judge(now, before, diverged(30_000, 0, total=42_000, changes=(cut,)))
    assert verdict.result is Result.HIT
    assert codes(*verdict.also) == ["HISTORY_REWRITTEN"] and verdict.also[0].subtype == "REWIND"


@pytest.mark.parametrize("block", [1, 16, 64, 100, 128, 528, 1_600, 2_048, 4_096])
@pytest.mark.parametrize("of", [GLM, ("vllm", "qwen"), ("nobody", "model-x")])
def test_thirty_appended_requests_hold_no_miss(block: int, of: tuple[str, str]) -> None:
    sizes = [3_000 + 1_937 * i for i in range(30)]
    reads = [0] + [size // block * block for size in sizes[:-1]]
    calls = [
        call(str(i), 10 * i, size, read, of=of)
        for i, (size, read) in enumerate(zip(sizes, reads, strict=True))
    ]
    results = []
    for before, now in zip(calls, calls[1:], strict=False):
        history = History(lane_reads=tuple(reads))
        before_size, size = before.prompt_tokens or 0, now.prompt_tokens or 0
        results.append(
            judge(now, before, appended(before_size, size, boundaries=()), history).result
        )
    assert set(results) == {Result.HIT}


def test_moved_markers_are_no_change() -> None:
    before = call("a", 0, 50_000, 40_000, 10_000, of=CLAUDE, markers=(marker(Tier.MESSAGES, 7),))
    now = call("b", 9, 52_000, 50_000, 2_000, of=CLAUDE, markers=(marker(Tier.MESSAGES, 8),))
    verdict = judge(now, before, appended(50_000, 52_000))
    assert verdict.result is Result.HIT and not verdict.also


def test_the_same_prompt_read_in_full_says_nothing() -> None:
    before = call("a", 0, 51_200, 51_200)
    same = Difference(10, 51_200, 10, 10, boundaries=appended(51_200, 51_200).boundaries[:-1])
    verdict = judge(
        replace(before, key="b", started_at_ms=(before.started_at_ms or 0) + 5_000), before, same
    )
    assert verdict.result is Result.HIT and verdict.causes == () and verdict.also == ()


def test_a_log_window_is_no_window_of_the_prompt() -> None:
    """The visible tail slides by two messages a call, and the billed input keeps growing."""
    before = call("a", 0, 90_000, 88_000, message_count=120, observed="windowed")
    now = call("b", 9, 92_000, 89_984, message_count=122, observed="windowed")
    slid = Difference(2, 10_000, 66, 66, kept_after_tokens=20_000, shift=2)
    verdict = judge(now, before, slid)
    assert verdict.result is Result.HIT
    assert codes(*verdict.also) == ["LOG_WINDOWED"]
    assert any("window" in item for item in verdict.not_verifiable)


def test_a_miss_behind_a_log_window_is_not_explained_by_the_window() -> None:
    before = call("a", 0, 90_000, 88_000, message_count=120)
    now = call("b", 9, 92_000, 0, message_count=122)
    verdict = judge(now, before, Difference(2, 10_000, 66, 66, kept_after_tokens=20_000, shift=2))
    assert verdict.result is Result.MISS
    assert codes(*verdict.causes) == ["UNKNOWN"] and "a full record" in verdict.causes[0].fix


def test_a_prewarming_call_is_no_miss() -> None:
    before = call("a", 0, 50_000, 0, 50_000, of=CLAUDE, markers=(marker(Tier.MESSAGES, 7),))
    warm = call(
        "b", 900, 50_500, 0, 50_500, of=CLAUDE, markers=(marker(Tier.MESSAGES, 8),),
        params={"body": {"max_tokens": 0}},
    )  # fmt: skip
    assert judge(warm, before, appended(50_000, 50_500)).result is Result.EXPECTED_REBUILD


def test_a_read_beyond_the_prompt_is_a_hit() -> None:
    verdict = judge(call("b", 5, 51_000, 80_000), call("a", 0, 50_000, 0), appended(50_000, 51_000))
    assert verdict.result is Result.HIT


def test_a_flat_low_read_is_seen_although_it_never_drops() -> None:
    """Looking only for drops calls a flat read of 192 tokens healthy (cache-rules.md 5, 10)."""
    before = call("a", 0, 50_000, 192)
    verdict = judge(call("b", 5, 51_000, 192), before, appended(50_000, 51_000))
    assert verdict.is_miss and verdict.missed_tokens > 49_000


def test_the_difference_is_split_between_expiry_and_content() -> None:
    before = call("a", 0, 60_000, 55_000)
    now = call("b", 3_600, 62_000, 0)
    change = Change(
        Op.CHANGED, Tier.MESSAGES, 4, 4, role="user", message_index=4, token_offset=36_000
    )
    difference = diverged(36_000, 23_000, total=62_000, changes=(change,))
    verdict = judge(now, before, difference, History(earlier=earlier(before, common=36_000)))
    assert codes(*verdict.causes) == ["TTL_EXPIRED", "HISTORY_REWRITTEN"]
    assert [c.tokens for c in verdict.causes] == [verdict.missed_tokens, verdict.avoidable_tokens]
    assert verdict.missed_tokens == 35_968
    assert "for another reason" in verdict.one_line
