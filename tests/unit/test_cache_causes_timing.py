"""Causes that equal prompts leave: expiry, markers, timing, routing, the provider's own side."""

from dataclasses import replace

import pytest

from tests.unit.test_cache_facts import (
    CLAUDE,
    DEEPSEEK,
    GLM,
    GPT,
    START_MS,
    appended,
    blocks,
    call,
    diverged,
    earlier,
    judge,
    marker,
)
from tracer.model.comparison import Op
from tracer.model.prompt import Kind, Tier
from tracer.model.verdict import (
    CallFacts,
    Certainty,
    Change,
    Difference,
    Fault,
    HashLadder,
    History,
    PastVerdict,
    Result,
    Verdict,
)

MARKED = (marker(Tier.SYSTEM, 0), marker(Tier.MESSAGES, 7))
NEXT = (marker(Tier.SYSTEM, 0), marker(Tier.MESSAGES, 8))


def claude(key: str, at_s: float, total: int, read: int, write: int, **more: object) -> CallFacts:
    more.setdefault("markers", MARKED if key == "a" else NEXT)
    return call(key, at_s, total, read, write, CLAUDE, **more)


def after(gap_s: float, of: tuple[str, str] = GLM, **history: object) -> Verdict:
    """An equal prefix, nothing read, `gap_s` seconds after the request before."""
    before, now = call("a", 0, 60_000, 55_000, of=of), call("b", gap_s, 61_000, 0, of=of)
    return judge(now, before, appended(60_000, 61_000), History(**history))  # type: ignore[arg-type]


# Expiry


def test_a_lifetime_runs_from_start_to_start() -> None:
    """Four minutes of streaming leave one minute of five (cache-rules.md 0, finding 8)."""
    before = claude("a", 0, 60_000, 55_000, 5_000, completed_at_ms=START_MS + 240_000)
    difference = appended(60_000, 61_000)
    expired = judge(claude("b", 310, 61_000, 0, 61_000), before, difference)
    assert expired.causes[0].code == "TTL_EXPIRED"
    assert expired.causes[0].certainty is Certainty.HIGH
    assert expired.causes[0].tokens == expired.missed_tokens == 60_000
    alive = judge(claude("b", 290, 61_000, 0, 61_000), before, difference)
    assert alive.causes[0].code != "TTL_EXPIRED"


def test_the_written_lifetime_counts_and_not_the_plan() -> None:
    hour = {"write_1h_tokens": 5_000, "write_5m_tokens": 0}
    before = claude("a", 0, 60_000, 55_000, 5_000, **hour)
    difference = appended(60_000, 61_000)
    assert (
        judge(claude("b", 1_200, 61_000, 0, 61_000), before, difference).causes[0].code
        != "TTL_EXPIRED"
    )
    late = judge(claude("b", 3_700, 61_000, 0, 61_000), before, difference).causes[0]
    assert late.code == "TTL_EXPIRED" and "lifetime 1 h" in late.evidence[1]


def test_another_lanes_read_renews_the_entry() -> None:
    before = claude("a", 0, 60_000, 55_000, 5_000)
    renewed = claude("s", 280, 60_500, 60_000, 500, lane="compact")
    history = History(earlier=earlier(renewed, common=60_000))
    verdict = judge(claude("b", 400, 61_000, 0, 61_000), before, appended(60_000, 61_000), history)
    assert verdict.causes[0].code == "SERVER_SIDE"


def test_a_pause_that_often_did_no_harm_is_no_cause_where_no_lifetime_is_documented() -> None:
    assert after(3_600).causes[0].certainty is Certainty.MEDIUM
    past = tuple(PastVerdict(str(i), ("TTL_EXPIRED/",), False) for i in range(3))
    verdict = after(3_600, past=past)
    assert verdict.causes[0].code == "UNKNOWN"
    assert any("without a miss" in e for c in verdict.also for e in c.evidence)


def test_a_server_without_lifetimes_has_no_expiry() -> None:
    assert "TTL_EXPIRED" not in {c.code for c in after(900, ("vllm", "qwen")).causes}


