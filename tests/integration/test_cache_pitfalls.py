"""The pitfalls of cache-rules.md 5 that a log can show, each as a small log, by its number."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cache_logs import (
    CLAUDE,
    SESSION,
    CacheLog,
    marked,
    prose,
    tool,
    tool_exchange,
    verdict_on,
)
from tests.helpers import assistant, system, user
from tracer import service
from tracer.cache.session import LaneCache
from tracer.model.usage import Convention
from tracer.model.verdict import Result, Verdict
from tracer.service import Service

SYSTEM = system("You are an agent that edits code. " + prose(1_500))
START = [SYSTEM, user("Make the leases survive a restart. " + prose(700, 50))]
TOOLS = [tool(f"Tool{i}") for i in range(4)]
Read = Callable[[CacheLog], Path]
Messages = list[dict[str, Any]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Reads a log, and returns the database."""

    def ingest(log: CacheLog) -> Path:
        db = tmp_path / "tracer.db"
        service.ingest(db, [str(p) for p in log.files(tmp_path)], count_tokens=False)
        return db

    return ingest


def turns(count: int, size: int = 900) -> Messages:
    """A conversation of so many exchanges after the first message."""
    found: Messages = []
    for n in range(count):
        found += tool_exchange(f"c{n}", prose(size, 100 * n))
        found.append(assistant(f"Step {n} is done. " + prose(80, 13 * n)))
    return found


def growing(log: CacheLog, count: int, *, every_s: float = 9, **more: Any) -> Messages:
    """An append-only conversation; the messages of its last request."""
    talk: Messages = [*START]
    for n in range(count):
        talk = [*talk, *turns(n + 1)[-3:]]
        log.ask(f"r{n}", talk, at_s=every_s * n, tools=TOOLS, **more)
    return talk


def verdicts(db: Path, count: int) -> list[Verdict]:
    return [verdict_on(db, f"r{n}").verdict for n in range(count)]


def lane_of(db: Path, purpose: str) -> LaneCache:
    lanes = Service(db).session_cache(SESSION).lanes
    return next(lane for lane in lanes if lane.lane.startswith(purpose + "@"))


def usage(total: int, read_tokens: int | None, *, written: int = 0, output: int = 40) -> Any:
    """Counts as the agent logs them; None leaves the read out."""
    counts = {"inputTokens": total, "outputTokens": output, "totalTokens": total + output}
    counts["cacheWriteTokens"] = written
    return counts | ({} if read_tokens is None else {"cacheReadTokens": read_tokens})


def test_pitfall_01_inclusive_counts_are_not_added_again(read: Read) -> None:
    log = CacheLog()
    growing(log, 6)
    db = read(log)
    cache = Service(db).session_cache(SESSION)
    requests = Service(db).requests(SESSION)
    counted = [u for r in requests if (u := r.usage) is not None]
    assert {u.convention for u in counted} == {Convention.INCLUSIVE}
    assert all(u.fresh_tokens == u.input_tokens - u.cache_read_tokens for u in counted)  # type: ignore[operator]
    total = sum(u.input_tokens or 0 for u in counted)
    assert cache.rate.of_tokens == total
    assert "a double count" in verdict_on(db, "r5").verdict.convention


def test_pitfall_01_exclusive_counts_are_told_by_the_data(read: Read) -> None:
    """A read above the input proves that the input leaves the cache counts out."""
    log = CacheLog()
    growing(log, 3, usage=usage(400, 9_000))
    db = read(log)
    counted = [r.usage for r in Service(db).requests(SESSION)]
    assert {u.convention for u in counted if u} == {Convention.EXCLUSIVE}
    assert {u.input_tokens for u in counted if u} == {9_400}
    assert Service(db).session_cache(SESSION).rate.of_tokens == 3 * 9_400


def test_pitfall_02_a_repeated_row_counts_once(read: Read, tmp_path: Path) -> None:
    log = CacheLog()
    growing(log, 4)
    once = Service(read(log)).session_cache(SESSION).rate
    log.records += log.records[1:]
    (tmp_path / "again").mkdir()
    db = tmp_path / "again" / "tracer.db"
    paths = [str(p) for p in log.files(tmp_path / "again")]
    service.ingest(db, paths, count_tokens=False)
    assert len(Service(db).requests(SESSION)) == 4
    assert Service(db).session_cache(SESSION).rate == once


def test_pitfall_03_a_sessions_sum_is_no_size_of_a_prompt(read: Read) -> None:
    """What a session was billed in all is many times its longest prompt; both are told apart."""
    log = CacheLog()
    growing(log, 12)
    db = read(log)
    requests = Service(db).requests(SESSION)
    longest = max(r.usage.input_tokens or 0 for r in requests if r.usage)
    summed = Service(db).session(SESSION).usage.input_tokens
    assert summed == sum(r.usage.input_tokens or 0 for r in requests if r.usage) > 4 * longest
    last = verdict_on(db, "r11").verdict
    assert (last.expected_read_tokens or 0) <= longest and last.result is Result.HIT


