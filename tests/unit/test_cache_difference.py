"""From a comparison to billed tokens, and whole ways from two prompts to a verdict."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest

from tests.unit.test_cache_facts import GLM, call, judge
from tests.unit.test_compare_builders import (
    Entry,
    a_call,
    a_gap,
    a_note,
    a_prompt,
    a_result,
    a_system,
    a_text,
    a_tool,
)
from tracer.cache.difference import Names, difference_of
from tracer.compare import compare, text_changes
from tracer.model.comparison import Op
from tracer.model.prompt import Prompt, Tier
from tracer.model.verdict import Difference, History, Result, Verdict

TOOLS = [a_tool(name) for name in ("Bash", "Edit", "Glob", "Read")]
SYSTEM = [a_system("You are an agent. Today is 2026-01-12.")]
TALK: list[Entry] = [
    a_text("user", "Fix the build"),
    [a_text("assistant", "I will look"), a_call("c1", path="a.py")],
    a_result("c1", "line\n" * 50),
    a_text("assistant", "Done"),
]


def found(a: Prompt, b: Prompt, names: Names | None = None) -> Difference:
    """The difference, with 1,000 billed tokens a block."""
    return difference_of(
        compare(a, b), a, b, 1_000 * len(a.blocks), 1_000 * len(b.blocks), names
    )  # fmt: skip


def prompt(*entries: Iterable[Entry]) -> Prompt:
    return a_prompt(*(e for part in entries for e in part), tokens=10)


def texts(a: Prompt, b: Prompt) -> Names:
    """The text changes of every changed pair, as the caller works them out."""
    pairs = [
        (c.a_index, c.b_index)
        for c in compare(a, b).changes
        if c.op is Op.CHANGED and c.a_index is not None and c.b_index is not None
    ]
    return Names(
        texts={
            (i, j): text_changes(a.blocks[i].block.text, b.blocks[j].block.text) for i, j in pairs
        }
    )


def verdict(a: Prompt, b: Prompt, read: int, names: Names | None = None) -> Verdict:
    before = call("a", 0, 1_000 * len(a.blocks), 0)
    now = call("b", 9, 1_000 * len(b.blocks), read)
    return judge(now, before, found(a, b, names))


def test_an_appended_prompt_has_no_changes() -> None:
    a, b = prompt(TOOLS, SYSTEM, TALK), prompt(TOOLS, SYSTEM, TALK, [a_text("user", "More")])
    difference = found(a, b)
    assert difference.append_only and not difference.changes and difference.kept_after_tokens == 0
    assert [x.end_tokens for x in difference.boundaries] == [1_000 * i for i in range(1, 12)]
    assert verdict(a, b, 9_984).result is Result.HIT


def test_the_same_prompt_is_identical() -> None:
    a = prompt(TOOLS, SYSTEM, TALK)
    assert found(a, a).identical and not found(a, a).changes


def test_moved_markers_are_no_difference() -> None:
    entries = [*TOOLS, *SYSTEM, *TALK]
    a = a_prompt(*entries, marked=[9], tokens=10)
    b = a_prompt(*entries, marked=[8], tokens=10)
    assert found(a, b).identical and not found(a, b).changes


def test_a_changed_date_at_the_head_of_the_system_prompt() -> None:
    a = prompt(TOOLS, SYSTEM, TALK)
    b = prompt(TOOLS, [a_system("You are an agent. Today is 2026-01-13.")], TALK)
    got = verdict(a, b, 4_608, texts(a, b))
    cause = got.causes[0]
    assert (cause.code, cause.subtype, cause.tier, cause.block_index) == (
        "SYSTEM_CHANGED", "date", Tier.SYSTEM, 0,
    )  # fmt: skip
    assert "2026-01-12" in cause.before and "2026-01-13" in cause.after
    assert cause.char_offset is not None and cause.char_offset > 20
    assert got.avoidable_tokens > 4_000


def test_reordered_tools() -> None:
    tools = [a_tool(f"mcp__{s}__{i}") for s in ("a", "b", "c") for i in range(4)]
    swapped = [*tools[:4], *tools[8:], *tools[4:8]]
    a, b = prompt(tools, SYSTEM, TALK), prompt(swapped, SYSTEM, TALK)
    cause = verdict(a, b, 3_968).causes[0]
    assert (cause.code, cause.subtype, cause.block_index) == ("TOOLS_CHANGED", "reordered", 4)


def test_key_order_inside_a_schema() -> None:
    one = [a_tool("Read", x=1, y=2)]
    other = [a_tool("Read", y=2, x=1)]
    a, b = prompt(TOOLS, one, SYSTEM, TALK), prompt(TOOLS, other, SYSTEM, TALK)
    assert verdict(a, b, 4_480).causes[0].subtype == "key order"


@pytest.mark.parametrize(
    ("old", "new", "subtype"),
    [
        (a_tool("Z", "old"), a_tool("Z", "new"), "description"),
        (
            a_tool("Z", input_schema={"type": "object"}),
            a_tool("Z", input_schema={"type": "string"}),
            "schema",
        ),
    ],
)
def test_where_a_tool_changed(old: Entry, new: Entry, subtype: str) -> None:
    a, b = prompt(TOOLS, [old], SYSTEM, TALK), prompt(TOOLS, [new], SYSTEM, TALK)
    assert verdict(a, b, 4_480, texts(a, b)).causes[0].subtype == subtype


def test_a_cleared_tool_result() -> None:
    cleared: Sequence[Entry] = [
        *TALK[:2],
        a_result("c1", "[Old tool result content cleared]"),
        TALK[3],
    ]
    a, b = prompt(TOOLS, SYSTEM, TALK, TALK), prompt(TOOLS, SYSTEM, cleared, TALK)
    difference = found(a, b)
    assert [c.kind.value for c in difference.changes] == ["tool_result"]
    shrunk = replace(difference.changes[0], before_tokens=900, after_tokens=30)
    got = judge(
        call("b", 9, 15_000, 7_936), call("a", 0, 15_000, 0), replace(difference, changes=(shrunk,))
    )
    assert got.causes[0].subtype == "TOOL_RESULT_CLEARED" and got.causes[0].message_index == 3


def test_a_rewind_keeps_nothing_behind_the_cut() -> None:
    a = prompt(TOOLS, SYSTEM, TALK, [a_text("user", "Now the docs"), a_text("assistant", "Ok")])
    b = prompt(TOOLS, SYSTEM, TALK, [a_text("user", "Now the tests")])
    difference = found(a, b)
    assert difference.kept_after_tokens == 0 and difference.changes
    assert verdict(a, b, 9_984).result is Result.HIT


def test_names_reach_the_changes() -> None:
    a = prompt(TOOLS, SYSTEM, [a_note("Todo: one")], TALK)
    b = prompt(TOOLS, SYSTEM, TALK)
    difference = found(a, b, Names(a_reminders={5: "todo_reminder"}))
    assert [(c.op, c.reminder) for c in difference.changes] == [(Op.REMOVED, "todo_reminder")]
    assert difference.changes[0].token_offset == 5_000
    assert difference.kept_after_tokens == 5_000


def test_what_the_record_does_not_prove_is_marked() -> None:
    entries = [*TOOLS, *SYSTEM, *TALK]
    a = a_prompt(*entries, tokens=10)
    b = a_prompt(*entries, a_text("user", "More"), tokens=10, verified_from=3)
    difference = found(a, b)
    assert difference.append_only and difference.unverified_from_tokens == 4_000


def test_a_gap_is_no_difference() -> None:
    later = [a_text("user" if i % 2 == 0 else "assistant", f"later {i}") for i in range(5)]
    a = prompt(TOOLS, SYSTEM, TALK, later)
    b = prompt(TOOLS, SYSTEM, [a_gap(4)], later, [a_text("user", "More")])
    difference = found(a, b)
    assert not difference.changes and difference.append_only
    assert difference.unverified_from_tokens == 50
    assert difference.boundaries[5].end_tokens == 12_000 - 60
    now, before = call("b", 9, 16_000, 14_976), call("a", 0, 15_000, 0)
    assert judge(now, before, difference).result is Result.HIT


def test_a_slid_window_is_recognised() -> None:
    talk = [a_text("user" if i % 2 == 0 else "assistant", f"message {i}") for i in range(12)]
    a, b = prompt(TOOLS, SYSTEM, talk[:10]), prompt(TOOLS, SYSTEM, talk[2:])
    assert found(a, b).shift == 2
    before, now = (
        call("a", 0, 90_000, 0, message_count=64),
        call("b", 9, 92_000, 89_984, message_count=66),
    )
    got = judge(now, before, found(a, b))
    assert got.result is Result.HIT and got.also[0].code == "LOG_WINDOWED"
    window = judge(
        call("b", 9, 90_000, 4_992, message_count=64),
        call("a", 0, 90_000, 4_992, message_count=64),
        difference_of(compare(a, b), a, b, 90_000, 90_000),
    )  # fmt: skip
    assert "TAIL_WINDOW" in {c.code for c in (*window.causes, *window.also)}


def test_counts_are_scaled_to_the_bill() -> None:
    a = prompt(TOOLS, SYSTEM, TALK)
    unscaled = difference_of(compare(a, a), a, a)
    assert unscaled.boundaries[-1].end_tokens == 10 * len(a.blocks)
    assert unscaled.error_fraction > found(a, a).error_fraction


def test_a_compaction_from_prompts() -> None:
    a = prompt(TOOLS, SYSTEM, TALK * 8)
    summary = a_text(
        "user", "This session is being continued from a previous conversation. Summary:"
    )
    b = prompt(TOOLS, SYSTEM, [summary], TALK[-1:])
    before = call("a", 0, 50_000, 40_000, message_count=33)
    now = call("b", 9, 7_000, 4_992, message_count=3)
    got = judge(now, before, difference_of(compare(a, b), a, b, 50_000, 7_000), History())
    assert got.result in (Result.EXPECTED_REBUILD, Result.HIT)
    assert "COMPACTION" in {c.subtype for c in (*got.causes, *got.also)}
    assert GLM[1] == now.model
