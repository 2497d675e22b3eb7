"""Comparing two prompts, by example: each operation, and the cases that other tools get wrong."""

from dataclasses import replace

import pytest

from tests.unit.test_compare_builders import (
    TOOLS_GAP,
    a_call,
    a_gap,
    a_note,
    a_prompt,
    a_result,
    a_system,
    a_text,
    a_thought,
    a_tool,
    an_image,
    hashes,
    only,
    ops,
)
from tracer.compare import apply, compare
from tracer.model.comparison import Comparison, Op, Relation
from tracer.model.prompt import Block, Kind, Prompt, Tier

TOOLS = tuple(a_tool(name) for name in ("Bash", "Edit", "Read"))
SYSTEM = (a_system("You are an agent."), a_system("\n# Environment\nWorking directory: /repo"))
HEAD = (*TOOLS, *SYSTEM)
TALK = (
    a_text("user", "Fix the flaky retry in the uploader, please."),
    (a_text("assistant", "I will look at the retry loop."), a_call("call_1", path="a.py")),
    a_result("call_1", "def retry():\n    return 3\n"),
    a_text("assistant", "The loop gives up too early; I will raise the limit."),
)
PLACEHOLDER = "[Old tool result content cleared]"


def checked(a: Prompt, b: Prompt) -> Comparison:
    """A comparison whose operations give B."""
    comparison = compare(a, b)
    assert apply(hashes(a), comparison) == hashes(b)
    return comparison


def test_a_prompt_is_identical_to_itself() -> None:
    prompt = a_prompt(*HEAD, *TALK)
    found = checked(prompt, prompt)
    assert found.relation is Relation.IDENTICAL
    assert found.first_divergence is None
    assert [(c.op, c.tier, c.count, c.label) for c in found.changes] == [
        (Op.EQUAL, Tier.TOOLS, 3, "tools 0 to 2"),
        (Op.EQUAL, Tier.SYSTEM, 2, "system blocks 0 to 1"),
        (Op.EQUAL, Tier.MESSAGES, 5, "messages 2 to 5"),
    ]
    assert found.same_content and not found.same_meaning and not found.marker_only


def test_a_prompt_that_only_grows_is_appended() -> None:
    a = a_prompt(*HEAD, *TALK)
    b = a_prompt(*HEAD, *TALK, a_text("user", "Thanks. And now the tests."))
    found = checked(a, b)
    assert found.relation is Relation.APPENDED
    assert found.first_divergence is None
    assert ops(found) == [(Op.ADDED, "message 6 \u00b7 user text")]
    assert found.common.blocks == len(a.blocks)
    assert found.common.tokens == sum(p.tokens for p in a.blocks)
    assert found.common == found.common_at_most


def test_a_cut_prompt_is_truncated_and_diverges_nowhere() -> None:
    found = checked(a_prompt(*HEAD, *TALK), a_prompt(*HEAD, *TALK[:2]))
    assert found.relation is Relation.TRUNCATED
    assert found.first_divergence is None
    assert {op for op, _ in ops(found)} == {Op.REMOVED}


def test_an_edited_message_is_located_to_the_character() -> None:
    edited = a_text("user", "Fix the flaky retry in the downloader, please.")
    found = checked(
        a_prompt(*HEAD, *TALK, tokens=100), a_prompt(*HEAD, edited, *TALK[1:], tokens=100)
    )
    change = only(found)
    assert (change.op, change.differs, change.same_meaning) == (Op.CHANGED, ("text",), False)
    at = found.first_divergence
    assert at is not None
    assert (at.tier, at.index, at.a_index, at.tier_index) == (Tier.MESSAGES, 5, 5, 0)
    assert (at.message_index, at.block_index, at.char_offset) == (2, 0, 27)
    assert at.before[27:] == "uploader, please." and at.after[27:] == "downloader, please."
    assert at.snippet_start == 0 and at.label == "message 2 \u00b7 user text"
    assert at.token_offset == 500 + 100 * 27 // len(edited.text)


