"""Legs and trees of nodes: each node a leg, or plain nodes that follow each other put together."""

from collections.abc import Collection, Mapping, Sequence

from tracer.anatomy.messages import BlockReading
from tracer.assemble.chains import ChainNode
from tracer.assemble.marked import PLAIN_ROLES, Leg
from tracer.assemble.trees import PromptTree, Run, TreeRows
from tracer.model.prompt import Part


def is_plain(node: ChainNode, readings: Mapping[int, BlockReading]) -> bool:
    """Whether a node tells nothing but its role."""
    if node.part != Part.HISTORY or node.message_index is None or node.role not in PLAIN_ROLES:
        return False
    if node.role == "assistant":
        return True
    return node.block_id not in readings and (node.block_index == 0 or node.role != "user")


def one_by_one(
    nodes: Sequence[ChainNode], readings: Mapping[int, BlockReading] | None = None
) -> list[Leg]:
    """A leg a node, parents before children."""
    depth: dict[int | None, int] = {None: 0}
    estimate: dict[int | None, int] = {None: 0}
    legs = []
    for node in nodes:
        depth[node.id] = depth[node.parent_id] + 1
        estimate[node.id] = node.cum_estimate_tokens
        own = node.cum_estimate_tokens - estimate[node.parent_id]
        letter = PLAIN_ROLES[node.role] if is_plain(node, readings or {}) else ""
        legs.append(
            Leg(
                *node[:7],
                depth[node.id],
                node.cum_chars,
                own if node.bpe_tokens is None else node.bpe_tokens,
                int(node.bpe_tokens is None and node.part != Part.GAP),
                letter.upper() if node.block_index else letter,
            )
        )
    return legs


def put_together(legs: Sequence[Leg], ends: Collection[int]) -> list[Leg]:
    """The legs with each plain one that is none of `ends` put before the next one. Such a leg must
    have one leg that goes on from it, a plain one."""
    held: dict[int | None, Leg] = {}
    out = []
    for leg in legs:
        before = held.pop(leg.parent_id, None)
        if before is not None:
            leg = leg._replace(
                parent_id=before.parent_id,
                tokens=before.tokens + leg.tokens,
                uncounted=before.uncounted + leg.uncounted,
                plain=before.plain + leg.plain,
            )
        if leg.plain and leg.id not in ends:
            held[leg.id] = leg
        else:
            out.append(leg)
    return out


def ends_of(
    nodes: Sequence[ChainNode], readings: Mapping[int, BlockReading] | None = None
) -> set[int]:
    """The nodes after which a leg ends: where prompts end or part, before a node that tells
    something, and inside the message of such a one. Node ids count from 1."""
    told = {node.id for node in nodes if not is_plain(node, readings or {})}
    children: dict[int | None, list[int]] = {}
    for node in nodes:
        children.setdefault(node.parent_id, []).append(node.id)
    ends = set(told)
    for node in nodes:
        after = children.get(node.id, [])
        if after != [node.id + 1] or after[0] in told:
            ends.add(node.id)
        above = node
        while node.id in told and above.block_index and above.parent_id:
            above = nodes[above.parent_id - 1]
            ends.add(above.id)
    return ends


def tree_of(
    nodes: Sequence[ChainNode], readings: Mapping[int, BlockReading] | None = None
) -> PromptTree:
    """The tree of nodes whose ids count from 1."""
    runs: list[Run] = []
    for node in nodes:
        if runs and runs[-1].last == node.parent_id == node.id - 1:
            runs[-1] = runs[-1]._replace(last=node.id)
        else:
            runs.append(Run(node.id, node.id, node.parent_id))
    single = one_by_one(nodes, readings)
    ends = ends_of(nodes, readings) | {run.last for run in runs}
    return PromptTree(
        TreeRows(
            runs,
            put_together(single, ends),
            "".join(leg.plain or "u" for leg in single),
            [-1 - leg.tokens if leg.uncounted else leg.tokens for leg in single],
            [leg.cum_chars for leg in single],
        ),
        readings,
    )
