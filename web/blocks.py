"""The blocks of a request's prompt as rows that can be unfolded, page by page."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from tracer.model.prompt import Part, Tier
from tracer.model.unfolded import Unfolded
from tracer.model.views import BlockView, RequestDetail
from tracer.service import Service
from web.layout.marks import Piece, Span, cut
from web.layout.prompt_map import MapPiece, map_of_blocks, map_of_parts, map_of_runs
from web.urls import block_text_url, part_fragment, request_url

PAGE_BLOCKS = 200
MOST_CHARS = 200_000
MARGIN_CHARS = 2_000
_PREFIX = (Part.TOOLS, Part.SYSTEM, Part.CONTEXT)


@dataclass(frozen=True, slots=True)
class BlockRow:
    """One block. `text` is None while it is folded, else stands in `pieces`, some of them marked;
    `cut_chars` were left out of it. `anchored` tells that a mark was asked for and not found: then
    the text as a whole is what the address leads to."""

    block: BlockView
    text: str | None
    pieces: tuple[Piece, ...]
    cut_chars: int
    toggle_href: str
    toggle_fragment: str
    whole_fragment: str
    whole_href: str
    copy_href: str
    anchored: bool = False


@dataclass(frozen=True, slots=True)
class MapLink:
    """A piece of the prompt map with the address of its first block."""

    piece: MapPiece
    href: str


@dataclass(frozen=True, slots=True)
class Pager:
    """Which blocks are shown, and the addresses of those before and after; empty where none."""

    first: int
    last: int
    total: int
    earlier: str
    later: str


@dataclass(frozen=True, slots=True)
class BlockState:
    """How blocks are shown: those in `opened` with their text, `whole` whatever its length; `raw`
    with all other blocks of the page, `mark` naming what is marked in the text."""

    opened: frozenset[int] = frozenset()
    whole: bool = False
    raw: bool = False
    mark: str = ""


def block_row(
    key: str,
    block: BlockView,
    page_from: int,
    state: BlockState,
    spans: tuple[Span, ...] = (),
) -> BlockRow:
    """A row in a state, with spans of its text marked."""
    opened = block.index in state.opened
    fragment = f"{part_fragment(key, 'blocks', block.index)}?blocks_from={page_from}"
    fragment += "&raw=1" if state.raw else ""
    text = (block.text or "") if opened else None
    left = 0
    if text is not None and not state.whole:
        most = (
            max(MOST_CHARS, *(span.end + MARGIN_CHARS for span in spans)) if spans else MOST_CHARS
        )
        left = max(0, len(text) - most)
        text = text[:most]
    pieces = () if text is None else cut(text, spans)
    folded_href = request_url(key, page_from, raw=state.raw) + f"#b{block.index}"
    opened_href = request_url(key, page_from, block.index, raw=state.raw)
    return BlockRow(
        block=block,
        text=text,
        pieces=pieces,
        cut_chars=left,
        toggle_href=folded_href if opened else opened_href,
        toggle_fragment=fragment + ("&folded=1" if opened else ""),
        whole_fragment=fragment + "&whole=1",
        whole_href=opened_href.replace("#", "&whole=1#"),
        copy_href=block_text_url(key, block.index),
        anchored=opened and bool(state.mark) and not any(piece.anchor for piece in pieces),
    )


def block_rows(
    detail: RequestDetail,
    state: BlockState,
    spans_of: Callable[[BlockView], tuple[Span, ...]],
) -> tuple[BlockRow, ...]:
    """The unfolded blocks of a page, and around them the others if raw."""
    return tuple(
        block_row(
            detail.request.key, block, detail.block_from, state,
            spans_of(block) if state.mark and block.index in state.opened else (),
        )
        for block in detail.blocks
        if state.raw or block.index in state.opened
    )  # fmt: skip


def page_start(blocks_from: int, opened: Collection[int]) -> int:
    """The first block of the page: as asked, or so that the first unfolded block is on it."""
    if blocks_from or not opened:
        return blocks_from
    return min(opened) // PAGE_BLOCKS * PAGE_BLOCKS


def load_detail(service: Service, key: str, start: int, shown: Unfolded) -> RequestDetail:
    """A request with the page of blocks from `start` on; the last page where there is none. The
    texts are those that are shown: masking them all would take longer than all the rest."""
    detail = service.request(key, block_from=start, block_limit=PAGE_BLOCKS, text=shown)
    if detail.blocks or not detail.block_total:
        return detail
    last = (detail.block_total - 1) // PAGE_BLOCKS * PAGE_BLOCKS
    return service.request(key, block_from=last, block_limit=PAGE_BLOCKS, text=shown)


def pager(detail: RequestDetail, *, raw: bool) -> Pager:
    """Where this page of blocks stands in the prompt."""
    anchor = "#blocks" if raw else "#conversation"
    key, start = detail.request.key, detail.block_from
    end = start + len(detail.blocks)
    return Pager(
        first=start,
        last=end - 1,
        total=detail.block_total,
        earlier=request_url(key, max(0, start - PAGE_BLOCKS), raw=raw) + anchor if start else "",
        later=request_url(key, end, raw=raw) + anchor if end < detail.block_total else "",
    )


def whole_map(detail: RequestDetail) -> tuple[MapLink, ...]:
    """The map of the whole prompt: a piece a block where one page holds them all, else a piece a
    run of blocks that look alike."""
    if len(detail.blocks) == detail.block_total:
        return page_map(detail)
    pieces = map_of_runs(detail.map_runs) or map_of_parts(detail.part_sizes)
    return tuple(MapLink(piece, _part_href(detail, piece)) for piece in pieces)


def page_map(detail: RequestDetail) -> tuple[MapLink, ...]:
    """The map of the blocks on this page; each piece leads to where its first block is listed."""
    blocks = {block.index: block for block in detail.blocks}
    return tuple(
        MapLink(piece, "#" + anchor(blocks[piece.first or 0]))
        for piece in map_of_blocks(detail.blocks)
    )


def anchor(block: BlockView) -> str:
    """Where a block is listed: the tools, the prefix, or its message."""
    if block.tier is Tier.TOOLS:
        return "tools"
    if is_prefix(block):
        return f"p{block.index}"
    return f"m{block.message_index}"


def is_prefix(block: BlockView) -> bool:
    """Whether a block belongs to what is rebuilt for every turn, before the conversation."""
    return block.part in _PREFIX


def _part_href(detail: RequestDetail, piece: MapPiece) -> str:
    """The page that holds the first block of a piece, at the block where that is known."""
    index = piece.first if piece.first is not None else max(0, detail.block_total - piece.blocks)
    index = min(index, max(0, detail.block_total - 1))
    page = index // PAGE_BLOCKS * PAGE_BLOCKS
    here = next((block for block in detail.blocks if block.index == index), None)
    return request_url(detail.request.key, page) + f"#{anchor(here) if here else 'conversation'}"
