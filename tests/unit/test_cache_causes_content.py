"""Causes that a comparison of the prompts shows: tools, system, history, parameters, model."""

from dataclasses import replace

import pytest

from tests.unit.test_cache_facts import (
    CLAUDE,
    GLM,
    GPT,
    PARAMS,
    START_MS,
    appended,
    call,
    diverged,
    earlier,
    judge,
    marker,
)
from tracer.model.comparison import Op
from tracer.model.prompt import Kind, Tier
from tracer.model.verdict import (
    Certainty,
    Change,
    Fault,
    HashLadder,
    History,
    LoggedEvent,
    Result,
    Verdict,
)

HIGH: dict[str, object] = {"body": {"output_config": {"effort": "high"}}}
LOW: dict[str, object] = {"body": {"output_config": {"effort": "low"}}}


def miss(
    change: Change | tuple[Change, ...], common: int, read: int = 0, **history: object
) -> Verdict:
    """A request of GLM with a change at token `common`, everything behind it kept."""
    changes = change if isinstance(change, tuple) else (change,)
    before, now = call("a", 0, 60_000, 55_000), call("b", 9, 61_000, read)
    difference = diverged(common, 59_000 - common, total=61_000, changes=changes)
    return judge(now, before, difference, History(**history))  # type: ignore[arg-type]


def tool(op: Op, index: int, label: str, **more: object) -> Change:
    made = Change(
        op, Tier.TOOLS, index, index, label, Kind.TOOL_SCHEMA, token_offset=400 * index
    )  # fmt: skip
    return replace(made, **more)  # type: ignore[arg-type]


def system(before: str, after: str, **more: object) -> Change:
    made = Change(
        Op.CHANGED, Tier.SYSTEM, 0, 0, "system block 0", role="system", char_offset=214,
        token_offset=5_060, before=before, after=after,
    )  # fmt: skip
    return replace(made, **more)  # type: ignore[arg-type]


def message(op: Op, at: int, **more: object) -> Change:
    made = Change(
        op, Tier.MESSAGES, at, at, f"message {at}", role="user", message_index=at,
        token_offset=30_000,
    )  # fmt: skip
    return replace(made, **more)  # type: ignore[arg-type]


# Tools


def test_two_servers_swapped_is_a_reordering() -> None:
    """Twelve tools, the blocks of two servers swapped: first difference at index 4."""
    names = [f"mcp__web__t{i}" for i in range(4)] + [f"mcp__db__t{i}" for i in range(4)]
    moved = tuple(tool(Op.REORDERED, 4 + i, name) for i, name in enumerate(names))
    verdict = miss(moved, 1_600, 1_600)
    cause = verdict.causes[0]
    assert (cause.code, cause.subtype, cause.block_index) == ("TOOLS_CHANGED", "reordered", 4)
    assert cause.certainty is Certainty.CERTAIN and cause.tier is Tier.TOOLS
    assert "none was added or removed" in cause.summary
    assert any("tool servers: db, web" in e for e in cause.evidence)


def test_key_order_is_serialisation_and_not_content() -> None:
    verdict = miss(tool(Op.CHANGED, 3, "Read", canonical_equal=True), 1_300, 1_280)
    assert verdict.causes[0].subtype == "key order"
    assert "means the same" in verdict.causes[0].summary and "sorted keys" in verdict.causes[0].fix


@pytest.mark.parametrize(
    ("change", "subtype"),
    [
        (tool(Op.ADDED, 2, "mcp__web__search", a_index=None), "added"),
        (tool(Op.REMOVED, 2, "mcp__web__search", b_index=None), "removed"),
        (tool(Op.CHANGED, 2, "Read", path="description"), "description"),
        (tool(Op.CHANGED, 2, "Read", path="input_schema.properties.path"), "schema"),
        (tool(Op.CHANGED, 2, "Read", hints=("key_order",)), "key order"),
    ],
)
def test_what_changed_among_the_tools(change: Change, subtype: str) -> None:
    cause = miss(change, 900, 896).causes[0]
    assert (cause.code, cause.subtype) == ("TOOLS_CHANGED", subtype)
    assert change.label in cause.summary


def test_an_added_tool_is_the_reason_that_others_moved() -> None:
    changes = (tool(Op.MOVED, 1, "Bash"), tool(Op.ADDED, 2, "Zip", a_index=None))
    assert miss(changes, 500, 448).causes[0].subtype == "added"


