"""From a log to a verdict: the cases that must come out right, each as a small log of its own."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cache_logs import (
    CLAUDE,
    SESSION,
    CacheLog,
    marked,
    prose,
    reminder,
    tool,
    tool_exchange,
    verdict_on,
)
from tests.helpers import assistant, system, user
from tracer import service
from tracer.model.prompt import Tier
from tracer.model.verdict import Certainty, Fault, Result
from tracer.service import Service

SYSTEM = system("You are an agent that edits code. " + prose(1_500))
START = [SYSTEM, user("Make the leases survive a restart. " + prose(700, 50))]
TOOLS = [tool(f"Tool{i}") for i in range(4)]
Read = Callable[[CacheLog], Path]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Reads a log, and returns the database."""

    def ingest(log: CacheLog) -> Path:
        paths = [str(path) for path in log.files(tmp_path)]
        db = tmp_path / "tracer.db"
        service.ingest(db, paths, count_tokens=False)
        return db

    return ingest


def turns(count: int, size: int = 900) -> list[dict[str, Any]]:
    """A conversation of so many exchanges after the first message."""
    found: list[dict[str, Any]] = []
    for n in range(count):
        found += tool_exchange(f"c{n}", prose(size, 100 * n))
        found.append(assistant(f"Step {n} is done. " + prose(80, 13 * n)))
    return found


def two(read: Read, before: Sequence[Any], after: Sequence[Any], **more: Any) -> Path:
    """Two requests nine seconds apart; `more` belongs to the second."""
    log = CacheLog()
    log.ask("r1", before, at_s=0, tools=TOOLS, read=0)
    more.setdefault("tools", TOOLS)
    log.ask("r2", after, at_s=9, **more)
    return read(log)


def test_rounding_growth_and_then_one_edited_message(read: Read) -> None:
    """Input 51,969 and 61,642 with a read of 51,968; then 70,263 with a read of 36,160."""
    first, edited, rest = prose(36_170), "a plan", prose(15_797, 11)
    grown = prose(9_673, 23)
    log = CacheLog()
    log.ask("r1", [user(first), user(edited), user(rest)], at_s=0, total=51_969, read=51_136)
    talk = [user(first), user(edited), user(rest), assistant(grown)]
    log.ask("r2", talk, at_s=2, total=61_642, read=51_968)
    changed = [user(first), user("plan B"), *talk[2:], user(prose(8_621, 31))]
    log.ask("r3", changed, at_s=60, total=70_263, read=36_160)
    db = read(log)
    hit = verdict_on(db, "r2").verdict
    assert (hit.result, hit.expected_read_tokens) == (Result.HIT, 51_968)
    assert "rounding to blocks of 64" in hit.one_line
    assert "double count" in hit.convention and "84.3 %" in hit.convention
    lost = verdict_on(db, "r3").verdict
    assert lost.result is Result.PARTIAL and lost.rebilled_tokens == 25_472
    cause = lost.causes[0]
    assert (cause.code, cause.message_index, cause.tokens) == ("HISTORY_REWRITTEN", 1, 25_472)
    assert "double count" not in hit.one_line
    assert "49.4 %" not in (naive := Service(db).session_cache(SESSION).naive) and naive


def test_identical_prompts_and_a_read_of_nothing_are_the_providers(read: Read) -> None:
    log = CacheLog()
    talk = [*START, *turns(4)]
    log.ask("r1", talk, at_s=0, tools=TOOLS, read=0)
    log.ask("r2", [*talk, user("more")], at_s=9, tools=TOOLS, read=0)
    log.ask("r3", [*talk, user("more"), assistant("done")], at_s=18, tools=TOOLS)
    view = verdict_on(read(log), "r2")
    cause = view.verdict.causes[0]
    assert (cause.code, cause.certainty, cause.fault) == (
        "SERVER_SIDE", Certainty.ELIMINATION, Fault.PROVIDER,
    )  # fmt: skip
    told = " | ".join(view.verdict.checked_equal)
    assert "tools (hash" in told and "system (hash" in told and "messages 0 to" in told
    assert view.verdict.result is Result.MISS and not view.change
    assert any("read" in e and "again" in e for e in cause.evidence)


