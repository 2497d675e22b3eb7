"""Sums along a tree of prompts, and walking from one prompt to the next."""

from typing import NamedTuple

from tracer.assemble.chains import (
    EMPTY,
    PARTS,
    ChainNode,
    Link,
    PathWalker,
    Sums,
    labelled_blocks,
    path_sums,
    unlink,
)
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
    label: str = ""


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
    return path_sums(nodes_of(*made), {100 + m.id: m.label for m in made if m.label})


def per_part(values: list[int]) -> dict[Part, int]:
    return {part: value for part, value in zip(PARTS, values, strict=True) if value}


def test_no_nodes_have_no_sums() -> None:
    assert path_sums([], {}) == {}
    assert (EMPTY.depth, EMPTY.total_tokens, EMPTY.roles) == (0, 0, {})
    assert len(EMPTY.blocks) == len(EMPTY.chars) == len(EMPTY.tokens) == len(PARTS)


def test_a_path_is_summed_per_part() -> None:
    sums = sums_of(
        Made(1, None, Part.TOOLS, None, 100, role="", label="Read"),
        Made(2, 1, Part.SYSTEM, 0, 50, role="system"),
        Made(3, 2, Part.HISTORY, 1, 7),
        Made(4, 3, Part.HISTORY, 2, 8, role="assistant"),
    )[4]
    assert per_part(sums.tokens) == {Part.TOOLS: 100, Part.SYSTEM: 50, Part.HISTORY: 15}
    assert per_part(sums.blocks) == {Part.TOOLS: 1, Part.SYSTEM: 1, Part.HISTORY: 2}
    assert per_part(sums.chars) == {Part.TOOLS: 30, Part.SYSTEM: 30, Part.HISTORY: 60}
    assert (sums.depth, sums.total_tokens, sums.parent_id) == (4, 165, 3)


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


LABELLED = (
    Made(1, None, Part.TOOLS, None, label="Read"),
    Made(2, 1, Part.TOOLS, None, label="Bash"),
    Made(3, 2, Part.HISTORY, 0, label="not asked for"),
    Made(4, 3, Part.REMINDER, 1, label="todo"),
    Made(5, 4, Part.MCS, 2, label="mode"),
    Made(6, 5, Part.CONTEXT, 3),
)


def test_tool_names_and_marks_are_listed_in_order() -> None:
    sums = sums_of(*LABELLED)
    assert unlink(sums[6].tools) == ["Read", "Bash"]
    assert unlink(sums[6].marks) == [
        (Part.REMINDER, 1, "todo"),
        (Part.MCS, 2, "mode"),
        (Part.CONTEXT, 3, ""),
    ]
    assert unlink(sums[3].marks) == []


def test_only_blocks_that_are_listed_need_a_label() -> None:
    assert labelled_blocks(nodes_of(*LABELLED)) == [101, 102, 104, 105, 106]


def test_a_tool_without_a_name_is_not_listed() -> None:
    assert unlink(sums_of(Made(1, None, Part.TOOLS, None))[1].tools) == []


def test_lists_share_their_beginning() -> None:
    sums = sums_of(*LABELLED)
    assert sums[2].tools == Link("Bash", sums[1].tools)
    assert sums[6].tools is sums[2].tools


def test_the_walker_finds_the_deepest_shared_node() -> None:
    #   1 - 2 - 3 - 4     and 2 - 5, and 6 on its own
    tree = (Made(1), Made(2, 1), Made(3, 2), Made(4, 3), Made(5, 2), Made(6))
    walker = PathWalker(sums_of(*tree))
    steps = [(4, None), (4, 4), (5, 2), (3, 2), (4, 3), (6, None), (2, None), (1, 1)]
    assert [(node, walker.step(node)) for node, _ in steps] == steps