def test_the_time_of_a_servers_connection_is_told() -> None:
    event = LoggedEvent(START_MS + 7_000, "mcp", "MCP server web connected")
    added = tool(Op.ADDED, 2, "mcp__web__search", a_index=None)
    evidence = miss(added, 900, 896, events=(event,)).causes[0].evidence
    assert "2 s before this request: MCP server web connected" in evidence


def test_unchanged_tools_are_no_cause() -> None:
    verdict = miss(message(Op.CHANGED, 3), 30_000, 29_952)
    assert "TOOLS_CHANGED" not in {c.code for c in (*verdict.causes, *verdict.also)}


# System


@pytest.mark.parametrize(
    ("before", "after", "subtype"),
    [
        ("Today's date: 2026-01-12", "Today's date: 2026-01-13", "date"),
        ("Now: 2026-01-12T10:03:11Z", "Now: 2026-01-12T10:04:52Z", "iso_timestamp"),
        ("It is 10:03 in Berlin", "It is 10:04 in Berlin", "time"),
        ("billing; cch=36ee5; entry", "billing; cch=0aaa9; entry", "nonce"),
        (
            "id 6f1a3b52-0e7c-4c8a-9a55-1f6d2b7c8e90",
            "id 0b7de7a1-7c55-4f43-8e02-5b1d9c2a4f11",
            "nonce",
        ),
        ("On branch main", "On branch fix/retry", "git_status"),
        ("You are powered by the model glm-5", "You are powered by the model glm-4.6", "model"),
        ("Working directory: /a", "Working directory: /b", "cwd"),
        (
            "Contents of /p/AGENTS.md: use tabs",
            "Contents of /p/AGENTS.md: use spaces",
            "instructions",
        ),
        ("- pdf: reads PDF files (skill)", "- pdf: reads files (skill)", "skills"),
        ("Memories: likes tabs", "Memories: likes spaces", "memory"),
        ("12,000 tokens left", "9,000 tokens left", "usage"),
        ("Be brief.", "Be thorough.", "text"),
    ],
)
def test_what_changed_in_the_system_prompt(before: str, after: str, subtype: str) -> None:
    cause = miss(system(before, after), 5_060, 5_056).causes[0]
    assert (cause.code, cause.subtype) == ("SYSTEM_CHANGED", subtype)
    assert (cause.before, cause.after, cause.char_offset) == (before, after, 214)
    assert cause.certainty is Certainty.CERTAIN


def test_a_section_names_what_changed_even_in_a_message() -> None:
    grown = message(Op.CHANGED, 0, section="skills", before="- pdf", after="- pdf\n- xlsx")
    cause = miss(grown, 11_000, 10_944).causes[0]
    assert (cause.code, cause.subtype, cause.section) == ("SYSTEM_CHANGED", "skills", "skills")
    assert cause.tier is Tier.MESSAGES and "the section skills" in cause.summary


def test_a_kind_told_by_the_comparison_wins() -> None:
    assert miss(system("a", "b", hints=("cwd",)), 5_060).causes[0].subtype == "cwd"


def test_two_versions_that_alternate() -> None:
    old = [
        call(f"e{i}", i, 50_000, 0, hashes=HashLadder("t", "AB"[i % 2])) for i in range(4)
    ]  # fmt: skip
    before = replace(old[-1], usage=call("x", 0, 60_000, 55_000).usage)
    now = call("b", 9, 61_000, 5_056, hashes=HashLadder("t", "A"))
    difference = diverged(5_060, 53_000, total=61_000, changes=(system("Mode: x", "Mode: y"),))
    history = History(earlier=earlier(*old[:-1], common=5_060))
    cause = judge(now, before, difference, history).causes[0]
    assert cause.subtype == "alternation"
    assert any("changed in 4 of the 4 requests" in e for e in cause.evidence)


def test_a_nonce_in_every_request_is_counted() -> None:
    old = [call(f"e{i}", i, 50_000, 0, hashes=HashLadder("t", f"s{i}")) for i in range(5)]
    now = call("b", 9, 61_000, 5_056, hashes=HashLadder("t", "s9"))
    difference = diverged(5_060, 44_000, changes=(system("cch=36ee5", "cch=0aaa9"),))
    cause = judge(now, old[-1], difference, History(earlier=earlier(*old))).causes[0]
    assert cause.subtype == "nonce" and any("5 of the 5" in e for e in cause.evidence)


# History


