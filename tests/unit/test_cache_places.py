"""Where a change begins to matter, and what it is: moved, hoisted, stripped, cut, summarised."""

import json
from dataclasses import replace

import pytest

from tests.unit.test_cache_difference import SYSTEM, TALK, TOOLS, found, prompt, verdict
from tests.unit.test_cache_facts import (
    CLAUDE,
    DEEPSEEK,
    appended,
    call,
    diverged,
    earlier,
    judge,
    marker,
)
from tests.unit.test_compare_builders import Entry, a_call, a_note, a_result, a_text, an_image
from tracer.cache import provider_for
from tracer.model.comparison import Op
from tracer.model.prompt import Kind, Tier
from tracer.model.verdict import (
    CallFacts,
    Change,
    Difference,
    Earlier,
    History,
    LoggedEvent,
    PastVerdict,
    Result,
)

NOTE = a_note("The TodoWrite tool hasn't been used recently.")
ASK = a_text("user", "Fix the build", shape="array")
REST: list[Entry] = [
    [a_text("assistant", "I read the log"), a_call("d1", path="b.py")],
    a_result("d1", "row\n" * 50),
    a_text("assistant", "The tests pass now"),
    a_text("user", "Then write the notes"),
    a_text("assistant", "They are in the changelog"),
]


def test_a_reminder_that_moves_to_the_end_is_missed_where_it_stood() -> None:
    a = prompt(TOOLS, SYSTEM, [[NOTE, ASK]], REST)
    b = prompt(TOOLS, SYSTEM, [[ASK]], REST, [a_text("assistant", "More"), [NOTE]])
    got = found(a, b)
    (change,) = got.changes
    assert (change.op, change.a_index, change.token_offset) == (Op.MOVED, 0, 5_000)
    cause = verdict(a, b, 4_992).causes[0]
    assert (cause.subtype, cause.block_index) == ("REMINDER_MOVED", 0)


def test_a_reminder_inside_a_message_is_no_dropped_message() -> None:
    """It is not sent any more; the log is no window, and the prompt none either."""
    a = prompt(TOOLS, SYSTEM, [[NOTE, ASK]], REST)
    b = prompt(TOOLS, SYSTEM, [[ASK]], REST, [a_text("user", "Go on")])
    assert found(a, b).shift == 0
    cause = verdict(a, b, 4_992).causes[0]
    assert (cause.code, cause.subtype) == ("HISTORY_REWRITTEN", "REMINDER_REMOVED")


def test_a_first_message_that_is_a_reminder_is_no_step_of_a_window() -> None:
    a, b = prompt(TOOLS, SYSTEM, [NOTE], REST), prompt(TOOLS, SYSTEM, REST)
    assert found(a, b).shift == 1
    assert verdict(a, b, 4_992).causes[0].subtype == "REMINDER_REMOVED"


def test_dropped_messages_are_a_window_and_no_edit() -> None:
    a, b = prompt(TOOLS, SYSTEM, TALK, REST), prompt(TOOLS, SYSTEM, REST)
    got = verdict(a, b, 4_992)
    assert [c.code for c in got.causes] == ["TAIL_WINDOW"]
    assert "HISTORY_REWRITTEN" not in {c.code for c in got.also}


def test_a_log_that_shows_every_message_is_no_window() -> None:
    """The prompt lost its first messages and grew all the same: all of it was logged."""
    a = prompt(TOOLS, SYSTEM, TALK, REST)
    more = [a_text("user", f"Go on {i}") for i in range(9)]
    b = prompt(TOOLS, SYSTEM, REST, more)
    shown = len({p.message_index for p in b.blocks if p.message_index is not None})
    before = call("a", 0, 1_000 * len(a.blocks), 0, message_count=shown - 2)
    now = call("b", 9, 1_000 * len(b.blocks), 4_992, message_count=shown)
    assert judge(now, before, found(a, b)).causes[0].code == "TAIL_WINDOW"
    less = replace(now, message_count=shown + 50)
    assert judge(less, before, found(a, b)).causes[0].code != "TAIL_WINDOW"