def test_openai_may_forget_after_minutes_and_does_after_an_hour() -> None:
    assert after(1_200, GPT).causes[0].certainty is Certainty.MEDIUM
    assert after(4_000, GPT).causes[0].certainty is Certainty.HIGH
    long = {"prompt_cache_retention": "24h"}
    before = call("a", 0, 60_000, 55_000, of=GPT, params=long)
    now = call("b", 4_000, 61_000, 0, of=GPT, params=long)
    assert judge(now, before, appended(60_000, 61_000)).causes[0].code == "SERVER_SIDE"


def test_a_downgraded_lifetime_is_named() -> None:
    hour = (marker(Tier.SYSTEM, 0, "1h"), marker(Tier.MESSAGES, 7, "1h"))
    before = claude(
        "a", 0, 60_000, 55_000, 5_000, markers=hour, write_5m_tokens=5_000, write_1h_tokens=0
    )
    verdict = judge(claude("b", 1_200, 61_000, 0, 61_000), before, appended(60_000, 61_000))
    assert verdict.causes[0].code == "TTL_DOWNGRADED", "the reason comes before the expiry"
    assert "TTL_EXPIRED" in {c.code for c in verdict.also}
    quick = judge(claude("b", 60, 61_000, 0, 61_000), before, appended(60_000, 61_000))
    assert "TTL_DOWNGRADED" not in {c.code for c in (*quick.causes, *quick.also)}


def test_a_downgrade_shows_in_the_writes_alone() -> None:
    old = claude("z", -60, 55_000, 50_000, 5_000, write_1h_tokens=5_000, write_5m_tokens=0)
    before = claude("a", 0, 60_000, 55_000, 5_000, write_5m_tokens=5_000, write_1h_tokens=0)
    verdict = judge(
        claude("b", 1_200, 61_000, 0, 61_000), before, appended(60_000, 61_000),
        History(earlier=earlier(old, common=55_000, whole=True)),
    )  # fmt: skip
    assert any(c.code == "TTL_DOWNGRADED" and "5-minute write: request a" in c.evidence[0]
               for c in (*verdict.causes, *verdict.also))  # fmt: skip


# Markers


def test_no_marker_means_no_cache() -> None:
    before = claude("a", 0, 60_000, 0, 0, markers=())
    cause = judge(
        claude("b", 9, 61_000, 0, 0, markers=()), before, appended(60_000, 61_000)
    ).causes[0]
    assert (cause.code, cause.certainty) == ("CACHING_OFF", Certainty.CERTAIN)


def test_automatic_marking_is_a_marker() -> None:
    auto: dict[str, object] = {"body": {"cache_control": {"type": "ephemeral"}}}
    before = claude("a", 0, 60_000, 0, 60_000, markers=(), params=auto)
    now = claude("b", 9, 61_000, 60_000, 1_000, markers=(), params=auto)
    assert judge(now, before, appended(60_000, 61_000)).result is Result.HIT


def test_a_provider_that_caches_by_itself_needs_no_marker() -> None:
    assert after(9).causes[0].code != "CACHING_OFF"


def test_explicit_caching_without_a_breakpoint() -> None:
    params: dict[str, object] = {"prompt_cache_options": {"mode": "explicit"}}
    before = call("a", 0, 60_000, 0, of=GPT, params=params)
    now = call("b", 9, 61_000, 0, of=GPT, params=params)
    assert judge(now, before, appended(60_000, 61_000)).causes[0].code == "CACHING_OFF"


def test_below_the_minimum_of_the_model() -> None:
    of = ("anthropic", "claude-haiku-4-5")
    sizes = [(Tier.SYSTEM, 1_000), *[(Tier.MESSAGES, 250)] * 8]
    found = blocks(*sizes, (Tier.MESSAGES, 300))
    difference = Difference(9, 3_000, 9, 10, boundaries=found)
    before = call("a", 0, 3_000, 0, 0, of, markers=MARKED)
    verdict = judge(call("b", 9, 3_300, 0, 0, of, markers=NEXT), before, difference)
    cause = verdict.causes[0]
    assert (cause.code, cause.certainty) == ("BELOW_MINIMUM", Certainty.HIGH)
    assert "4,096" in cause.summary and verdict.avoidable_tokens == 0
    large = ("anthropic", "claude-opus-5")
    other = judge(
        call("b", 9, 3_300, 0, 0, large, markers=NEXT), replace(before, model_id=large[1],
        returned_model_id=large[1]), difference,
    )  # fmt: skip
    assert "BELOW_MINIMUM" not in {c.code for c in other.causes}


