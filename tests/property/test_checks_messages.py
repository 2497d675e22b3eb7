"""The message lists that rules see are those of the chains, however prompts branch."""

from hypothesis import given
from hypothesis import strategies as st

from tracer.assemble.chains import ChainNode
from tracer.model.prompt import Block, Kind, Tier
from tracer.service.checking.messages import SessionMessages, shared_messages

# A prompt: tools, then messages, each of one or two blocks or a gap of some messages.
MESSAGE = st.tuples(st.integers(1, 4), st.integers(1, 2)) | st.tuples(st.just(0), st.integers(2, 4))
PROMPT = st.tuples(st.integers(0, 2), st.lists(MESSAGE, max_size=8))


class Tree:
    """Chains as the store keeps them: equal beginnings are the same nodes."""

    def __init__(self) -> None:
        self.nodes: dict[tuple[int | None, int, int | None, int], int] = {}
        self.blocks: dict[int, tuple[Block, bytes]] = {}
        self.rows: list[ChainNode] = []

    def add(self, tools: int, messages: list[tuple[int, int]]) -> int | None:
        """The node that ends a prompt."""
        node: int | None = None
        for number in range(tools):
            block = Block(Tier.TOOLS, "", Kind.TOOL_SCHEMA, f"tool {number}", name=f"T{number}")
            node = self._node(node, 900 + number, block, None, number)
        index = 0
        for content, size in messages:
            if content == 0:
                gap = Block(Tier.MESSAGES, "", Kind.GAP, "", span_messages=size)
                node = self._node(node, 800 + size, gap, index, 0)
                index += size
                continue
            for position in range(size):
                text = f"{content}.{size}.{position}"
                block = Block(Tier.MESSAGES, "user", Kind.TEXT, text)
                number = content * 100 + size * 10 + position
                node = self._node(node, number, block, index, position)
            index += 1
        return node

    def _node(
        self, parent: int | None, block_id: int, block: Block, index: int | None, position: int
    ) -> int:
        key = parent, block_id, index, position
        if key not in self.nodes:
            self.nodes[key] = len(self.nodes) + 1
            self.blocks[block_id] = block, str(block_id).encode()
            part = "gap" if block.kind is Kind.GAP else "history"
            self.rows.append(
                ChainNode(
                    self.nodes[key], parent, block_id, index, position, part, block.role, 0, 0, 0
                )
            )
        return self.nodes[key]


def expected(messages: list[tuple[int, int]]) -> list[tuple[str, ...]]:
    """The texts of each message, gaps as often as they span messages."""
    found: list[tuple[str, ...]] = []
    for content, size in messages:
        if content == 0:
            found += [("",)] * size
        else:
            found.append(tuple(f"{content}.{size}.{position}" for position in range(size)))
    return found


@given(st.lists(PROMPT, min_size=1, max_size=6))
def test_lists_are_those_of_the_prompts(prompts: list[tuple[int, list[tuple[int, int]]]]) -> None:
    tree = Tree()
    ends = [tree.add(*prompt) for prompt in prompts]
    session = SessionMessages(tree.rows, tree.blocks, {})
    made = []
    for end, (tools, messages) in zip(ends, prompts, strict=True):
        if end is None:
            continue
        path = session.of(end)
        texts = [tuple(b.text for b in m.blocks) for m in path.messages]
        assert texts == expected(messages)
        assert [t.name for t in path.tools.blocks] == [f"T{n}" for n in range(tools)]
        made.append(path.messages)
    known: dict[tuple[object, ...], object] = {}
    for path_messages in made:
        for message in path_messages:
            same = known.setdefault(tuple(b.text for b in message.blocks) + (message.gap,), message)
            assert same is message, "equal messages are one object"


@given(st.lists(st.integers(0, 3), max_size=12), st.lists(st.integers(0, 3), max_size=12))
def test_how_much_two_lists_share(a: list[int], b: list[int]) -> None:
    values = [object() for _ in range(4)]
    one, other = [values[i] for i in a], [values[i] for i in b]
    shared = 0
    while shared < min(len(a), len(b)) and a[shared] == b[shared]:
        shared += 1
    assert shared_messages(one, other) == shared  # type: ignore[arg-type]
