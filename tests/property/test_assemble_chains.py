"""Sums and walks over any tree of prompts, against lists of the whole paths."""

from itertools import pairwise
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from tests.legs import ends_of, one_by_one, put_together, tree_of
from tracer.anatomy.mcs import verdict
from tracer.anatomy.messages import BlockReading
from tracer.anatomy.reminders import ReminderSpan
from tracer.assemble.attempts import AttemptFacts, group_attempts
from tracer.assemble.chains import (
    PARTS,
    ChainNode,
    path_sums,
    unlink,
)
from tracer.model.prompt import Part

ROLES = ("", "system", "user", "assistant", "tool")
SIZES = st.integers(0, 99)


class Tree(NamedTuple):
    """Nodes with parents before their children, and each block's own estimate and characters."""

    nodes: list[ChainNode]
    own: dict[int, tuple[int, int]]

    def path(self, tip: int | None) -> list[ChainNode]:
        """The prompt that ends with a node, the slow way."""
        found = []
        while tip is not None:
            found.append(self.nodes[tip - 1])
            tip = self.nodes[tip - 1].parent_id
        return found[::-1]


@st.composite
def trees(draw: st.DrawFn, max_nodes: int = 24) -> Tree:
    """Several roots, several tips; mostly a node follows the one before, so paths are long."""
    tree = Tree([], {})
    sums: dict[int | None, tuple[int, int]] = {None: (0, 0)}
    for id_ in range(1, draw(st.integers(1, max_nodes)) + 1):
        parents = [None, *range(1, id_), *[id_ - 1] * id_] if id_ > 1 else [None]
        parent = draw(st.sampled_from(parents))
        chars, estimate = tree.own[id_] = draw(SIZES), draw(SIZES)
        sums[id_] = sums[parent][0] + chars, sums[parent][1] + estimate
        block = 100 + id_
        tree.nodes.append(
            ChainNode(
                id_,
                parent,
                block,
                draw(st.none() | st.integers(0, 9)),
                draw(st.integers(0, 1)),
                draw(st.sampled_from(Part)),
                draw(st.sampled_from(ROLES)),
                *sums[id_],
                draw(st.none() | SIZES),
            )
        )
    return tree


@given(trees())
def test_sums_are_those_of_the_whole_path(tree: Tree) -> None:
    for tip, sums in path_sums(one_by_one(tree.nodes)).items():
        whole = tree.path(tip)
        tokens = [tree.own[n.id][1] if n.bpe_tokens is None else n.bpe_tokens for n in whole]
        assert sums.depth == len(whole)
        for i, part in enumerate(PARTS):
            own = [i for i, node in enumerate(whole) if node.part == part]
            assert sums.blocks[i] == len(own)
            assert sums.chars[i] == sum(tree.own[whole[at].id][0] for at in own)
            assert sums.tokens[i] == sum(tokens[at] for at in own)
        assert sums.total_tokens == sum(tokens)
        assert sums.uncounted == sum(n.bpe_tokens is None and n.part != Part.GAP for n in whole)
        starts = [n.role for n in whole if n.message_index is not None and n.block_index == 0]
        assert sums.roles == {role: starts.count(role) for role in ROLES if role and role in starts}
        of_tools = [n for n in whole if n.message_index is None or n.part == Part.TOOLS]
        listed = [n.block_id for n in of_tools if n.part in (Part.TOOLS, Part.GAP)]
        assert unlink(sums.tools) == listed
        hidden = any(n.part == Part.GAP and n.message_index is not None for n in whole)
        assert sums.whole is not hidden


NOTE = BlockReading((ReminderSpan("todo_reminder", 18, 40),))
TALK = (("user", 0), ("user", 1), ("assistant", 0), ("assistant", 1), ("tool", 0), ("tool", 1))


@st.composite
def talks(draw: st.DrawFn) -> tuple[list[ChainNode], dict[int, BlockReading]]:
    """Prompts of messages that mostly say nothing, as they are stored: a block goes on with the
    message of the one above, or begins the next one."""
    nodes: list[ChainNode] = []
    readings = {}
    for id_ in range(1, draw(st.integers(1, 30)) + 1):
        above = nodes[draw(st.sampled_from([-1, -1, -1, *range(len(nodes))]))] if nodes else None
        role, inside = draw(st.sampled_from(TALK))
        goes_on = bool(inside and above and above.role == role)
        index, block = 0, 0
        if above is not None and above.message_index is not None:
            index = above.message_index + (not goes_on)
            block = above.block_index + 1 if goes_on else 0
        if draw(st.integers(0, 5)) == 0:
            readings[100 + id_] = NOTE
        size = draw(SIZES)
        nodes.append(
            ChainNode(
                id_,
                above.id if above else None,
                100 + id_,
                index,
                block,
                Part.HISTORY,
                role,
                (above.cum_chars if above else 0) + size,
                (above.cum_estimate_tokens if above else 0) + size,
                draw(st.none() | SIZES),
            )
        )
    return nodes, readings