def test_offsets_in_a_later_block_also_count_from_the_start_of_the_message() -> None:
    first = a_text("user", "Look at this.")
    a = a_prompt((first, a_text("user", "alpha")))
    b = a_prompt((first, a_text("user", "alphabet")))
    at = checked(a, b).first_divergence
    assert at is not None
    assert (at.block_index, at.char_offset, at.message_char_offset) == (1, 5, 5 + len(first.text))
    assert at.token_offset == len(first.text) // 4 + (8 // 4) * 5 // 8


def test_swapped_mcp_blocks_are_reordered_tools() -> None:
    own = [a_tool(n) for n in ("Bash", "Edit", "Read", "Write")]
    git = [a_tool(f"mcp__git__{n}") for n in ("log", "diff", "blame", "show")]
    web = [a_tool(f"mcp__web__{n}") for n in ("get", "head", "post", "put")]
    a, b = a_prompt(*own, *git, *web, *SYSTEM), a_prompt(*own, *web, *git, *SYSTEM)
    found = checked(a, b)
    assert {op for op, _ in ops(found)} == {Op.REORDERED}
    assert len(ops(found)) == 4
    at = found.first_divergence
    assert at is not None
    assert (at.tier, at.index, at.tier_index, at.message_index) == (Tier.TOOLS, 4, 4, None)
    assert at.char_offset == len('{"name":"mcp__')


def test_an_added_tool_is_no_reordering() -> None:
    a, b = a_prompt(*TOOLS, *SYSTEM), a_prompt(TOOLS[2], *TOOLS[:2], a_tool("Task"), *SYSTEM)
    assert ops(checked(a, b)) == [(Op.MOVED, "tool Read"), (Op.ADDED, "tool Task")]


def test_a_removed_last_tool_diverges_in_the_tools() -> None:
    at = checked(a_prompt(*TOOLS, *SYSTEM), a_prompt(*TOOLS[:2], *SYSTEM)).first_divergence
    assert at is not None
    assert (at.tier, at.tier_index, at.message_index) == (Tier.TOOLS, 2, None)
    assert (at.char_offset, at.label) == (0, "tool Read")


def test_another_key_order_is_the_same_meaning() -> None:
    a = a_tool("Bash", type="object", required=["command"])
    b = a_tool("Bash", required=["command"], type="object")
    found = checked(a_prompt(a, *TALK), a_prompt(b, *TALK))
    change = only(found)
    assert (change.op, change.differs, change.same_meaning) == (
        Op.CHANGED,
        ("serialisation",),
        True,
    )
    assert found.same_meaning
    at = found.first_divergence
    assert at is not None and at.differs == ("serialisation",)
    assert a.text[: at.char_offset] == b.text[: at.char_offset]
    assert a.text[at.char_offset] == "t" and b.text[at.char_offset] == "r"


def test_a_tool_that_changed_and_moved_is_known_by_its_name() -> None:
    a = a_prompt(a_tool("Bash", "runs"), *(a_tool(n) for n in "ABC"))
    b = a_prompt(*(a_tool(n) for n in "ABC"), a_tool("Bash", "runs a command"))
    change = only(checked(a, b))
    assert (change.op, change.out_of_place, change.label) == (Op.CHANGED, True, "tool Bash")


def test_a_cleared_tool_result_is_changed_not_replaced() -> None:
    cleared = a_result("call_1", PLACEHOLDER)
    b = a_prompt(*HEAD, *TALK[:2], cleared, TALK[3], a_text("user", "Go on."))
    found = checked(a_prompt(*HEAD, *TALK), b)
    assert ops(found) == [
        (Op.CHANGED, "result of Read (call_1)"),
        (Op.ADDED, "message 6 \u00b7 user text"),
    ]
    at = found.first_divergence
    assert at is not None and (at.message_index, at.char_offset) == (4, 0)