def test_pitfall_04_side_calls_have_lanes_of_their_own(read: Read) -> None:
    log = CacheLog()
    talk: Messages = [*START]
    for n in range(6):
        talk = [*talk, *turns(n + 1)[-3:]]
        log.ask(f"r{n}", talk, at_s=20 * n, tools=TOOLS)
        title = [system(f"Name it {n}."), user(prose(600, 7 * n))]
        log.ask(f"t{n}", title, at_s=20 * n + 9, source="session_title", read=0)
    db = read(log)
    assert Service(db).misses(SESSION).total == 0
    assert (lane_of(db, "main_turn").corrected.value or 0) > 0.95
    assert lane_of(db, "session_title").rate.read_tokens == 0


def test_pitfall_05_a_failed_call_is_no_zero_per_cent(read: Read) -> None:
    log = CacheLog()
    talk = growing(log, 3)
    before = Service(read(log)).session_cache(SESSION).rate
    hollow: dict[str, Any] = {"headers": {}, "toolCalls": [], "usage": {}}
    error = {"name": "APIError", "message": "400"}
    log.ask("bad", [*talk, user("?")], at_s=40, tools=TOOLS, response=hollow, error=error)
    db = read(log)
    assert verdict_on(db, "bad").verdict.result is Result.NO_USAGE
    cache = Service(db).session_cache(SESSION)
    assert cache.rate == before and (cache.requests, cache.no_usage, cache.misses) == (4, 1, 0)


def test_pitfall_06_a_read_that_is_not_reported_is_not_zero(read: Read) -> None:
    log = CacheLog()
    growing(log, 4, usage=usage(9_000, None))
    db = read(log)
    assert {v.result for v in verdicts(db, 4)} <= {Result.FIRST, Result.NOT_REPORTED}
    cache = Service(db).session_cache(SESSION)
    assert cache.rate.value is None and cache.misses == 0 and cache.missed_tokens == 0
    assert Service(db).requests(SESSION)[1].usage.cache_read_tokens is None  # type: ignore[union-attr]


def test_pitfall_07_a_window_of_the_log_is_not_the_wire(read: Read) -> None:
    """The agent logs the last messages only; a miss behind the window is not put on the client, and
    what the record does not prove is named."""
    talk = [*START, *turns(20, 300)]
    log = CacheLog()
    log.ask("r0", talk, at_s=0, tools=TOOLS, total=20_000, read=0)
    longer = [*talk, user("more")]
    shown = longer[-10:]
    log.ask(
        "r1", shown, at_s=9, tools=TOOLS, total=20_010, read=8_960, kind="tail",
        offset=len(longer) - 10, count=len(longer),
    )  # fmt: skip
    found = verdict_on(read(log), "r1").verdict
    assert found.is_miss and found.causes[0].code == "UNKNOWN"
    assert any("only carries over" in item for item in found.not_verifiable)


def test_pitfall_08_a_moved_marker_is_no_change(read: Read) -> None:
    log = CacheLog(CLAUDE)
    talk = [*START, *turns(3)]
    log.ask("r0", marked(talk, 0, -1), at_s=0, tools=TOOLS, read=0, write_tokens=5_000)
    log.ask("r1", marked(talk, 0, -4), at_s=9, tools=TOOLS)
    db = read(log)
    verdict = verdict_on(db, "r1").verdict
    assert not any(c.code == "HISTORY_REWRITTEN" for c in (*verdict.causes, *verdict.also))
    keys = [r.key for r in Service(db).requests(SESSION)]
    compared = Service(db).compare(keys[0], keys[1]).comparison
    assert compared is not None and compared.marker_only and compared.marker_changes


def test_pitfall_09_other_order_of_the_bodys_keys_is_no_change(read: Read) -> None:
    """What is rendered counts: tools, system, messages, in whatever order the body names them."""
    log = CacheLog()
    talk = growing(log, 2)
    log.ask("r2", [*talk, user("more")], at_s=20, tools=TOOLS)
    body = log.records[-1]["request"]["body"]
    log.records[-1]["request"]["body"] = dict(reversed(body.items()))
    found = verdict_on(read(log), "r2").verdict
    assert found.result is Result.HIT and not found.causes[1:]
    assert "all parameters that a provider may cache" in found.checked_equal or not found.is_miss


