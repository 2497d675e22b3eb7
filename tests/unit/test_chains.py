"""Sums along a tree of prompts, and walking from one prompt to the next."""

from typing import NamedTuple

from tests.legs import one_by_one, put_together, tree_of
from tracer.anatomy.mcs import McsState, McsVerdict, verdict
from tracer.anatomy.messages import BlockReading, Sort
from tracer.anatomy.reminders import ReminderSpan
from tracer.assemble.chains import (
    EMPTY,
    PARTS,
    ChainNode,
    Link,
    Sums,
    path_sums,
    unlink,
)
from tracer.assemble.marked import GAP_AT_HEAD
from tracer.model.prompt import Part


class Made(NamedTuple):
    """A node to make: a block of 30 characters, estimated at 9 tokens and counted as `tokens`."""

    id: int
    parent: int | None = None
    part: Part = Part.HISTORY
    message: int | None = 0
    tokens: int | None = 10
    block: int = 0
    role: str = "user"


def nodes_of(*made: Made) -> list[ChainNode]:
    """The nodes as they are stored: sizes add up along the path. Block ids are node ids + 100."""
    depth: dict[int | None, int] = {None: 0}
    nodes = []
    for m in made:
        depth[m.id] = n = depth[m.parent] + 1
        nodes.append(
            ChainNode(
                m.id, m.parent, 100 + m.id, m.message, m.block, m.part, m.role, 30 * n, 9 * n,
                m.tokens,
            )
        )  # fmt: skip
    return nodes


def sums_of(*made: Made) -> dict[int, Sums]:
    return path_sums(one_by_one(nodes_of(*made)))


def per_part(values: list[int]) -> dict[Part, int]:
    return {part: value for part, value in zip(PARTS, values, strict=True) if value}


def test_no_nodes_have_no_sums() -> None:
    assert path_sums([]) == {}
    assert (EMPTY.depth, EMPTY.total_tokens, EMPTY.roles) == (0, 0, {})
    assert len(EMPTY.blocks) == len(EMPTY.chars) == len(EMPTY.tokens) == len(PARTS)


def test_a_path_is_summed_per_part() -> None:
    sums = sums_of(
        Made(1, None, Part.TOOLS, None, 100, role=""),
        Made(2, 1, Part.SYSTEM, 0, 50, role="system"),
        Made(3, 2, Part.HISTORY, 1, 7),
        Made(4, 3, Part.HISTORY, 2, 8, role="assistant"),
    )[4]
    assert per_part(sums.tokens) == {Part.TOOLS: 100, Part.SYSTEM: 50, Part.HISTORY: 15}
    assert per_part(sums.blocks) == {Part.TOOLS: 1, Part.SYSTEM: 1, Part.HISTORY: 2}
    assert per_part(sums.chars) == {Part.TOOLS: 30, Part.SYSTEM: 30, Part.HISTORY: 60}
    assert (sums.depth, sums.total_tokens) == (4, 165)


def test_two_prompts_that_part_do_not_mix() -> None:
    sums = sums_of(Made(1), Made(2, 1, tokens=1), Made(3, 1, tokens=5))
    assert (sums[1].total_tokens, sums[2].total_tokens, sums[3].total_tokens) == (10, 11, 15)
    assert sums[3].blocks == sums[2].blocks != sums[1].blocks


def test_two_prompts_without_a_common_beginning_start_from_nothing() -> None:
    sums = sums_of(Made(1, tokens=1), Made(2, tokens=5))
    assert (sums[1].total_tokens, sums[2].total_tokens) == (1, 5)


def test_a_message_of_several_blocks_counts_once_by_its_role() -> None:
    sums = sums_of(Made(1), Made(2, 1, block=1), Made(3, 2, message=1))
    assert sums[3].roles == {"user": 2}


def test_tools_have_no_role() -> None:
    assert sums_of(Made(1, part=Part.TOOLS, message=None, role="tool"))[1].roles == {}


def test_roles_of_one_prompt_do_not_show_in_another() -> None:
    sums = sums_of(Made(1), Made(2, 1, role="assistant"), Made(3, 1, role="tool"))
    assert sums[2].roles == {"user": 1, "assistant": 1}
    assert sums[3].roles == {"user": 1, "tool": 1}


def test_an_uncounted_block_adds_its_estimate_and_is_told() -> None:
    sums = sums_of(Made(1), Made(2, 1, tokens=None), Made(3, 2))
    assert [(s.total_tokens, s.uncounted) for s in sums.values()] == [(10, 0), (19, 1), (29, 1)]


def test_a_gap_has_no_count_and_is_not_missing_one() -> None:
    assert sums_of(Made(1, part=Part.GAP, tokens=None))[1].uncounted == 0


def test_a_count_of_zero_is_a_count() -> None:
    sums = sums_of(Made(1, tokens=0))[1]
    assert (sums.total_tokens, sums.uncounted) == (0, 0)