def test_a_system_message_that_became_a_system_block() -> None:
    text = "Plan mode is active. Read the tokens that are left on main."
    a = prompt(TOOLS, SYSTEM, TALK, [a_text("system", text)], REST)
    b = prompt(TOOLS, SYSTEM, [replace(SYSTEM[0], text=text)], TALK, REST)
    got = verdict(a, b, 4_992)
    cause = got.causes[0]
    assert (cause.code, cause.subtype) == ("HISTORY_REWRITTEN", "ROLE_SYSTEM_HOISTED")
    assert (cause.tier, cause.block_index) == (Tier.SYSTEM, 1)
    assert "SYSTEM_CHANGED" not in {c.code for c in got.also}


@pytest.mark.parametrize(
    ("old", "new", "subtype"),
    [
        ([an_image(), ASK], [a_text("user", "[image removed]"), ASK], "IMAGE_STRIPPED"),
        ([an_image(), ASK], [ASK], "IMAGE_STRIPPED"),
    ],
)
def test_what_gave_way_to_something_else(
    old: list[object], new: list[object], subtype: str
) -> None:
    a = prompt(TOOLS, SYSTEM, [old], REST)  # type: ignore[list-item]
    b = prompt(TOOLS, SYSTEM, [new], REST)  # type: ignore[list-item]
    assert verdict(a, b, 4_992).causes[0].subtype == subtype


def test_a_summary_tells_of_a_compaction_that_nobody_logged() -> None:
    summary = "This session is being continued from a previous conversation. Summary: " + "x " * 50
    a, b = prompt(TOOLS, SYSTEM, TALK, REST), prompt(TOOLS, SYSTEM, [a_text("user", summary)])
    assert verdict(a, b, 4_992).result is Result.EXPECTED_REBUILD
    answer = prompt(TOOLS, SYSTEM, TALK, REST, [a_text("user", summary)])
    assert verdict(a, answer, 1_000 * len(a.blocks) // 64 * 64).result is Result.HIT


def test_a_result_that_is_added_later_is_no_summary() -> None:
    late = a_result("c9", "[The call was interrupted.]")
    a, b = prompt(TOOLS, SYSTEM, TALK, REST), prompt(TOOLS, SYSTEM, TALK, [late], REST)
    assert verdict(a, b, 9_984).causes[0].subtype == "REPAIRED"


# ---- providers ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("provider_id", "endpoint", "one"),
    [
        ("anthropic", "", True),
        ("anthropic", "https://api.anthropic.com", True),
        ("amazon-bedrock", "", False),
        ("anthropic", "https://bedrock-runtime.eu-west-1.amazonaws.com", False),
        ("vertex-anthropic", "", False),
    ],
)
def test_a_run_of_calls_is_one_position_on_the_claude_api_only(
    provider_id: str, endpoint: str, one: bool
) -> None:
    """18 parallel calls on Bedrock: read 0 (cache-rules.md 0, finding 6)."""
    found = provider_for(provider_id, "claude-opus-5", endpoint)
    assert found.name == "anthropic" and found.tool_runs_are_one.value is one


def test_new_openai_models_read_whole_breakpoints_only() -> None:
    """A prefix in common that no earlier prompt ended at was never a breakpoint."""
    of = ("openai", "gpt-5.6")
    before, now = call("a", 0, 40_000, 0, of=of), call("b", 9, 3_000, 0, of=of)
    verdict = judge(now, before, diverged(2_000, 0, total=3_000))
    assert verdict.result is Result.HIT and verdict.expected_read_tokens == 0
    grown = judge(call("c", 9, 41_000, 0, of=of), before, appended(40_000, 41_000))
    assert grown.result is Result.MISS and grown.expected_read_tokens == 40_000