def test_a_moved_reminder_is_what_moved() -> None:
    note = a_note("The TodoWrite tool hasn't been used recently.")
    a = a_prompt(*HEAD, TALK[0], note, *TALK[1:])
    b = a_prompt(*HEAD, *TALK, note, a_text("assistant", "Done, I think; see above."))
    found = checked(a, b)
    assert [op for op, _ in ops(found)] == [Op.MOVED, Op.ADDED]
    assert "reminder" in ops(found)[0][1]
    at = found.first_divergence
    assert at is not None and at.message_index == 3


def test_a_reminder_that_changed_places_with_one_message_is_what_moved() -> None:
    note = a_note("The TodoWrite tool hasn't been used recently.")
    found = checked(a_prompt(TALK[0], note, TALK[3]), a_prompt(TALK[0], TALK[3], note))
    change = only(found)
    assert change.op is Op.MOVED and "reminder" in change.label


def test_swapped_results_are_reordered_messages() -> None:
    one, two = a_result("call_1", "one"), a_result("call_2", "two")
    found = checked(a_prompt(TALK[0], one, two), a_prompt(TALK[0], two, one, TALK[3]))
    assert [op for op, _ in ops(found)] == [Op.REORDERED, Op.ADDED]


def test_a_message_was_moved_where_another_was_edited() -> None:
    one, two = a_result("call_1", "one"), a_result("call_2", "two")
    edited = a_text("assistant", "The loop gives up too late; I will lower the limit.")
    found = checked(a_prompt(TALK[0], one, two, TALK[3]), a_prompt(TALK[0], two, one, edited))
    assert [op for op, _ in ops(found)] == [Op.MOVED, Op.CHANGED]


def test_a_text_with_another_beginning_is_known_by_the_rest() -> None:
    old = a_text("user", "Hi. " + "Explain how the uploader counts its retries." * 3)
    new = a_text("user", "Hello there. " + "Explain how the uploader counts its retries." * 3)
    gone = a_text("user", "And something else, which is not said any more.")
    found = checked(a_prompt(TALK[0], old, gone, TALK[3]), a_prompt(TALK[0], new, TALK[3]))
    assert [op for op, _ in ops(found)] == [Op.CHANGED, Op.REMOVED]


def test_a_reworded_reminder_is_known_by_its_opening() -> None:
    a = a_prompt(TALK[0], a_note("The date has changed. Today's date is now 2026-01-12."), TALK[3])
    b = a_prompt(TALK[0], a_note("The date has changed. Today's date is now 2026-01-13."), TALK[3])
    assert only(checked(a, b)).op is Op.CHANGED


def test_string_or_array_is_the_same_meaning() -> None:
    a, b = (
        a_text("user", "the very same words"),
        a_text("user", "the very same words", shape="array"),
    )
    found = checked(a_prompt(*HEAD, a, *TALK[1:]), a_prompt(*HEAD, b, *TALK[1:]))
    change = only(found)
    assert (change.op, change.differs, change.same_meaning) == (Op.CHANGED, ("shape",), True)
    at = found.first_divergence
    assert at is not None and (at.char_offset, at.differs) == (0, ("shape",))


def test_every_message_in_another_shape_is_still_aligned() -> None:
    talk = [a_text("user", f"message number {n}") for n in range(40)]
    a, b = a_prompt(*talk), a_prompt(*(replace(block, shape="array") for block in talk))
    found = checked(a, b)
    assert found.same_meaning
    assert [c.op for c in found.changes] == [Op.CHANGED] * 40


def test_the_notes_of_a_message_are_no_meaning() -> None:
    a = a_text("assistant", "Yes.", message_json='{"modelId":"a"}')
    b = a_text("assistant", "Yes.", message_json='{"modelId":"b"}')
    change = only(checked(a_prompt(TALK[0], a), a_prompt(TALK[0], b)))
    assert (change.differs, change.same_meaning) == (("message_notes",), True)