NOTE = BlockReading((ReminderSpan("todo_reminder", 18, 40),))
TOLD = (
    Made(1, None, Part.TOOLS, None),
    Made(2, 1, Part.TOOLS, None),
    Made(3, 2, Part.SYSTEM, 0, role="system"),
    Made(4, 3, Part.HISTORY, 1),
    Made(5, 4, Part.HISTORY, 2, role="assistant"),
    Made(6, 5, Part.REMINDER, 3),
    Made(7, 6, Part.HISTORY, 3, block=1),
    Made(8, 6, Part.MCS, 4, role="system"),
)
READINGS = {106: NOTE, 108: BlockReading((ReminderSpan("runtime_mode", 0, 9),))}


def test_tools_and_messages_that_say_something_are_listed_in_order() -> None:
    sums = path_sums(one_by_one(nodes_of(*TOLD), READINGS), READINGS)
    assert unlink(sums[8].tools) == [101, 102]
    assert unlink(sums[5].marks) == []
    wrapped, system_text = unlink(sums[8].marks)
    assert (wrapped.message_index, wrapped.first_index, wrapped.blocks) == (3, 5, (106,))
    assert wrapped.reading.sort is Sort.WRAPPED and wrapped.steps == 1
    assert (system_text.message_index, system_text.first_index) == (4, 6)
    assert system_text.reading.sort is Sort.MCS


def test_a_message_is_taken_as_a_whole_wherever_it_ends() -> None:
    """One block of it is a tag pair; with the other beside it, it is what a user said."""
    sums = path_sums(one_by_one(nodes_of(*TOLD), READINGS), READINGS)
    assert len(unlink(sums[6].marks)) == 1
    assert unlink(sums[7].marks) == []
    assert sums[7].before == sums[6].before == sums[5].stand


def test_a_users_message_that_names_a_plugin_is_listed() -> None:
    said = {104: BlockReading()}
    (mark,) = unlink(path_sums(one_by_one(nodes_of(*TOLD), said), said, {104})[5].marks)
    assert (mark.message_index, mark.reading.sort, mark.reading.spans) == (1, Sort.USER, ())


def test_the_fold_stands_where_a_walk_over_the_messages_ends() -> None:
    sums = path_sums(one_by_one(nodes_of(*TOLD), READINGS), READINGS)
    assert verdict(sums[5].stand).state is McsState.UNDECIDABLE
    assert verdict(sums[8].stand) == McsVerdict(
        McsState.ON, "Message 4 is a system message behind the prefix.", 4
    )


def test_the_head_ends_with_the_last_leading_system_message() -> None:
    sums = path_sums(one_by_one(nodes_of(*TOLD), READINGS), READINGS)
    assert [sums[i].head for i in (2, 3, 8)] == [0, 3, 3]
    hidden = sums_of(Made(1, part=Part.GAP), Made(2, 1, Part.HISTORY, 1))
    assert (hidden[2].head, hidden[2].whole) == (GAP_AT_HEAD, False)
    assert sums[8].whole


def test_a_gap_for_unknown_tools_hides_no_message() -> None:
    sums = sums_of(Made(1, None, Part.GAP, None, role=""), Made(2, 1, Part.HISTORY, 0))
    assert unlink(sums[2].tools) == [101]
    assert (sums[2].whole, sums[2].head) == (True, 0)


def test_lists_share_their_beginning() -> None:
    sums = path_sums(one_by_one(nodes_of(*TOLD), READINGS), READINGS)
    assert sums[2].tools == Link(102, sums[1].tools)
    assert sums[8].tools is sums[2].tools
    assert sums[8].marks is not None and sums[8].marks.before is sums[6].marks


def test_a_leg_of_several_blocks_sums_up_as_its_blocks_do() -> None:
    made = (
        Made(1, None, Part.SYSTEM, 0, role="system"),
        Made(2, 1, message=1),
        Made(3, 2, message=2, role="assistant", tokens=None),
        Made(4, 3, message=2, block=1, role="assistant"),
        Made(5, 4, message=3, role="tool"),
    )
    legs = one_by_one(nodes_of(*made))
    together = put_together(legs, {5})
    assert [(leg.id, leg.parent_id, leg.plain) for leg in together] == [
        (1, None, ""),
        (5, 1, "uaAt"),
    ]
    slow, fast = path_sums(legs)[5], path_sums(together)[5]
    assert fast.roles == slow.roles == {"system": 1, "user": 1, "assistant": 1, "tool": 1}
    assert (fast.depth, fast.total_tokens, fast.uncounted) == (5, 49, 1)
    assert (fast.blocks, fast.chars, fast.tokens) == (slow.blocks, slow.chars, slow.tokens)
    assert (fast.before, fast.stand) == (slow.before, slow.stand)


def test_the_last_node_that_two_prompts_share() -> None:
    #   1 - 2 - 3 - 4     and 2 - 5, and 6 on its own
    made = (Made(1), Made(2, 1), Made(3, 2), Made(4, 3), Made(5, 2), Made(6))
    tree = tree_of(nodes_of(*made))
    pairs = [(4, 4, 4), (5, 4, 2), (3, 5, 2), (4, 3, 3), (6, 4, None), (2, 6, None), (1, 2, 1)]
    assert [(a, b, tree.shared(a, b)) for a, b, _ in pairs] == pairs


def test_nothing_has_no_size() -> None:
    assert tree_of(nodes_of(Made(1))).sizes(None) is EMPTY
