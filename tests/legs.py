"""Legs of a tree of nodes: each node one, or plain nodes that follow each other put together."""

from collections.abc import Collection, Mapping, Sequence

from tracer.anatomy.messages import BlockReading
from tracer.assemble.chains import ChainNode, Leg
from tracer.assemble.marked import PLAIN_ROLES
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
