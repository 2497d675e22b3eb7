"""The message list of a logged request body beside the canonical one: counts, and a sentence."""

from collections.abc import Iterator, Sequence
from itertools import groupby

import msgspec

from tracer.model.anatomy_views import WireView
from tracer.model.prompt import Kind, Tier
from tracer.model.views import RequestSummary
from tracer.store.prompts import BlockRow
from tracer.words import plural

# What the serialisers of providers make of the roles that they do not have.
_WIRE_ROLES = {"tool": "user"}


class _Summary(msgspec.Struct):
    form: str
    kind: str
    offset: int
    count: int
    messages: int
    roles: dict[str, int]
    blocks: int
    markers: list[tuple[int, int]]
    digest: str


_decode = msgspec.json.Decoder(_Summary).decode


def wire_view(
    wire_json: str, request: RequestSummary, blocks: Sequence[BlockRow]
) -> WireView | None:
    """What `requests.wire_json` tells, beside the prompt; None where no such list was logged."""
    if not wire_json:
        return None
    found = _decode(wire_json)
    wire = found.form == "wire"
    tiers = (Tier.MESSAGES,) if wire else (Tier.SYSTEM, Tier.MESSAGES)
    canonical = _message_count(request, blocks, without_system=wire)
    markers = sum(marker.tier in tiers for marker in request.markers)
    return WireView(
        form=found.form,
        window=found.kind,
        messages=found.count,
        logged=found.messages,
        roles=found.roles,
        blocks=found.blocks,
        markers=len(found.markers),
        canonical_messages=canonical,
        canonical_markers=markers,
        digest=found.digest,
        words=_words(found, canonical, markers, _runs(blocks) if wire else None),
    )


def _message_count(
    request: RequestSummary, blocks: Sequence[BlockRow], *, without_system: bool
) -> int | None:
    """The canonical messages that the body's list stands for."""
    if request.message_count is None or not without_system:
        return request.message_count
    system = {b.message_index for b in blocks if b.tier == Tier.SYSTEM}
    return max(request.message_count - len(system - {None}), 0)


def _runs(blocks: Sequence[BlockRow]) -> int | None:
    """How many messages are left where neighbours of one wire role become one; None where some
    message is not known."""
    if any(b.kind == Kind.GAP for b in blocks):
        return None
    return sum(1 for _ in groupby(_roles(blocks)))


def _roles(blocks: Sequence[BlockRow]) -> Iterator[str]:
    for block in blocks:
        if block.tier == Tier.MESSAGES and block.block_index == 0:
            yield _WIRE_ROLES.get(block.role, block.role)


def _words(found: _Summary, canonical: int | None, markers: int, runs: int | None) -> str:
    wire = found.form == "wire"
    name = "wire" if wire else "SDK"
    messages = plural(found.count, f"{name} message")
    if canonical is not None:
        messages += f" for {plural(canonical, 'canonical one')}"
    if wire and canonical is not None and found.count < canonical:
        merged = found.count == runs
        messages += ": " + (
            "neighbours of one role were merged" if merged else "the log does not tell why"
        )
    there = "on the wire" if wire else "in the SDK's list"
    marked = f"{plural(len(found.markers), 'marker')} {there}"
    if found.messages < found.count:
        marked += f" (only {found.messages:,} of its messages are in this record)"
    words = f"{messages}; {marked}, {markers:,} in the canonical list"
    return words if wire else f"SDK form, not the wire: {words}"
