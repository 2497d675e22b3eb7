"""The blocks of a request's prompt as rows that can be unfolded, page by page."""

from collections.abc import Collection
from dataclasses import dataclass

from tracer.model.views import BlockView, RequestDetail
from tracer.service import Service
from web.filters import segment
from web.layout.prompt_map import MapPiece, map_of_blocks, map_of_parts, map_of_runs
from web.urls import request_url

PAGE_BLOCKS = 200
MOST_CHARS = 200_000


@dataclass(frozen=True, slots=True)
class BlockRow:
    """One block. `text` is None while it is folded; `cut_chars` were left out of it."""

    block: BlockView
    text: str | None
    cut_chars: int
    toggle_href: str
    toggle_fragment: str
    whole_fragment: str
    whole_href: str


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


def block_row(
    key: str, block: BlockView, page_from: int, *, opened: bool, whole: bool = False
) -> BlockRow:
    """A row; `whole` shows texts of any length."""
    fragment = f"/fragments/requests/{segment(key)}/blocks/{block.index}?blocks_from={page_from}"
    text = (block.text or "") if opened else None
    cut = 0
    if text is not None and not whole and len(text) > MOST_CHARS:
        cut = len(text) - MOST_CHARS
        text = text[:MOST_CHARS]
    folded_href = request_url(key, page_from) + f"#b{block.index}"
    opened_href = request_url(key, page_from, block.index)
    return BlockRow(
        block=block,
        text=text,
        cut_chars=cut,
        toggle_href=folded_href if opened else opened_href,
        toggle_fragment=fragment + ("&folded=1" if opened else ""),
        whole_fragment=fragment + "&whole=1",
        whole_href=opened_href.replace("#", "&whole=1#"),
    )


def block_rows(
    service: Service, detail: RequestDetail, opened: Collection[int], *, whole: bool
) -> tuple[BlockRow, ...]:
    """The rows of a page of blocks, those in `opened` with their text."""
    key = detail.request.key
    start = detail.block_from
    return tuple(
        block_row(key, service.block(key, block.index), start, opened=True, whole=whole)
        if block.index in opened
        else block_row(key, block, start, opened=False)
        for block in detail.blocks
    )


def page_start(blocks_from: int, opened: Collection[int]) -> int:
    """The first block of the page: as asked, or so that the first unfolded block is on it."""
    if blocks_from or not opened:
        return blocks_from
    return min(opened) // PAGE_BLOCKS * PAGE_BLOCKS


def load_detail(service: Service, key: str, start: int) -> RequestDetail:
    """A request with the page of blocks from `start` on; the last page where there is none."""
    detail = service.request(key, block_from=start, block_limit=PAGE_BLOCKS)
    if detail.blocks or not detail.block_total:
        return detail
    last = (detail.block_total - 1) // PAGE_BLOCKS * PAGE_BLOCKS
    return service.request(key, block_from=last, block_limit=PAGE_BLOCKS)


def pager(detail: RequestDetail) -> Pager:
    """Where this page of blocks stands in the prompt."""
    key, start = detail.request.key, detail.block_from
    end = start + len(detail.blocks)
    return Pager(
        first=start,
        last=end - 1,
        total=detail.block_total,
        earlier=request_url(key, max(0, start - PAGE_BLOCKS)) + "#blocks" if start else "",
        later=request_url(key, end) + "#blocks" if end < detail.block_total else "",
    )


def whole_map(detail: RequestDetail) -> tuple[MapLink, ...]:
    """The map of the whole prompt: a piece a block where one page holds them all, else a piece a
    run of blocks that look alike."""
    if len(detail.blocks) == detail.block_total:
        return page_map(detail)
    pieces = map_of_runs(detail.map_runs) or map_of_parts(detail.part_sizes)
    return tuple(MapLink(piece, _part_href(detail, piece)) for piece in pieces)


def page_map(detail: RequestDetail) -> tuple[MapLink, ...]:
    """The map of the blocks on this page; each piece leads to its first block."""
    return tuple(MapLink(piece, f"#b{piece.first}") for piece in map_of_blocks(detail.blocks))


def _part_href(detail: RequestDetail, piece: MapPiece) -> str:
    index = piece.first if piece.first is not None else max(0, detail.block_total - piece.blocks)
    index = min(index, max(0, detail.block_total - 1))
    return request_url(detail.request.key, index // PAGE_BLOCKS * PAGE_BLOCKS) + f"#b{index}"