def test_pitfall_10_a_flat_low_read_is_a_miss_every_time(read: Read) -> None:
    log = CacheLog()
    growing(log, 6, read=192)
    db = read(log)
    assert [v.result for v in verdicts(db, 6)][1:] == [Result.PARTIAL] * 5
    assert "FLOOR" in " ".join(p.code for p in lane_of(db, "main_turn").patterns)


def test_pitfall_10_reads_below_the_sum_of_read_and_write_are_no_misses(read: Read) -> None:
    """The naive rule flags every call that reads less than the call before read and wrote."""
    log = CacheLog(CLAUDE)
    talk: Messages = [*START]
    for n in range(8):
        talk = [*talk, *turns(n + 1)[-3:]]
        log.ask(f"r{n}", marked(talk, 0, -1), at_s=9 * n, tools=TOOLS, write_tokens=1_400)
    db = read(log)
    assert Service(db).misses(SESSION).total == 0


def expiring(**times: Any) -> CacheLog:
    """Two equal prompts, the second read nothing; by default 5 min 30 s from start to start."""
    log = CacheLog(CLAUDE)
    talk = marked([*START, *turns(3)], 0, -1)
    log.ask("r0", talk, at_s=0, tools=TOOLS, read=0, write_tokens=5_000, **times)
    log.ask("r1", talk, at_s=330, tools=TOOLS, read=0, write_tokens=5_000)
    return log


def test_pitfall_11_a_lifetime_runs_from_start_to_start(read: Read) -> None:
    """Four minutes of the pause were the first answer."""
    found = verdict_on(read(expiring(took=240_000)), "r1").verdict
    assert found.causes[0].code == "TTL_EXPIRED" and "5 min 30 s" in found.one_line


def test_pitfall_11_another_lanes_read_renews_the_entry(read: Read) -> None:
    log = expiring()
    talk = marked([*START, *turns(3)], 0, -1)
    log.ask("side", talk, at_s=200, tools=TOOLS, source="compact", read=5_000)
    codes = {c.code for c in verdict_on(read(log), "r1").verdict.causes}
    assert "TTL_EXPIRED" not in codes


def test_pitfall_12_a_prewarming_call_is_an_expected_rebuild(read: Read) -> None:
    log = CacheLog(CLAUDE)
    talk = marked([*START, *turns(3)], 0, -1)
    log.ask("r0", talk, at_s=0, tools=TOOLS, read=0, write_tokens=5_000)
    log.ask(
        "warm", talk, at_s=900, tools=TOOLS, read=0, write_tokens=5_000, params={"max_tokens": 0}
    )
    db = read(log)
    assert verdict_on(db, "warm").verdict.result is Result.EXPECTED_REBUILD
    assert Service(db).misses(SESSION).total == 0


@pytest.mark.parametrize("block", [1, 16, 64, 128, 512])
def test_pitfall_13_rounding_is_no_loss(read: Read, block: int) -> None:
    log = CacheLog()
    for n in range(5):
        total = 30_011 + 700 * n
        log.ask(
            f"r{n}", [*START, *turns(n + 1)], at_s=9 * n, tools=TOOLS, total=total,
            read=(total - 700) // block * block if n else 0,
        )  # fmt: skip
    db = read(log)
    assert {v.result for v in verdicts(db, 5)} == {Result.FIRST, Result.HIT}
    assert Service(db).session_cache(SESSION).rebilled_tokens == 0


def test_pitfall_14_new_tokens_are_not_in_the_corrected_rate(read: Read) -> None:
    log = CacheLog()
    for n in range(5):
        log.ask(f"r{n}", [*START, *turns(2**n, 500)], at_s=9 * n, tools=TOOLS)
    cache = Service(read(log)).session_cache(SESSION)
    assert (cache.rate.value or 0) < 0.75 and (cache.corrected.value or 0) > 0.97
    assert cache.misses == 0 and "min(" in cache.corrected.formula


def test_pitfall_15_a_tool_loop_of_the_provider_inflates_its_reads(read: Read) -> None:
    """Several passes inside one call read more than the prompt holds: no miss, and no rate above
    one."""
    log = CacheLog()
    talk = growing(log, 3)
    log.ask("r3", [*talk, user("search")], at_s=40, tools=TOOLS, usage=usage(900, 60_000))
    db = read(log)
    assert verdict_on(db, "r3").verdict.result is Result.HIT
    cache = Service(db).session_cache(SESSION)
    assert 0 < (cache.rate.value or 0) <= 1 and 0 < (cache.corrected.value or 0) <= 1