def test_a_stripped_image_is_removed_and_a_replaced_one_changed() -> None:
    words = a_text("user", "What is in this picture?")
    a = a_prompt((words, an_image()), *TALK[1:])
    found = checked(a, a_prompt((words,), *TALK[1:]))
    assert ops(found) == [(Op.REMOVED, "message 0, block 1 \u00b7 user image")]
    found = checked(a, a_prompt((words, a_text("user", "[image removed]")), *TALK[1:]))
    change = only(found)
    assert change.op is Op.CHANGED and "kind" in change.differs
    at = found.first_divergence
    assert at is not None and (at.block_index, at.char_offset) == (1, 0)


def test_stripped_reasoning_is_removed_and_changes_nothing_else() -> None:
    notes = '{"modelId":"glm"}'
    thought = a_thought("I need to look at the loop.", message_json=notes)
    words = a_text("assistant", "I will look.", shape="array")
    call = a_call("call_1", path="a.py")
    a = a_prompt(TALK[0], (thought, words, call), TALK[2])
    b = a_prompt(TALK[0], (replace(words, message_json=notes), call), TALK[2])
    found = checked(a, b)
    assert [(c.op, c.differs) for c in found.changes if c.op is not Op.EQUAL] == [
        (Op.REMOVED, ()),
        (Op.CHANGED, ("notes_place",)),
    ]
    plain = checked(
        a_prompt(TALK[0], (replace(thought, message_json=""), words, call), TALK[2]),
        a_prompt(TALK[0], (words, call), TALK[2]),
    )
    assert ops(plain) == [(Op.REMOVED, "message 1 \u00b7 assistant reasoning")]
    at = plain.first_divergence
    assert at is not None and (at.char_offset, at.differs[:2]) == (0, ("kind", "text"))


def test_a_message_cut_in_two_diverges_though_its_blocks_are_equal() -> None:
    one, two = a_text("user", "first part"), a_text("user", "second part")
    found = checked(a_prompt(*HEAD, (one, two), TALK[3]), a_prompt(*HEAD, one, two, TALK[3]))
    change = only(found)
    assert (change.op, change.differs, change.same_meaning) == (
        Op.CHANGED,
        ("message_start",),
        True,
    )
    at = found.first_divergence
    assert at is not None and (at.index, at.differs, at.char_offset) == (6, ("message_start",), 0)


def test_a_system_note_hoisted_into_the_system_tier_is_moved() -> None:
    words = "Plan mode is active. Change nothing."
    a = a_prompt(*HEAD, TALK[0], a_text("system", words), *TALK[1:])
    b = a_prompt(*HEAD, a_system(words), *TALK)
    change = only(checked(a, b))
    assert (change.op, change.tier, change.differs) == (Op.MOVED, Tier.SYSTEM, ("tier",))


def test_a_note_sent_in_another_role_is_the_same_note() -> None:
    words = "Plan mode is active. Change nothing."
    a = a_prompt(TALK[0], a_text("system", words), TALK[3])
    b = a_prompt(TALK[0], a_text("user", words), TALK[3])
    change = only(checked(a, b))
    assert (change.op, change.differs) == (Op.CHANGED, ("role",))


def test_a_system_block_is_known_by_its_heading() -> None:
    a = a_prompt(*SYSTEM, a_system("# Memory\nold notes"), TALK[0])
    b = a_prompt(SYSTEM[0], a_system("# Memory\nsomething quite new, and longer"), TALK[0])
    found = checked(a, b)
    assert ops(found) == [(Op.REMOVED, "system block 1"), (Op.CHANGED, "system block 1")]


def test_another_user_message_at_the_end_is_no_version_of_the_old_one() -> None:
    old = a_text("user", "Now delete the cache folder.")
    new = (a_text("user", "What does that function do?"), a_text("assistant", "It retries."))
    found = checked(a_prompt(*TALK, old), a_prompt(*TALK, *new))
    assert [op for op, _ in ops(found)] == [Op.REMOVED, Op.ADDED, Op.ADDED]