@pytest.mark.parametrize(
    ("changes", "subtype"),
    [
        (
            message(
                Op.CHANGED, 3, kind=Kind.TOOL_RESULT, role="tool", call_id="c1",
                before="total 48 ...", after="[Old tool result content cleared]",
                before_tokens=9_000, after_tokens=12,
            ),
            "TOOL_RESULT_CLEARED",
        ),
        (message(Op.REMOVED, 3, kind=Kind.IMAGE, before_tokens=1_500), "IMAGE_STRIPPED"),
        (message(Op.REMOVED, 3, kind=Kind.REASONING, role="assistant"), "THINKING_STRIPPED"),
        (message(Op.CHANGED, 3, canonical_equal=True), "SHAPE_CHANGED"),
        (
            message(Op.CHANGED, 3, canonical_equal=True, kind=Kind.TOOL_CALL, role="assistant"),
            "ARGS_RESERIALISED",
        ),
        (message(Op.REMOVED, 3, reminder="todo_reminder"), "REMINDER_REMOVED"),
        (message(Op.ADDED, 3, reminder="todo_reminder"), "REMINDER_INSERTED"),
        (message(Op.MOVED, 3, reminder="todo_reminder"), "REMINDER_MOVED"),
        (message(Op.REORDERED, 3, role="assistant"), "REORDERED"),
        (
            message(
                Op.ADDED, 3, kind=Kind.TOOL_RESULT, role="tool",
                after="The tool call was interrupted by the user",
            ),
            "REPAIRED",
        ),
        (message(Op.CHANGED, 3, before="a", after="b"), "EDIT"),
        (message(Op.CHANGED, 3, hints=("SHAPE_CHANGED",)), "SHAPE_CHANGED"),
    ],
)  # fmt: skip
def test_how_history_was_rewritten(changes: Change, subtype: str) -> None:
    verdict = miss(changes, 30_000, 29_952)
    cause = verdict.causes[0]
    assert (cause.code, cause.subtype) == ("HISTORY_REWRITTEN", subtype)
    assert cause.message_index == 3 and cause.reminder == changes.reminder
    assert verdict.result is Result.PARTIAL and cause.fault is Fault.CLIENT


def test_a_reminder_removed_here_and_added_there_was_moved() -> None:
    changes = (
        message(Op.REMOVED, 3, reminder="skills_listing"),
        message(Op.ADDED, 7, reminder="skills_listing", token_offset=50_000),
    )
    assert miss(changes, 30_000, 29_952).causes[0].subtype == "REMINDER_MOVED"


def test_a_system_message_hoisted_into_the_system_prompt() -> None:
    changes = (
        message(Op.REMOVED, 3, role="system"),
        Change(Op.ADDED, Tier.SYSTEM, None, 1, role="system", token_offset=9_000),
    )
    verdict = miss(changes, 9_000, 8_960)
    assert verdict.causes[0].code == "SYSTEM_CHANGED"
    assert [c.subtype for c in verdict.also if c.code == "HISTORY_REWRITTEN"] == [
        "ROLE_SYSTEM_HOISTED"
    ]


def test_a_cleared_tool_result_says_when_it_pays_off() -> None:
    """9,000 tokens saved a request, 20,000 billed once more; a read at 0.1, a write at 1.25."""
    cleared = message(
        Op.CHANGED, 3, kind=Kind.TOOL_RESULT, before="x", after="[cleared]",
        before_tokens=9_000, after_tokens=0,
    )  # fmt: skip
    first = marker(Tier.SYSTEM, 0), marker(Tier.MESSAGES, 7)
    before = call("a", 0, 60_000, 55_000, 5_000, of=CLAUDE, markers=first)
    now = call("b", 9, 52_000, 30_000, 22_000, of=CLAUDE, markers=first)
    history = History(earlier=earlier(call("z", -60, 30_000, 25_000, 5_000, of=CLAUDE), whole=True))
    difference = diverged(30_000, 20_000, total=52_000, changes=(cleared,))
    cause = judge(now, before, difference, history).causes[0]
    assert cause.subtype == "TOOL_RESULT_CLEARED"
    assert "saved: 9,000 tokens less in every later request" in cause.evidence
    assert "cost: 20,000 tokens billed once more" in cause.evidence
    assert any(
        "pays for itself after 26 requests" in e for e in cause.evidence
    )  # 20,000 × 1.15 / 900