def test_swapped_servers_are_reordered_tools(read: Read) -> None:
    tools = [tool(f"mcp__{s}__{i}") for s in ("one", "two", "three") for i in range(4)]
    swapped = [*tools[:4], *tools[8:], *tools[4:8]]
    log = CacheLog()
    talk = [*START, *turns(3)]
    log.ask("r1", talk, at_s=0, tools=tools, read=0)
    log.ask("r2", [*talk, user("more")], at_s=9, tools=swapped)
    cause = verdict_on(read(log), "r2").verdict.causes[0]
    assert (cause.code, cause.subtype, cause.tier, cause.block_index) == (
        "TOOLS_CHANGED", "reordered", Tier.TOOLS, 4,
    )  # fmt: skip


def test_other_key_order_in_a_schema_is_no_other_content(read: Read) -> None:
    a, b = {"type": "string"}, {"type": "integer"}
    talk = [*START, *turns(3)]
    log = CacheLog()
    log.ask("r1", talk, at_s=0, tools=[tool("Read", path=a, limit=b), *TOOLS], read=0)
    log.ask("r2", [*talk, user("more")], at_s=9, tools=[tool("Read", limit=b, path=a), *TOOLS])
    cause = verdict_on(read(log), "r2").verdict.causes[0]
    assert (cause.code, cause.subtype, cause.block_index) == ("TOOLS_CHANGED", "key order", 0)


@pytest.mark.parametrize(("keeps", "tier"), [(True, Tier.MESSAGES), (False, Tier.TOOLS)])
def test_effort_costs_the_messages_or_on_some_models_all(
    read: Read, keeps: bool, tier: Tier
) -> None:
    log = CacheLog(CLAUDE)
    talk = [*START, *turns(6)]
    log.ask(
        "r1", marked(talk, 0, -1), at_s=0, tools=TOOLS, read=0, write_tokens=9_000,
        total=9_000, params={"output_config": {"effort": "high"}},
    )  # fmt: skip
    head = 2_000 if keeps else 0
    log.ask(
        "r2", marked([*talk, user("more")], 0, -1), at_s=9, tools=TOOLS, read=head, total=9_100,
        write_tokens=9_100 - head, params={"output_config": {"effort": "low"}},
    )  # fmt: skip
    cause = verdict_on(read(log), "r2").verdict.causes[0]
    assert (cause.code, cause.subtype, cause.tier) == ("PARAM_CHANGED", "effort", tier)
    assert "high" in cause.before and "low" in cause.after


def test_a_cleared_tool_result_says_what_it_saved_and_cost(read: Read) -> None:
    talk = [*START, *turns(8)]
    cleared = [dict(m) for m in talk]
    at = next(i for i, m in enumerate(cleared) if m["role"] == "tool")
    cleared[at]["content"] = "[Old tool result content cleared]"
    db = two(read, talk, [*cleared, user("more")])
    view = verdict_on(db, "r2")
    cause = view.verdict.causes[0]
    assert (cause.code, cause.subtype) == ("HISTORY_REWRITTEN", "TOOL_RESULT_CLEARED")
    told = " | ".join(cause.evidence)
    assert "saved:" in told and "cost:" in told and "pays for itself after" in told
    assert view.change is not None and view.change.place == f"message {at} (tool)"
    assert view.change.lines[-1].text == "[Old tool result content cleared]"


@pytest.mark.parametrize(
    ("before", "after", "subtype"),
    [
        ("Today's date is 2026-01-12. ", "Today's date is 2026-01-13. ", "date"),
        ("The time is 10:14. ", "The time is 10:15. ", "time"),
    ],
)
def test_a_date_or_a_minute_at_the_head_of_the_system_prompt(
    read: Read, before: str, after: str, subtype: str
) -> None:
    old, new = system(before + SYSTEM["content"]), system(after + SYSTEM["content"])
    db = two(read, [old, *START[1:], *turns(3)], [new, *START[1:], *turns(3), user("more")])
    view = verdict_on(db, "r2")
    cause = view.verdict.causes[0]
    assert (cause.code, cause.subtype, cause.tier) == ("SYSTEM_CHANGED", subtype, Tier.SYSTEM)
    assert before.strip() in cause.before and after.strip() in cause.after
    assert view.change is not None and view.change.lines[0].spans


def test_a_nonce_in_every_request(read: Read) -> None:
    log = CacheLog()
    for n in range(6):
        head = system(f"cch={n:08x}a7f3; " + SYSTEM["content"])
        log.ask(f"r{n}", [head, *START[1:], *turns(2 + n)], at_s=9 * n, tools=TOOLS)
    db = read(log)
    for n in (1, 5):
        cause = verdict_on(db, f"r{n}").verdict.causes[0]
        assert (cause.code, cause.subtype) == ("SYSTEM_CHANGED", "nonce")
    assert "5 of the 5 requests" in " ".join(cause.evidence)
    cache = Service(db).session_cache(SESSION)
    assert cache.misses == 5 and cache.causes[0].requests == 5