@given(talks(), st.sets(st.integers(1, 30)))
def test_plain_messages_can_be_put_together(
    talk: tuple[list[ChainNode], dict[int, BlockReading]], tips: set[int]
) -> None:
    nodes, readings = talk
    legs = one_by_one(nodes, readings)
    plain = {leg.id for leg in legs if leg.plain}
    ends = tips | ends_of(nodes, readings)
    slow, fast = path_sums(legs, readings), path_sums(put_together(legs, ends), readings)
    assert fast.keys() == {leg.id for leg in legs if leg.id in ends or leg.id not in plain}
    for id_, here in fast.items():
        there = slow[id_]
        assert (here.depth, here.total_tokens, here.uncounted, here.roles) == (
            there.depth, there.total_tokens, there.uncounted, there.roles,
        )  # fmt: skip
        assert (here.blocks, here.chars, here.tokens) == (there.blocks, there.chars, there.tokens)
        assert (here.before, here.stand, unlink(here.marks)) == (
            there.before, there.stand, unlink(there.marks),
        )  # fmt: skip


@given(talks())
def test_a_prompt_says_what_its_leg_says(
    talk: tuple[list[ChainNode], dict[int, BlockReading]],
) -> None:
    nodes, readings = talk
    tree = tree_of(nodes, readings)
    for node, sums in path_sums(one_by_one(nodes, readings), readings).items():
        told = tree.told(node)
        assert unlink(told.marks) == unlink(sums.marks)
        assert verdict(told.stand) == verdict(sums.stand)


@given(trees())
def test_any_prompt_of_a_tree_has_its_sizes(tree: Tree) -> None:
    quick = tree_of(tree.nodes)
    for node, sums in path_sums(one_by_one(tree.nodes)).items():
        sizes = quick.sizes(node)
        assert (sizes.blocks, sizes.chars, sizes.tokens) == (sums.blocks, sums.chars, sums.tokens)
        assert (sizes.roles, sizes.has_gap) == (sums.roles, sums.has_gap)
        assert (sizes.depth, sizes.total_tokens, sizes.uncounted) == (
            sums.depth, sums.total_tokens, sums.uncounted,
        )  # fmt: skip
        assert quick.depth(node) == sums.depth
        assert quick.total_tokens(node) == sums.total_tokens
        assert quick.uncounted(node) == sums.uncounted
        told = quick.told(node)
        assert (told.whole, told.head, unlink(told.tools)) == (
            sums.whole, sums.head, unlink(sums.tools),
        )  # fmt: skip


@given(trees(), st.lists(st.integers(0, 1_000), min_size=2, max_size=12))
def test_two_prompts_share_what_their_whole_paths_share(tree: Tree, steps: list[int]) -> None:
    quick = tree_of(tree.nodes)
    for one, other in pairwise(step % len(tree.nodes) + 1 for step in steps):
        both = zip(tree.path(one), tree.path(other), strict=False)
        common = [a.id for a, b in both if a is b]
        assert quick.shared(one, other) == (common[-1] if common else None)


@given(
    st.lists(
        st.tuples(
            st.integers(1, 4),
            st.sampled_from(["", "t1", "t2"]),
            st.sampled_from(["main_turn", "compact"]),
        ),
        max_size=20,
    )
)
def test_every_request_is_in_exactly_one_call(drawn: list[tuple[int, str, str]]) -> None:
    requests = [
        AttemptFacts(f"k{i}", attempt, turn, source, source != "main_turn")
        for i, (attempt, turn, source) in enumerate(drawn)
    ]
    grouped = group_attempts(requests)
    assert list(grouped) == [request.key for request in requests]
    by_key = {request.key: request for request in requests}
    calls: dict[str, list[AttemptFacts]] = {}
    for request in requests:
        calls.setdefault(grouped[request.key].call_key, []).append(request)
    for call_key, members in calls.items():
        first = by_key[call_key]
        assert members[0] is first
        assert {(m.turn_id, m.query_source) for m in members} == {
            (first.turn_id, first.query_source)
        }
        attempts = [m.attempt for m in members]
        assert attempts == sorted(set(attempts))
        assert {grouped[m.key].attempts for m in members} == {len(members)}
        assert len({grouped[m.key].step for m in members}) == 1