def test_an_unknown_read_price_is_said_to_be_assumed() -> None:
    cleared = message(
        Op.CHANGED, 3, kind=Kind.TOOL_RESULT, after="[cleared]", before_tokens=9_000, after_tokens=9
    )  # fmt: skip
    assert any("(assumed)" in e for e in miss(cleared, 30_000, 29_952).causes[0].evidence)


def test_a_window_of_the_prompt_is_named_when_the_prompt_stops_growing() -> None:
    before = call("a", 0, 60_000, 9_984, message_count=40)
    now = call("b", 9, 59_500, 9_984, message_count=40)
    difference = diverged(10_000, 48_000, total=59_500, shift=2)
    cause = judge(now, before, difference).causes[0]
    assert cause.code == "TAIL_WINDOW" and "oldest 2 messages" in cause.summary


def test_cache_edits_are_meant() -> None:
    before = call("a", 0, 60_000, 55_000, 5_000, of=CLAUDE)
    edits: dict[str, object] = {**PARAMS, "cache_edits": [{"type": "delete"}]}
    now = call("b", 9, 52_000, 30_000, 22_000, of=CLAUDE, params=edits)
    verdict = judge(now, before, diverged(30_000, 20_000, total=52_000))
    assert verdict.result is Result.EXPECTED_REBUILD


# Parameters


def effort(of: tuple[str, str], read: int, *, total: int = 60_000) -> Verdict:
    before = call("a", 0, total, total - 5_000, 5_000, of=of, params=HIGH, markers=None)
    now = call("b", 9, total + 1_000, read, total + 1_000 - read, of=of, params=LOW, markers=None)
    return judge(now, before, appended(total, total + 1_000))


def test_effort_loses_the_messages_and_keeps_tools_and_system() -> None:
    verdict = effort(CLAUDE, 10_000)
    cause = verdict.causes[0]
    assert (cause.code, cause.subtype, cause.tier) == ("PARAM_CHANGED", "effort", Tier.MESSAGES)
    assert cause.token_offset == 10_000 and (cause.before, cause.after) == ("high", "low")
    assert "keeps tools and system" in cause.summary and cause.certainty is Certainty.HIGH
    assert verdict.expected_read_tokens == 10_000 and verdict.avoidable_tokens == 50_000


def test_on_some_models_effort_loses_everything() -> None:
    verdict = effort(CLAUDE, 0)
    assert verdict.causes[0].tier is Tier.TOOLS and "loses everything" in verdict.causes[0].summary
    assert any("this model loses more" in e for e in verdict.causes[0].evidence)
    verdict = effort((GLM[0], "glm-5.3-flash"), 0)
    assert verdict.causes[0].tier is Tier.TOOLS and verdict.missed_tokens == 0


def test_a_parameter_that_nobody_documents_is_a_medium_cause() -> None:
    cause = effort(GLM, 0).causes[0]
    assert cause.code == "PARAM_CHANGED" and cause.certainty is Certainty.MEDIUM


@pytest.mark.parametrize(
    ("of", "before", "after", "name"),
    [
        (
            CLAUDE,
            {"tool_choice": {"type": "auto"}},
            {"tool_choice": {"type": "any"}},
            "tool_choice",
        ),
        (CLAUDE, {"speed": "standard"}, {"speed": "fast"}, "speed"),
        (CLAUDE, {"thinking": {"type": "enabled"}}, {"thinking": {"type": "disabled"}}, "thinking"),
        (GPT, {"prompt_cache_key": "a"}, {"prompt_cache_key": "b"}, "prompt_cache_key"),
        (GPT, {"service_tier": "auto"}, {"service_tier": "flex"}, "service_tier"),
        (GPT, {"text": {"format": "text"}}, {"text": {"format": "json"}}, "text_format"),
        (GPT, {"text": {"verbosity": "low"}}, {"text": {"verbosity": "high"}}, "verbosity"),
        (GPT, {"reasoning": {"effort": "low"}}, {"reasoning": {"effort": "high"}}, "effort"),
    ],
)
def test_parameters_with_a_rule(
    of: tuple[str, str], before: dict[str, object], after: dict[str, object], name: str
) -> None:
    first = call("a", 0, 60_000, 55_000, of=of, params=before, markers=None)
    now = call("b", 9, 61_000, 0, of=of, params=after, markers=None)
    cause = judge(now, first, appended(60_000, 61_000)).causes[0]
    assert (cause.code, cause.subtype) == ("PARAM_CHANGED", name)