def test_no_marker_in_the_messages() -> None:
    only = (marker(Tier.SYSTEM, 0),)
    before = claude("a", 0, 60_000, 10_000, 0, markers=only)
    verdict = judge(
        claude("b", 9, 61_000, 10_000, 0, markers=only), before, appended(60_000, 61_000)
    )
    cause = verdict.causes[0]
    assert cause.code == "BREAKPOINT_MISSING" and cause.token_offset == 10_000
    assert verdict.avoidable_tokens == 50_000 and verdict.missed_tokens == 0


def test_a_marker_in_the_messages_is_not_missing() -> None:
    before = claude("a", 0, 60_000, 55_000, 5_000)
    verdict = judge(claude("b", 9, 61_000, 60_000, 1_000), before, appended(60_000, 61_000))
    assert verdict.result is Result.HIT and not verdict.also


def many_blocks(added: int, kind: Kind = Kind.TEXT, pairs: bool = False) -> Difference:
    """Ten common blocks and `added` more; with `pairs`, a call and its result in turn."""
    kinds = [
        (Kind.TOOL_CALL if i % 2 else Kind.TOOL_RESULT) if pairs else kind for i in range(added)
    ]
    sizes = [(Tier.TOOLS, 5_000), (Tier.SYSTEM, 5_000), *[(Tier.MESSAGES, 6_250)] * 8]
    tail = [(Tier.MESSAGES, 100, k, "assistant") for k in kinds]
    return Difference(10, 60_000, 10, 10 + added, boundaries=blocks(*sizes, *tail))


def lookback(difference: Difference, read: int = 10_000) -> Verdict:
    total = difference.boundaries[-1].end_tokens
    last = (marker(Tier.SYSTEM, 0), marker(Tier.MESSAGES, len(difference.boundaries) - 3))
    before = claude("a", 0, 60_000, 55_000, 5_000)
    return judge(claude("b", 9, total, read, total - read, markers=last), before, difference)


def test_an_entry_beyond_the_lookback_is_not_found() -> None:
    cause = lookback(many_blocks(30)).causes[0]
    assert cause.code == "LOOKBACK_EXCEEDED" and "30 positions" in cause.summary
    assert cause.token_offset == 10_000


def test_twenty_positions_are_within_reach() -> None:
    assert lookback(many_blocks(20), 60_000).result is Result.HIT
    assert "LOOKBACK_EXCEEDED" not in {c.code for c in lookback(many_blocks(20)).causes}


def test_a_run_of_tool_calls_is_one_position() -> None:
    found = lookback(many_blocks(30, Kind.TOOL_CALL)).causes
    assert "LOOKBACK_EXCEEDED" not in {c.code for c in found}
    assert lookback(many_blocks(30, pairs=True)).causes[0].code == "LOOKBACK_EXCEEDED"


def test_a_marker_on_a_block_that_never_comes_again() -> None:
    gone = Change(
        Op.REMOVED, Tier.MESSAGES, 7, None, "reminder", role="user", message_index=7,
        reminder="todo_reminder", token_offset=59_600, before_tokens=400,
    )  # fmt: skip
    difference = diverged(59_600, 0, total=61_000, changes=(gone,), baseline_blocks=10)
    before = claude("a", 0, 60_000, 10_000, 50_000)
    verdict = judge(claude("b", 9, 61_000, 10_000, 51_000), before, difference)
    found = {c.code: c for c in (*verdict.causes, *verdict.also)}
    assert found["BREAKPOINT_UNREACHABLE"].reminder == "todo_reminder"


# Timing


def test_a_request_that_starts_before_the_writer_answers() -> None:
    before = claude("a", 0, 60_000, 0, 60_000, first_token_at_ms=START_MS + 3_000)
    verdict = judge(claude("b", 1, 60_000, 0, 60_000), before, appended(60_000, 60_000))
    cause = verdict.causes[0]
    assert (cause.code, cause.certainty) == ("CONCURRENT", Certainty.HIGH)
    assert any("written twice" in e for e in cause.evidence)
    later = judge(claude("b", 4, 60_000, 0, 60_000), before, appended(60_000, 60_000))
    assert "CONCURRENT" not in {c.code for c in later.causes}