def instructions(text: str) -> dict[str, Any]:
    """The context prefix with an instruction file."""
    return reminder(
        "As you answer the user's questions, you can rely on the notes gathered below.\n\n"
        "# agentsMd\nStanding instructions of this repository.\n\n"
        f"Contents of /home/dev/rivet/AGENTS.md (checked into the repository):\n\n{text}\n\n"
        "# currentDate\nToday's date is 2026-01-12."
    )


def test_an_instruction_file_edited_before_a_resume(read: Read) -> None:
    old = instructions("Tests: `pytest -q`, before every commit.\n" + prose(300))
    new = instructions("Tests: `pytest -q`, before every push.\n" + prose(300))
    log = CacheLog()
    talk = [*START[1:], *turns(4)]
    log.ask("r1", [SYSTEM, old, *talk], at_s=0, tools=TOOLS, read=0)
    log.log("session.resumed", 290, "Session resumed")
    log.ask("r2", [SYSTEM, new, *talk, user("more")], at_s=300, tools=TOOLS)
    cause = verdict_on(read(log), "r2").verdict.causes[0]
    assert (cause.code, cause.subtype, cause.section) == (
        "SYSTEM_CHANGED", "instructions", "request_user_context",
    )  # fmt: skip
    assert "commit" in cause.before and "push" in cause.after
    assert any("Session resumed" in item for item in cause.evidence)


def skills(*names: str) -> dict[str, Any]:
    """The skills listing."""
    listed = "\n".join(f"- {name}: does what it says." for name in names)
    return reminder(f"The following skills are available for use with the Skill tool:\n\n{listed}")


def test_skills_that_grow_after_a_server_connects(read: Read) -> None:
    log = CacheLog()
    talk = [*START[1:], *turns(4)]
    log.ask("r1", [SYSTEM, skills("review", "deploy"), *talk], at_s=0, tools=TOOLS, read=0)
    log.log("mcp.server.connected", 20, "MCP server docs connected")
    grown = skills("review", "deploy", "docs:search")
    log.ask("r2", [SYSTEM, grown, *talk, user("more")], at_s=30, tools=TOOLS)
    cause = verdict_on(read(log), "r2").verdict.causes[0]
    assert (cause.code, cause.subtype, cause.section) == ("SYSTEM_CHANGED", "skills", "skills")
    told = " ".join(cause.evidence)
    assert "docs:search" in told and "MCP server docs connected" in told


def test_a_compaction_its_side_call_and_the_request_after_it(read: Read) -> None:
    log = CacheLog()
    talk = [*START, *turns(10)]
    log.ask("r1", talk, at_s=0, tools=TOOLS, read=0)
    log.ask("side", [*talk, user("Summarise.")], at_s=30, tools=TOOLS, source="compact", read=0)
    log.log("compact.auto.completed", 40, "Compaction completed")
    summary = user("This session is being continued from a previous conversation. " + prose(400))
    log.ask("r2", [SYSTEM, summary, user("more")], at_s=50, tools=TOOLS)
    db = read(log)
    for name in ("side", "r2"):
        verdict = verdict_on(db, name).verdict
        assert verdict.result is Result.EXPECTED_REBUILD, name
        assert verdict.causes[0].subtype == "COMPACTION"
    assert Service(db).misses(SESSION).total == 0


def test_a_model_that_the_user_switched(read: Read) -> None:
    log = CacheLog()
    talk = [*START, *turns(5)]
    log.ask("r1", talk, at_s=0, tools=TOOLS, read=0)
    log.ask("r2", [*talk, user("more")], at_s=30, tools=TOOLS, of=(log.of[0], "glm-4.7"), read=0)
    view = verdict_on(read(log), "r2")
    assert view.verdict.result is Result.EXPECTED_REBUILD
    assert view.verdict.causes[0].code == "MODEL_CHANGED"
    assert view.baseline is not None and view.baseline.model_id == "glm-5"