def test_neutral_parameters_are_no_cause() -> None:
    first = call(
        "a", 0, 60_000, 55_000, params={"temperature": 1, "max_tokens": 100, "stream": True}
    )
    now = call("b", 9, 61_000, 0, params={"temperature": 0, "max_tokens": 200, "stream": False})
    verdict = judge(now, first, appended(60_000, 61_000))
    assert verdict.causes[0].code == "SERVER_SIDE"


def test_a_parameter_without_a_rule_leaves_the_cause_open() -> None:
    first = call("a", 0, 60_000, 55_000, params={"new_switch": 1})
    now = call("b", 9, 61_000, 0, params={"new_switch": 2})
    cause = judge(now, first, appended(60_000, 61_000)).causes[0]
    assert cause.code == "UNKNOWN" and "new_switch" in cause.fix


def test_a_beta_header_may_matter() -> None:
    headers = {"x-session-id": "s", "anthropic-beta": "a-1"}
    first = call("a", 0, 60_000, 55_000, 5_000, of=CLAUDE, headers=headers, markers=None)
    now = call(
        "b", 9, 61_000, 0, 61_000, of=CLAUDE, markers=None,
        headers={**headers, "anthropic-beta": "a-1, b-2"},
    )  # fmt: skip
    cause = judge(now, first, appended(60_000, 61_000)).causes[0]
    assert (cause.subtype, cause.certainty) == ("betas", Certainty.MEDIUM)


def test_the_first_image_counts_as_a_parameter() -> None:
    first = call("a", 0, 60_000, 55_000, 5_000, of=CLAUDE, markers=None)
    now = call("b", 9, 61_500, 10_000, 51_500, of=CLAUDE, markers=None)
    found = appended(60_000, 61_500)
    image = replace(found.boundaries[-1], kind=Kind.IMAGE)
    difference = replace(found, boundaries=(*found.boundaries[:-1], image))
    assert judge(now, first, difference).causes[0].subtype == "images"


def test_parameters_are_judged_without_a_comparison() -> None:
    first = call("a", 0, 60_000, 55_000, 5_000, of=CLAUDE, params=HIGH, markers=None)
    now = call("b", 9, 61_000, 9_000, 52_000, of=CLAUDE, params=LOW, markers=None)
    assert judge(now, first, None).causes[0].code == "PARAM_CHANGED"


# Model and endpoint


def moved(**changes: object) -> Verdict:
    now = call("b", 9, 61_000, 0)
    return judge(
        replace(now, **changes),  # type: ignore[arg-type]
        call("a", 0, 60_000, 55_000, endpoint="https://api.z.ai"),
        appended(60_000, 61_000),
    )


def test_a_fallback_is_a_miss() -> None:
    verdict = moved(returned_model_id="glm-4.6")
    assert (verdict.causes[0].code, verdict.causes[0].subtype) == ("MODEL_CHANGED", "fallback")
    assert verdict.result is Result.MISS and verdict.causes[0].fault is Fault.PROVIDER


def test_a_model_that_keeps_changing_is_routing() -> None:
    models = ["glm-5", "glm-4.6", "glm-5", "glm-4.6"]
    old = [call(f"e{i}", i, 50_000, 0, of=(GLM[0], m)) for i, m in enumerate(models)]
    verdict = judge(
        call("b", 9, 61_000, 0), old[-1], appended(50_000, 61_000), History(earlier=earlier(*old))
    )
    assert verdict.causes[0].subtype == "routed" and verdict.is_miss


@pytest.mark.parametrize(
    ("change", "subtype"),
    [
        ({"endpoint": "https://open.bigmodel.cn"}, "endpoint"),
        ({"provider_id": "zhipu"}, "provider"),
    ],
)
def test_another_endpoint_is_another_cache(change: dict[str, object], subtype: str) -> None:
    cause = moved(**change).causes[0]
    assert (cause.code, cause.subtype) == ("ENDPOINT_CHANGED", subtype)
    assert cause.certainty is Certainty.CERTAIN


def test_another_upstream_host_is_another_cache() -> None:
    first = call(
        "a", 0, 60_000, 55_000, headers={"x-session-id": "s", "x-openrouter-provider": "A"}
    )
    now = call("b", 9, 61_000, 0, headers={"x-session-id": "s", "x-openrouter-provider": "B"})
    assert judge(now, first, appended(60_000, 61_000)).causes[0].code == "ENDPOINT_CHANGED"
