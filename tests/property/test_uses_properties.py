"""Who sent a block: one pass over all nodes says the same as walking every prompt."""

from hypothesis import given
from hypothesis import strategies as st

from tracer.assemble.uses import Forest, Use


@st.composite
def forests(draw: st.DrawFn) -> tuple[list[tuple[int, int, int]], list[tuple[int, int]]]:
    """Nodes (id, parent, block) with gaps in their ids, and requests (session, last node)."""
    nodes: list[tuple[int, int, int]] = []
    at = 0
    for _ in range(draw(st.integers(1, 25))):
        at += draw(st.integers(1, 3))
        parent = draw(st.sampled_from([0, *(node for node, _, _ in nodes)]))
        nodes.append((at, parent, draw(st.integers(1, 6))))
    ids = st.sampled_from([node for node, _, _ in nodes])
    return nodes, draw(st.lists(st.tuples(st.integers(1, 3), ids), max_size=12))


def walked(nodes: list[tuple[int, int, int]], tip: int) -> list[int]:
    """The blocks of a prompt, the last first."""
    known = {node: (parent, block) for node, parent, block in nodes}
    found = []
    while tip:
        tip, block = known[tip]
        found.append(block)
    return found


@given(forests(), st.dictionaries(st.integers(1, 7), st.integers(1, 3), min_size=1))
def test_uses_are_those_of_walking_every_prompt(
    made: tuple[list[tuple[int, int, int]], list[tuple[int, int]]], wanted: dict[int, int]
) -> None:
    nodes, requests = made
    forest = Forest()
    half = len(nodes) // 2
    forest.grow(nodes[:half])
    forest.grow(nodes[half:])
    expected: dict[int, dict[int, list[int]]] = {group: {} for group in wanted.values()}
    for order, (session, tip) in enumerate(requests):
        for group in {wanted[b] for b in walked(nodes, tip) if b in wanted}:
            expected[group].setdefault(session, []).append(order)
    found = forest.uses(wanted, requests)
    assert {g: dict(map(told, own.items())) for g, own in found.items()} == {
        g: {s: (len(orders), orders[0], orders[-1]) for s, orders in own.items()}
        for g, own in expected.items()
    }


def told(item: tuple[int, Use]) -> tuple[int, tuple[int, int, int]]:
    session, use = item
    return session, (use.times, use.first.order, use.last.order)


@given(forests(), st.integers(1, 6))
def test_the_place_of_a_block_is_where_it_stands_first(
    made: tuple[list[tuple[int, int, int]], list[tuple[int, int]]], block: int
) -> None:
    nodes, _ = made
    forest = Forest()
    forest.grow(nodes)
    for tip, _, _ in nodes:
        blocks = walked(nodes, tip)[::-1]
        path = forest.path(tip)
        assert [forest.block(node) for node in path] == blocks
        node = forest.node_on_path(tip, (block,))
        assert (path.index(node) if node else -1) == (
            blocks.index(block) if block in blocks else -1
        )
    assert forest.blocks_of(node for node, _, _ in nodes) == {b for _, _, b in nodes}


def test_another_database_is_noticed() -> None:
    forest = Forest()
    assert not forest.knows([])
    forest.grow([(1, 0, 5), (2, 1, 6)])
    assert forest.knows([(2, 1, 6)])
    assert not forest.knows([(2, 1, 7)])
    assert not forest.knows([(3, 1, 7)])