@pytest.mark.parametrize("marked", [(4,), (0, 4, 9), ()])
def test_moved_markers_are_no_change(marked: tuple[int, ...]) -> None:
    a, b = a_prompt(*HEAD, *TALK, marked=(4, 8)), a_prompt(*HEAD, *TALK, marked=marked)
    found = checked(a, b)
    assert found.relation is Relation.IDENTICAL
    assert found.same_content and found.marker_only
    assert {m.b_index for m in found.marker_changes} == {4, 8} ^ set(marked)


def test_the_same_markers_are_no_marker_change() -> None:
    a, b = (a_prompt(*HEAD, *TALK, marked=(4, 8)) for _ in range(2))
    assert not compare(a, b).marker_only


def test_blocks_carried_over_are_counted_as_not_verified() -> None:
    a = a_prompt(*HEAD, *TALK)
    b = a_prompt(*HEAD, *TALK, TALK[0], verified_from=4)
    found = checked(a, b)
    assert found.common.blocks == 10
    assert found.common.verified_blocks == 3
    assert [(c.op, c.verified, c.count) for c in found.changes if c.tier is Tier.MESSAGES] == [
        (Op.EQUAL, False, 3),
        (Op.EQUAL, True, 2),
        (Op.ADDED, True, 1),
    ]


def some_talk(count: int) -> list[Block]:
    """Different messages."""
    return [
        a_text(("user", "assistant")[n % 2], f"{n}: words of message {n}") for n in range(count)
    ]


def test_a_sliding_log_window_is_no_change() -> None:
    talk = some_talk(20)
    a = a_prompt(*HEAD, a_gap(8), *talk[8:16])
    b = a_prompt(*HEAD, a_gap(10), *talk[10:18])
    found = checked(a, b)
    assert found.relation is Relation.APPENDED
    assert found.first_divergence is None
    assert {op for op, _ in ops(found)} == {Op.UNKNOWN, Op.ADDED}
    assert [label for op, label in ops(found) if op is Op.ADDED] == [
        "message 18 \u00b7 user text",
        "message 19 \u00b7 assistant text",
    ]
    assert found.common.blocks == 5 and found.common_at_most.blocks == 12
    assert found.hidden is not None
    assert (found.hidden.a_messages, found.hidden.b_messages) == (8, 10)
    assert found.hidden.shift_messages == 0


def test_what_a_gap_hides_is_unknown_never_changed() -> None:
    talk = some_talk(8)
    a = a_prompt(*HEAD, *talk)
    found = checked(a, a_prompt(*HEAD, a_gap(5), *talk[5:]))
    assert {op for op, _ in ops(found)} == {Op.UNKNOWN}
    assert found.relation is Relation.IDENTICAL and found.first_divergence is None
    found = checked(a, a_prompt(*HEAD, a_gap(12)))
    assert {op for op, _ in ops(found)} == {Op.UNKNOWN}
    assert found.relation is Relation.UNKNOWN and found.first_divergence is None
    assert not found.same_content


def test_two_gaps_of_the_same_length_are_not_equal() -> None:
    a = a_prompt(*HEAD, a_gap(5), TALK[0])
    found = checked(a, a)
    assert found.common.blocks == 5
    assert found.relation is Relation.IDENTICAL
    assert [op for op, _ in ops(found)] == [Op.UNKNOWN, Op.UNKNOWN]


def test_an_edit_behind_both_gaps_is_seen() -> None:
    talk = some_talk(20)
    edited = [*talk[:14], a_text("user", "14: other words"), *talk[15:]]
    found = checked(
        a_prompt(*HEAD, a_gap(8), *talk[8:18]), a_prompt(*HEAD, a_gap(10), *edited[10:20])
    )
    at = found.first_divergence
    assert at is not None and at.after_gap and at.message_index == 16
    assert [op for op, _ in ops(found)].count(Op.CHANGED) == 1


