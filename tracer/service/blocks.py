"""The blocks of a prompt as they are shown: one by one, by part, and as runs on the map."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from tracer.anatomy.calibration import CalibratedParts
from tracer.model.anatomy_views import ReminderView, SectionView
from tracer.model.prompt import Kind, Marker, Part, Tier
from tracer.model.views import BlockView, MapRun, PartSize, RequestSummary
from tracer.service.placing import KINDS, TIERS, tier_index, verified_in
from tracer.store.prompts import BlockRow
from tracer.store.reading import RequestRow
from tracer.store.sources import source_ref
from tracer.store.tokens import block_text

_Place = tuple[int | None, int | None]
"""A message and the block in it."""


@dataclass(frozen=True, slots=True)
class Around:
    """What is known of the prompt to which blocks belong. `common` blocks at its beginning are
    those of its baseline; `scaled` are the calibrated tokens of all its blocks."""

    request: RequestSummary
    row: RequestRow
    paths: Mapping[int, str]
    scaled: CalibratedParts | None
    common: int


def block_views(
    blocks: Sequence[BlockRow], around: Around, texts: dict[int, tuple[str | None, bytes | None]]
) -> tuple[BlockView, ...]:
    """Blocks of one prompt, in order; `texts` holds the text columns of those that show theirs."""
    request = around.request
    markers: dict[tuple[Tier, int, int], Marker] = {}
    for m in request.markers:
        at = m.message_index if m.message_index is not None else m.index
        markers[m.tier, at, m.block_index] = m
    system_messages = sum(1 for m in request.markers if m.tier is Tier.SYSTEM)
    sections, reminders = _by_place(request.sections), _by_place(request.reminders)
    views = []
    for block in blocks:
        tier = TIERS[block.tier]
        if tier is Tier.SYSTEM and block.message_index is not None:
            system_messages = max(system_messages, block.message_index + 1)
        at = block.message_index if block.message_index is not None else block.block_index
        inner = block.block_index if block.message_index is not None else 0
        place = block.message_index, inner
        views.append(
            _view(
                block,
                around,
                tier_index=tier_index(block, tier, system_messages),
                marker=markers.get((tier, at, inner)),
                sections=sections.get(place, ()),
                reminders=reminders.get(place, ()),
                text=block_text(*texts[block.block_id]) if block.block_id in texts else None,
            )
        )
    return tuple(views)


def _view(
    block: BlockRow,
    around: Around,
    *,
    tier_index: int,
    marker: Marker | None,
    sections: tuple[str, ...],
    reminders: tuple[str, ...],
    text: str | None,
) -> BlockView:
    tier, scaled = TIERS[block.tier], around.scaled
    calibrated = block.bpe_tokens is not None and scaled is not None and scaled.factor is not None
    return BlockView(
        index=block.depth,
        tier=tier,
        tier_index=tier_index,
        message_index=block.message_index,
        block_index=block.block_index if block.message_index is not None else 0,
        role=block.role,
        kind=KINDS[block.kind],
        part=Part(block.part),
        name=block.name,
        call_id=block.call_id,
        chars=block.chars,
        bytes=block.bytes,
        tokens_bpe=block.bpe_tokens,
        tokens_bpe_exact=bool(block.exact),
        tokens_estimate=block.estimate_tokens,
        tokens_calibrated=scaled.parts[block.depth] if calibrated and scaled else None,
        wire_hash=block.wire_hash.hex(),
        marker=marker,
        verified=verified_in(block, tier, around.row),
        new=block.depth >= around.common,
        preview=block.preview,
        first_seen=source_ref(around.paths, block.source_id, block.line, block.offset_bytes),
        extra_json=block.extra_json,
        span_messages=block.span_messages,
        text=text,
        section=sections[0] if len(sections) == 1 else "",
        sections=sections,
        reminders=reminders,
    )


def _by_place(
    items: Iterable[SectionView] | Iterable[ReminderView],
) -> dict[_Place, tuple[str, ...]]:
    """The sources of what stands in each block."""
    found: dict[_Place, tuple[str, ...]] = {}
    for item in items:
        if item.message_index is not None:
            place = item.message_index, item.block_index
            found[place] = (*found.get(place, ()), item.source)
    return found


def prompt_parts(blocks: Sequence[BlockRow], common: int) -> tuple[PartSize, ...]:
    """The sizes of a prompt's parts; its first `common` blocks are those of its baseline."""
    sizes = []
    for part in Part:
        own = [b for b in blocks if b.part == part]
        if not own:
            continue
        tokens = [b.bpe_tokens if b.bpe_tokens is not None else b.estimate_tokens for b in own]
        new = sum(t for b, t in zip(own, tokens, strict=True) if b.depth >= common)
        counted = all(b.bpe_tokens is not None or b.kind == Kind.GAP for b in own)
        sizes.append(PartSize(part, len(own), sum(b.chars for b in own), sum(tokens), new, counted))
    return tuple(sizes)


def map_runs(blocks: Sequence[BlockRow], row: RequestRow, common: int) -> tuple[MapRun, ...]:
    """The whole prompt in order, neighbours that look alike taken together."""
    runs = []
    looks = groupby(
        blocks,
        key=lambda b: (b.part, b.depth >= common, verified_in(b, TIERS[b.tier], row)),
    )
    for (part, new, verified), alike in looks:
        own = list(alike)
        tokens = sum(b.estimate_tokens if b.bpe_tokens is None else b.bpe_tokens for b in own)
        runs.append(MapRun(Part(part), own[0].depth, len(own), tokens, new, verified))
    return tuple(runs)