def test_prompts_of_one_conversation_make_no_unit_of_what_they_share() -> None:
    """After a compaction, DeepSeek reads nothing: the earlier prompts went on from each other, and
    none ended at the head."""
    calls = [call(str(i), 9 * i, 20_000 + i, 19_000 * bool(i), of=DEEPSEEK) for i in range(4)]
    known = History(
        earlier=tuple(Earlier(c, 9_000, 3, False) for c in calls),
        events=(LoggedEvent(calls[-1].started_at_ms, "compaction", "compacted"),),
    )
    now = call("n", 60, 11_000, 0, of=DEEPSEEK, message_count=2)
    before = replace(calls[-1], message_count=30)
    verdict = judge(now, before, diverged(9_000, 0, total=11_000), known)
    assert verdict.expected_read_tokens == 0 and not verdict.is_miss


def test_an_edit_that_no_log_shows_may_end_a_read_by_units_anywhere() -> None:
    """Where whole units are read only, a read of 0 does not clear the messages that are not
    proven."""
    hidden = appended(40_000, 41_000, unverified_from_tokens=10_000)
    before, now = call("a", 0, 40_000, 0, of=DEEPSEEK), call("b", 60, 41_000, 0, of=DEEPSEEK)
    assert judge(now, before, hidden).causes[0].code == "UNKNOWN"
    shown = appended(40_000, 41_000)
    assert judge(now, before, shown).causes[0].code == "SERVER_SIDE"


# ---- markers and machines -----------------------------------------------------------------------


def volatile(role: str = "user", reminder: str = "context_usage") -> tuple[CallFacts, Difference]:
    """A request whose last marker stood on message 7, and what became of that message."""
    change = Change(
        Op.REMOVED, Tier.MESSAGES, 7, None, kind=Kind.TEXT, role=role, reminder=reminder,
        message_index=7, token_offset=38_000, before_tokens=200, before="Tokens left: 9",
    )  # fmt: skip
    marks = (marker(Tier.SYSTEM, 0), marker(Tier.MESSAGES, 7))
    before = call("a", 0, 38_200, 10_000, 28_200, CLAUDE, markers=marks)
    return before, diverged(38_000, 0, total=42_000, changes=(change,))


def test_a_marker_on_a_note_that_never_comes_again_costs_the_conversation() -> None:
    before, difference = volatile()
    now = call("b", 9, 42_000, 10_000, 32_000, CLAUDE, markers=before.markers)
    verdict = judge(now, before, difference)
    assert verdict.is_miss and verdict.causes[0].code == "BREAKPOINT_UNREACHABLE"
    assert verdict.rebilled_tokens > 25_000


def test_a_message_that_the_user_took_back_costs_nothing_that_was_cached() -> None:
    before, difference = volatile(reminder="")
    now = call("b", 9, 42_000, 10_000, 32_000, CLAUDE, markers=before.markers)
    assert judge(now, before, difference).result is Result.HIT


def test_chance_is_not_refuted_by_the_times_that_it_struck_not() -> None:
    """Without a session header, four requests that met the right machine prove nothing."""
    alone = {"user-agent": "agent/1"}
    calls = [call(str(i), 9 * i, 40_000 + i, 39_936, headers=alone) for i in range(4)]
    past = [judge(b, a, appended(40_000, 40_001)) for a, b in zip(calls, calls[1:], strict=False)]
    assert all(p.result is Result.HIT for p in past)
    known = History(
        earlier=earlier(*calls, common=40_000, whole=True),
        past=tuple(_past(c, p.signals) for c, p in zip(calls[1:], past, strict=True)),
    )
    now = call("n", 60, 41_000, 0, headers=alone)
    cause = judge(now, calls[-1], appended(40_003, 41_000), known).causes[0]
    assert (cause.code, cause.subtype) == ("AFFINITY", "key_missing")
    assert json.dumps(cause.evidence).count("without a miss") == 1


def _past(made: CallFacts, signals: tuple[str, ...]) -> PastVerdict:
    return PastVerdict(made.key, signals, missed=False)