def test_an_edit_right_behind_the_gaps_is_told_by_its_number() -> None:
    talk = some_talk(8)
    a = a_prompt(*HEAD, a_gap(5), *talk[5:])
    b = a_prompt(*HEAD, a_gap(5), a_text("assistant", "quite different"), *talk[6:])
    at = checked(a, b).first_divergence
    assert at is not None and at.after_gap and at.message_index == 7


def test_messages_lost_in_a_gap_prove_a_change_but_no_place() -> None:
    talk = some_talk(12)
    found = checked(
        a_prompt(*HEAD, a_gap(6), *talk[6:]), a_prompt(*HEAD, a_gap(4), *talk[6:], talk[0])
    )
    assert found.relation is Relation.UNKNOWN and found.first_divergence is None
    assert found.hidden is not None and found.hidden.shift_messages == -2
    assert found.common_at_most.blocks == 6


def test_a_repeated_reminder_does_not_move_out_of_a_gap() -> None:
    note, talk = a_note("The TodoWrite tool hasn't been used recently."), some_talk(10)
    a = a_prompt(*HEAD, a_gap(4), note, *talk[4:])
    b = a_prompt(*HEAD, a_gap(6), *talk[5:], note)
    assert Op.MOVED not in {op for op, _ in ops(checked(a, b))}


def test_a_system_block_before_a_gap_is_compared() -> None:
    a = a_prompt(*TOOLS, *SYSTEM, a_gap(5), TALK[3])
    b = a_prompt(*TOOLS, SYSTEM[0], a_system("\n# Environment\nElsewhere"), a_gap(5), TALK[3])
    found = checked(a, b)
    assert (Op.CHANGED, "system block 1") in ops(found)
    at = found.first_divergence
    assert at is not None and (at.tier, at.tier_index, at.after_gap) == (Tier.SYSTEM, 1, False)


def test_tools_that_were_not_logged_are_unknown() -> None:
    found = checked(a_prompt(TOOLS_GAP, *SYSTEM, *TALK), a_prompt(*HEAD, *TALK, TALK[0]))
    assert {op for op, _ in ops(found)} == {Op.UNKNOWN, Op.ADDED}
    assert found.relation is Relation.APPENDED and found.first_divergence is None
    assert found.hidden is not None and found.hidden.tools
    assert found.common.blocks == 0 and found.common_at_most.blocks == 10


def test_a_result_that_both_show_is_changed_even_beside_a_gap() -> None:
    a = a_prompt(a_gap(3), a_result("call_1", "long output"), *TALK[3:])
    b = a_prompt(a_gap(3), a_result("call_1", PLACEHOLDER), *TALK[3:], TALK[0])
    assert (Op.CHANGED, "result of Read (call_1)") in ops(checked(a, b))


def test_a_result_that_became_a_picture_is_the_same_result() -> None:
    picture = a_result("call_1", '{"type":"image"}', kind=Kind.IMAGE)
    change = only(checked(a_prompt(*TALK), a_prompt(*TALK[:2], picture, TALK[3])))
    assert (change.op, change.differs) == (Op.CHANGED, ("kind", "text"))


def test_empty_prompts_compare() -> None:
    empty, some = a_prompt(), a_prompt(*HEAD)
    assert checked(empty, empty).relation is Relation.IDENTICAL
    assert checked(empty, some).relation is Relation.APPENDED
    assert checked(some, empty).relation is Relation.TRUNCATED


def test_operations_do_not_fit_another_prompt() -> None:
    comparison = compare(a_prompt(*TALK), a_prompt(*TALK[1:]))
    with pytest.raises(ValueError, match="does not fit"):
        apply(hashes(a_prompt(*reversed(TALK))), comparison)
    with pytest.raises(ValueError, match="leave blocks out"):
        apply([*hashes(a_prompt(*TALK)), b"more"], comparison)