def test_first_title_and_failed_calls_are_no_misses(read: Read) -> None:
    log = CacheLog()
    talk = [*START, *turns(5)]
    title = [system("Name it."), user("Leases")]
    log.ask("title", title, at_s=0, source="session_title", read=0)
    log.ask("r1", talk, at_s=1, tools=TOOLS, read=0)
    hollow: dict[str, Any] = {"headers": {}, "toolCalls": [], "usage": {}}
    error = {"name": "APIError", "message": "400"}
    log.ask("bad", [*talk, user("more")], at_s=5, tools=TOOLS, response=hollow, error=error)
    log.ask("r2", [*talk, user("more")], at_s=9, tools=TOOLS)
    db = read(log)
    results = {n: verdict_on(db, n).verdict.result for n in ("title", "r1", "bad", "r2")}
    assert results == {
        "title": Result.FIRST, "r1": Result.FIRST, "bad": Result.NO_USAGE, "r2": Result.HIT,
    }  # fmt: skip
    assert Service(db).session(SESSION).misses == 0


def test_thirty_append_only_requests_and_moving_markers(read: Read) -> None:
    log = CacheLog()
    talk: list[dict[str, Any]] = [*START]
    for n in range(30):
        talk += turns(n + 1)[-3:]
        log.ask(f"r{n}", marked(talk, 0, -1), at_s=9 * n, tools=TOOLS)
    db = read(log)
    cache = Service(db).session_cache(SESSION)
    assert (cache.requests, cache.misses, cache.missed_tokens) == (30, 0, 0)
    assert cache.corrected.value is not None and cache.corrected.value > 0.95
    results = {r.verdict.result for r in Service(db).requests(SESSION) if r.verdict}
    assert results == {Result.FIRST, Result.HIT}


def test_a_window_that_slides_in_the_log_is_not_one_of_the_prompt(read: Read) -> None:
    """The first record is a tail, and the tail slides by two messages a call."""
    everything = [*START, *turns(40, 60)]
    log = CacheLog()
    for n in range(8):
        count = 80 + 2 * n
        total = 30_000 + 700 * n
        window = everything[count - 64 : count]
        known = 0 if n == 0 else (total - 700) // 64 * 64
        log.ask(
            f"r{n}", window, at_s=9 * n, tools=TOOLS, total=total, read=known, kind="tail",
            offset=count - 64, count=count,
        )  # fmt: skip
    db = read(log)
    results = [verdict_on(db, f"r{n}").verdict.result for n in range(8)]
    assert results == [Result.FIRST] + [Result.HIT] * 7


def through_a_gateway(direct_reads: bool) -> CacheLog:
    """Four requests straight to the provider, then five through a gateway, all append-only."""
    direct, gateway = "https://api.example.invalid", "http://gateway.example.invalid:4000"
    log = CacheLog()
    talk = [*START, *turns(3)]
    for n in range(9):
        talk += [user(f"Go on, {n}. " + prose(300, 40 * n))]
        reads = None if n < 4 and direct_reads else 0
        log.ask(f"r{n}", talk, at_s=20 * n, tools=TOOLS, read=reads)
        log.through(direct if n < 4 else gateway, f"r{n}", 20 * n)
    return log


def test_only_what_goes_through_the_gateway_misses(read: Read) -> None:
    db = read(through_a_gateway(direct_reads=True))
    assert verdict_on(db, "r4").verdict.causes[0].code == "ENDPOINT_CHANGED"
    cause = verdict_on(db, "r8").verdict.causes[0]
    assert cause.code == "GATEWAY_REWRITE"
    assert "http://gateway.example.invalid:4000: 0.0 % of the input read" in cause.evidence[0]
    assert cause.evidence[1].startswith("others: ") and "(4 requests)" in cause.evidence[1]


def test_a_gateway_is_not_blamed_where_direct_calls_miss_as_well(read: Read) -> None:
    found = verdict_on(read(through_a_gateway(direct_reads=False)), "r8").verdict
    assert "GATEWAY_REWRITE" not in {c.code for c in (*found.causes, *found.also)}


def test_what_the_provider_says_stands_beside_the_verdict(read: Read) -> None:
    old, new = system("Version 1. " + SYSTEM["content"]), system("Version 2. " + SYSTEM["content"])
    reason = {"type": "system_changed", "cache_missed_input_tokens": 5_100}
    said = {"anthropic": {"diagnostics": {"cache_miss_reason": reason}}}
    talk = [*START[1:], *turns(4)]
    log = CacheLog()
    log.ask("r1", [old, *talk], at_s=0, tools=TOOLS, read=0)
    log.ask("r2", [new, *talk, user("more")], at_s=9, tools=TOOLS, metadata=said)
    (found,) = verdict_on(read(log), "r2").diagnostics
    assert (found.source, found.category, found.agreement) == (
        "Anthropic", "system_changed", "agree",
    )  # fmt: skip
    assert found.missed_tokens == 5_100