def test_an_older_entry_rules_concurrency_out() -> None:
    old = claude("z", -100, 60_000, 0, 60_000)
    before = claude("a", 0, 60_000, 0, 60_000, first_token_at_ms=START_MS + 3_000)
    verdict = judge(
        claude("b", 1, 60_000, 0, 60_000), before, appended(60_000, 60_000),
        History(earlier=earlier(old, common=60_000, whole=True)),
    )  # fmt: skip
    assert "CONCURRENT" not in {c.code for c in verdict.causes}


def test_an_asynchronous_write_may_not_be_there_yet() -> None:
    cause = after(4, DEEPSEEK).causes[0]
    assert (cause.code, cause.subtype) == ("CONCURRENT", "not_yet_written")
    assert cause.certainty is Certainty.MEDIUM


def test_a_side_call_may_take_the_slot_of_a_server() -> None:
    of = ("llama-server", "qwen")
    side = call("side", 5, 2_000, 0, of=of, lane="title")
    cause = after(9, of, others=(side,)).causes[0]
    assert cause.code == "SIDECAR_EVICTION" and "title" in cause.summary
    assert after(9, of).causes[0].code == "SERVER_SIDE"
    assert after(9, GLM, others=(side,)).causes[0].code == "SERVER_SIDE"


@pytest.mark.parametrize(
    ("old", "new", "subtype"),
    [
        ({"x-session-id": "a"}, {"x-session-id": "b"}, "key_changed"),
        ({"accept": "json"}, {"accept": "json"}, "key_missing"),
    ],
)
def test_nothing_tied_the_request_to_its_node(
    old: dict[str, str], new: dict[str, str], subtype: str
) -> None:
    before = call("a", 0, 60_000, 55_000, headers=old)
    now = call("b", 9, 61_000, 0, headers=new)
    cause = judge(now, before, appended(60_000, 61_000)).causes[0]
    assert (cause.code, cause.subtype, cause.certainty) == ("AFFINITY", subtype, Certainty.MEDIUM)


def test_reads_that_fall_and_come_back_are_a_sawtooth() -> None:
    reads = [40_000, 0, 45_000, 0, 50_000]
    old = [call(f"e{i}", i, 50_000, r) for i, r in enumerate(reads)]
    verdict = judge(
        call("b", 9, 61_000, 0),
        old[-1],
        appended(50_000, 61_000),
        History(earlier=earlier(*old, common=50_000, whole=True)),
    )
    assert verdict.causes[0].subtype == "sawtooth"


def stripped(model: str, tail: Kind = Kind.TEXT, role: str = "user") -> Verdict:
    found = blocks(
        (Tier.TOOLS, 5_000),
        (Tier.MESSAGES, 10_000, Kind.REASONING, "assistant"),
        (Tier.MESSAGES, 20_000, Kind.TOOL_CALL, "assistant"),
        (Tier.MESSAGES, 25_000, Kind.TOOL_RESULT, "user"),
        (Tier.MESSAGES, 1_000, tail, role),
    )
    of = ("anthropic", model)
    before = call("a", 0, 60_000, 55_000, 5_000, of, markers=None)
    now = call("b", 9, 61_000, 5_000, 56_000, of, markers=None)
    return judge(now, before, Difference(4, 60_000, 4, 5, boundaries=found))


def test_some_models_drop_reasoning_at_a_plain_user_message() -> None:
    cause = stripped("claude-sonnet-4-5").causes[0]
    assert cause.code == "SERVER_STRIPPED" and cause.fault is Fault.PROVIDER
    assert stripped("claude-opus-5").causes[0].code == "SERVER_SIDE"
    assert stripped("claude-sonnet-4-5", Kind.TOOL_RESULT).causes[0].code == "SERVER_SIDE"


# The provider's side


def test_equal_prompts_nine_seconds_apart_are_the_providers_side() -> None:
    """Same tools, system and messages, read 0, and the next request reads again."""
    later = call("c", 15, 62_000, 60_992)
    verdict = after(9, later=later, later_extends=True)
    cause = verdict.causes[0]
    assert (cause.code, cause.certainty) == ("SERVER_SIDE", Certainty.ELIMINATION)
    assert cause.fault is Fault.PROVIDER and cause.tokens == verdict.missed_tokens == 59_968
    assert verdict.avoidable_tokens == 0 and verdict.result is Result.MISS
    told = " | ".join(cause.evidence)
    for item in (
        "tools (hash t0)",
        "system (hash s0)",
        "messages 0 to 7",
        "model glm-5",
        "gap 9 s",
    ):
        assert item in told
    assert "read 60,992 tokens again" in told
    assert verdict.checked_equal