def test_pitfall_16_lanes_have_rates_of_their_own(read: Read) -> None:
    log = CacheLog()
    talk: Messages = [*START]
    for n in range(6):
        talk = [*talk, *turns(n + 1)[-3:]]
        log.ask(f"r{n}", talk, at_s=20 * n, tools=TOOLS)
        log.ask(f"s{n}", talk, at_s=20 * n + 9, tools=TOOLS, source="subagent", read=1_024)
    db = read(log)
    good, poor = (lane_of(db, name) for name in ("main_turn", "subagent"))
    assert (good.corrected.value or 0) > 0.95 > 0.5 > (poor.corrected.value or 0)
    assert poor.floor_tokens == 1_024
    whole = Service(db).session_cache(SESSION)
    assert whole.rate.of_tokens == good.rate.of_tokens + poor.rate.of_tokens


def test_pitfall_17_what_often_did_no_harm_speaks_against_a_cause(read: Read) -> None:
    log = CacheLog()
    talk: Messages = [*START]
    for n in range(6):
        talk = [*talk, *turns(n + 1)[-3:]]
        effort = {"output_config": {"effort": "high" if n % 2 else "low"}}
        lost = 0 if n == 5 else None
        log.ask(f"r{n}", talk, at_s=9 * n, tools=TOOLS, params=effort, read=lost)
    found = verdict_on(read(log), "r5").verdict
    told = [e for c in (*found.causes, *found.also) for e in c.evidence]
    assert found.is_miss and any("times without a miss" in e for e in told)
    assert found.causes[0].code != "PARAM_CHANGED"


def test_pitfall_18_the_next_cause_behind_the_first_is_told(read: Read) -> None:
    talk = [*START[1:], *turns(4)]
    log = CacheLog()
    log.ask("r0", [SYSTEM, *talk], at_s=0, tools=TOOLS, read=0)
    edited = system("It is 2026-01-05. " + SYSTEM["content"])
    log.ask("r1", [edited, *talk, user("more")], at_s=9, tools=[*TOOLS[1:], TOOLS[0]], read=0)
    found = verdict_on(read(log), "r1").verdict
    assert found.causes[0].code == "TOOLS_CHANGED"
    assert "SYSTEM_CHANGED" in {c.code for c in (*found.causes[1:], *found.also)}


@pytest.mark.parametrize("said", ["unavailable", "previous_message_not_found", None])
def test_pitfall_19_a_diagnostic_that_says_nothing_is_not_no_change(
    read: Read, said: str | None
) -> None:
    reason = None if said is None else {"type": said}
    metadata = {"anthropic": {"diagnostics": {"cache_miss_reason": reason}}}
    talk = [*START[1:], *turns(4)]
    log = CacheLog(CLAUDE)
    log.ask("r0", [SYSTEM, *talk], at_s=0, tools=TOOLS, read=0)
    edited = system("It is 2026-01-05. " + SYSTEM["content"])
    log.ask("r1", [edited, *talk, user("more")], at_s=9, tools=TOOLS, read=0, metadata=metadata)
    view = verdict_on(read(log), "r1")
    (diagnostic,) = view.diagnostics
    assert diagnostic.agreement == "silent" and view.verdict.is_miss


def test_pitfall_20_zeroes_since_an_update_are_a_gap_in_the_report(read: Read) -> None:
    """Every read is 0 since another version of the client, and answers start as fast as before."""
    log = CacheLog()
    talk: Messages = [*START]
    for n in range(9):
        talk = [*talk, *turns(n + 1)[-3:]]
        version = "zcode/3.2.0" if n < 5 else "zcode/3.3.0"
        request = {"headers": {"user-agent": version, "x-session-id": SESSION}}
        lost = 0 if n >= 5 else None
        log.ask(f"r{n}", talk, at_s=20 * n, tools=TOOLS, request=request, read=lost)
        log.first_token(f"r{n}", 20 * n + 0.8)
    found = verdict_on(read(log), "r8").verdict
    assert (found.causes[0].code, found.causes[0].subtype) == ("REPORTING_GAP", "all_zero")
    assert "zcode/3.3.0" in found.causes[0].summary


def test_pitfall_21_a_zero_read_on_an_implicit_cache_proves_no_change(read: Read) -> None:
    log = CacheLog(("google", "gemini-3-flash"))
    growing(log, 3, read=0)
    found = verdict_on(read(log), "r2").verdict
    assert found.causes[0].code == "SERVER_SIDE" and not found.avoidable_tokens
    assert "gives no guarantee" in found.causes[0].summary


def test_pitfall_22_a_fork_reads_nothing_where_whole_units_are_reused(read: Read) -> None:
    """DeepSeek: A+B, then A+C shares A and may read nothing of it."""
    log = CacheLog(("deepseek", "deepseek-v4"))
    log.ask("r0", [*START, *turns(3), user("branch B " + prose(900, 3))], at_s=0, read=0)
    log.ask("r1", [*START, *turns(3), user("branch C " + prose(900, 8))], at_s=60, read=0)
    found = verdict_on(read(log), "r1").verdict
    assert not found.is_miss and found.expected_read_tokens == 0