def test_another_baseline_can_be_chosen(read: Read) -> None:
    log = CacheLog()
    talk = [*START, *turns(4)]
    for n in range(3):
        log.ask(f"r{n}", [*talk, *turns(n)], at_s=9 * n, tools=TOOLS)
    db = read(log)
    usual = verdict_on(db, "r2")
    other = verdict_on(db, "r2", against="r0")
    assert usual.baseline is not None and other.baseline is not None
    assert (usual.baseline.seq, usual.chosen) == (2, False)
    assert (other.baseline.seq, other.chosen) == (1, True)
    assert [choice.seq for choice in usual.choices] == [2, 1]


PREFIX = [
    system("Some Code, at your service."),
    system(f"\nYou help. {prose(600)}\n\n# Harness\n- text is shown\n- tools may be refused"),
    system(
        f"\n\n# Communicating with the user\nBe brief. {prose(400, 30)}\n\n# Environment\n"
        f"Working directory: /w\nPlatform: linux\nShell: bash\nModel: p/one\n{prose(500, 60)}"
    ),
]


@pytest.mark.parametrize(
    ("read_tokens", "message", "section"),
    [(256, 1, "identity"), (832, 2, "dynamic_behavior"), (1_472, 2, "env_info")],
)
def test_the_section_in_which_the_read_stopped_is_named(
    read: Read, read_tokens: int, message: int, section: str
) -> None:
    talk = [*PREFIX, *START[1:], *turns(4)]
    log = CacheLog()
    log.ask("r1", talk, at_s=0, read=0)
    log.ask("r2", [*talk, user("more")], at_s=9, read=read_tokens)
    stop = verdict_on(read(log), "r2").verdict.read_stop
    assert stop is not None and (stop.message_index, stop.section) == (message, section)
    assert f"That is in the section {section}, about " in stop.sentence
    assert stop.into_tokens is not None and 0 < stop.into_tokens < (stop.block_tokens or 0)


def test_the_reminder_in_which_the_read_stopped_is_named(read: Read) -> None:
    note = reminder("Plan mode is active. " + prose(600, 5))
    talk = [SYSTEM, user("Start."), note, *turns(4)]
    log = CacheLog()
    log.ask("r1", talk, at_s=0, read=0)
    log.ask("r2", [*talk, user("more")], at_s=9, read=1_728)
    stop = verdict_on(read(log), "r2").verdict.read_stop
    assert stop is not None and (stop.section, stop.reminder) == ("", "runtime_mode")
    assert "That is in the reminder runtime_mode, about" in stop.sentence


def test_a_tool_that_only_moved_is_not_shown_as_removed(read: Read) -> None:
    talk = [*START, *turns(3)]
    log = CacheLog()
    log.ask("r1", talk, at_s=0, tools=TOOLS, read=0)
    log.ask("r2", [*talk, user("more")], at_s=9, tools=[*TOOLS[1:], TOOLS[0]])
    change = verdict_on(read(log), "r2").change
    assert change is not None and (change.op, change.a_index, change.b_index) == ("moved", 0, 3)
    assert change.place == "tool 0, Tool0: now at 3" and not change.lines


def test_the_first_request_of_a_lane_says_nothing_against_a_cause(read: Read) -> None:
    """It could read nothing, whatever its markers: that it missed nothing proves nothing."""
    log = CacheLog(CLAUDE)
    talk = [*START, *turns(4)]
    log.ask("r1", talk, at_s=0, tools=TOOLS, read=0)
    log.ask("r2", [*talk, user("more")], at_s=9, tools=TOOLS, read=0)
    cause = verdict_on(read(log), "r2").verdict.causes[0]
    assert cause.code == "CACHING_OFF"
    assert not any("against it" in item for item in cause.evidence)


def test_what_a_window_hides_is_not_among_what_was_checked(read: Read) -> None:
    """The second record shows the last messages; those between the system and its window are
    carried over, and equal only by what other records say."""
    talk = [*START, *turns(20, 300)]
    longer = [*talk, user("more")]
    log = CacheLog()
    log.ask("r1", talk, at_s=0, tools=TOOLS, total=20_000, read=0)
    log.ask(
        "r2", longer[-10:], at_s=9, tools=TOOLS, total=20_010, read=0, kind="tail",
        offset=len(longer) - 10, count=len(longer),
    )  # fmt: skip
    found = verdict_on(read(log), "r2").verdict
    told = [item for item in found.checked_equal if item.startswith("message")]
    assert told == [f"messages {len(longer) - 10} to {len(talk) - 1}"]
    assert any("only carries over" in item for item in found.not_verifiable)