def test_an_unproven_prefix_is_not_blamed_on_the_provider() -> None:
    before, now = call("a", 0, 60_000, 55_000), call("b", 9, 61_000, 29_952)
    unproven = appended(60_000, 61_000, unverified_from_tokens=12_000)
    verdict = judge(now, before, unproven)
    assert verdict.causes[0].code == "UNKNOWN" and "a full record" in verdict.causes[0].fix
    assert verdict.not_verifiable
    low = judge(replace(now, usage=call("x", 0, 61_000, 0).usage), before, unproven)
    assert low.causes[0].code == "SERVER_SIDE"  # it stopped before what is not proven


def test_a_recovery_without_a_write_proves_the_prefix_where_writes_are_billed() -> None:
    unproven = appended(60_000, 61_000, unverified_from_tokens=12_000)
    for of, code in ((CLAUDE, "SERVER_SIDE"), (GLM, "UNKNOWN")):
        before = call("a", 0, 60_000, 55_000, 5_000, of, markers=None)
        now = call("b", 9, 61_000, 29_952, 0, of, markers=None)
        history = History(later=call("c", 20, 62_000, 60_992, 0, of), later_extends=True)
        assert judge(now, before, unproven, history).causes[0].code == code


def test_without_a_comparison_the_provider_is_not_blamed() -> None:
    verdict = judge(call("b", 9, 61_000, 0), call("a", 0, 60_000, 55_000), None)
    assert verdict.causes[0].code == "UNKNOWN"
    assert "the prompt: the log holds no content to compare" in verdict.not_verifiable


def test_a_zero_read_at_gemini_is_normal() -> None:
    cause = after(9, ("google", "gemini-3-flash")).causes[0]
    assert cause.code == "SERVER_SIDE" and "gives no guarantee" in cause.summary


# Retries and reports


def test_a_retry_that_pays_again() -> None:
    before = call("a", 0, 60_000, 0, hashes=HashLadder("t0", "s0", "same"))
    now = call("b", 9, 60_000, 0, attempt=2, hashes=HashLadder("t0", "s0", "same"))
    found = judge(now, before, appended(60_000, 60_000))
    assert found.causes[0].code == "RETRY_RESEND"
    first = judge(replace(now, attempt=1), before, appended(60_000, 60_000))
    assert "RETRY_RESEND" not in {c.code for c in (*first.causes, *first.also)}


def test_zeroes_since_an_update_are_a_gap_in_the_report() -> None:
    old = [call(f"o{i}", i, 50_000, 40_000, client_version="1.0") for i in range(4)]
    new = [call(f"n{i}", 10 + i, 50_000, 0, client_version="1.1") for i in range(3)]
    now = call("b", 20, 61_000, 0, client_version="1.1")
    history = History(earlier=earlier(*old, *new, common=50_000))
    cause = judge(now, new[-1], appended(50_000, 61_000), history).causes[0]
    assert (cause.code, cause.subtype) == ("REPORTING_GAP", "all_zero")
    slow = [replace(c, first_token_at_ms=(c.started_at_ms or 0) + 9_000) for c in (*new, now)]
    history = History(earlier=earlier(*old, *slow[:-1], common=50_000))
    verdict = judge(slow[-1], slow[-2], appended(50_000, 61_000), history)
    assert "REPORTING_GAP" not in {c.code for c in verdict.causes}


def test_only_the_way_through_a_gateway_misses() -> None:
    gateway, direct = "https://proxy.local", "https://api.z.ai"
    here = [call(f"g{i}", i, 50_000, 0, endpoint=gateway) for i in range(3)]
    there = [call(f"d{i}", 20 + i, 50_000, 48_000, endpoint=direct, lane="x") for i in range(3)]
    now = call("b", 9, 61_000, 0, endpoint=gateway)
    history = History(earlier=earlier(*here, common=50_000), elsewhere=tuple(there))
    found = judge(now, here[-1], appended(50_000, 61_000), history)
    assert found.causes[0].code == "GATEWAY_REWRITE"
    alone = judge(now, here[-1], appended(50_000, 61_000), replace(history, elsewhere=()))
    assert alone.causes[0].code != "GATEWAY_REWRITE"
