"""The prefix of a request as its sections, in the prompt's order, each unfolding to its text."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from tracer.errors import NotFoundError
from tracer.model.anatomy_views import InstructionFileView, ReminderView, SectionView
from tracer.model.prompt import Tier
from tracer.model.views import BlockView, RequestDetail
from web.blocks import MOST_CHARS, is_prefix
from web.layout.marks import Span, first_line
from web.urls import compare_url, marked_url, part_fragment, request_url, unfolded_url

_RANGE = re.compile(r"(\d{1,9})-(\d{1,9})")
_NUMBERED = re.compile(r" \(\d+\)$")


@dataclass(frozen=True, slots=True)
class FileRow:
    """An instruction file inside a section, with the address of its text."""

    file: InstructionFileView
    href: str


@dataclass(frozen=True, slots=True)
class SectionRow:
    """A section. `block` is None where it is not on the page; `whole` tells that it fills its
    block, whose token counts are then its own. `text` is None while it is folded."""

    index: int
    section: SectionView
    block: BlockView | None
    first_in_block: bool
    whole: bool
    line: str
    files: tuple[FileRow, ...]
    text: str | None
    cut_chars: int
    toggle_href: str
    toggle_fragment: str
    block_href: str
    compare_href: str


@dataclass(frozen=True, slots=True)
class BareBlock:
    """A block of the prefix in which no section was recognised."""

    block: BlockView
    href: str


@dataclass(frozen=True, slots=True)
class ToolLink:
    """A tool's schema; `href` is empty where its block is not on the page."""

    name: str
    block: BlockView | None
    href: str


@dataclass(frozen=True, slots=True)
class Prefix:
    """Everything before the conversation. On a page of later blocks it is only named: `elsewhere`
    leads to it."""

    elsewhere: str
    tools: tuple[ToolLink, ...]
    tool_blocks: tuple[BlockView, ...]
    rows: tuple[SectionRow | BareBlock, ...]
    unlocated: tuple[SectionRow, ...] = field(default=())


def head_blocks(detail: RequestDetail) -> tuple[BlockView, ...]:
    """The blocks before the conversation; none where the page does not begin with them."""
    if detail.block_from:
        return ()
    blocks = detail.blocks
    return blocks[: next((i for i, b in enumerate(blocks) if not is_prefix(b)), len(blocks))]


def make_prefix(
    detail: RequestDetail, head: Sequence[BlockView], opened: Collection[int]
) -> Prefix:
    """The prefix; the sections whose number is in `opened` with their text."""
    if detail.block_from:
        return Prefix(request_url(detail.request.key) + "#prefix", (), (), ())
    at = {block.index: block for block in (*detail.blocks, *head)}
    located: dict[int, list[SectionRow]] = {}
    behind: list[SectionRow] = []
    unlocated: list[SectionRow] = []
    inside = {block.index for block in head}
    for index in range(len(detail.request.sections)):
        row = section_row(detail, index, at, opened=index in opened)
        if row.block is not None and row.block.index in inside:
            located.setdefault(row.block.index, []).append(row)
        else:
            (unlocated if row.section.message_index is None else behind).append(row)
    tools = tuple(b for b in head if b.tier is Tier.TOOLS)
    return Prefix(
        elsewhere="",
        tools=_tools(detail, tools),
        tool_blocks=tools,
        rows=(*_in_order(detail.request.key, head, located), *behind),
        unlocated=tuple(unlocated),
    )


def _in_order(
    key: str, head: Sequence[BlockView], located: dict[int, list[SectionRow]]
) -> Iterator[SectionRow | BareBlock]:
    for block in head:
        if block.tier is not Tier.TOOLS:
            rows = sorted(located.get(block.index, ()), key=lambda r: r.section.start_char or 0)
            yield from rows or (BareBlock(block, request_url(key, block=block.index)),)


def _tools(detail: RequestDetail, blocks: Sequence[BlockView]) -> tuple[ToolLink, ...]:
    key = detail.request.key
    if blocks:
        return tuple(ToolLink(b.name, b, request_url(key, block=b.index)) for b in blocks)
    return tuple(ToolLink(name, None, "") for name in detail.request.tools)


def section_row(
    detail: RequestDetail, index: int, at: dict[int, BlockView], *, opened: bool
) -> SectionRow:
    """One section; `at` holds blocks by their index. Raises NotFoundError where there is none."""
    request = detail.request
    if not 0 <= index < len(request.sections):
        raise NotFoundError(f"Request {request.key} has no section {index}.")
    section = request.sections[index]
    block = None if section.prompt_index is None else at.get(section.prompt_index)
    start, end = section.start_char or 0, section.end_char
    text = None
    if block is not None and opened:
        text = (block.text or "")[start:end]
    url = unfolded_url(request.key, "section", index)
    fragment = part_fragment(request.key, "sections", index)
    return SectionRow(
        index=index,
        section=section,
        block=block,
        first_in_block=not any(
            other.prompt_index == section.prompt_index and (other.start_char or 0) < start
            for other in request.sections
        ),
        whole=block is not None and _fills(section, block),
        line=_first_line(block, start, end),
        files=_files(detail, section),
        text=text and text[:MOST_CHARS],
        cut_chars=max(0, len(text or "") - MOST_CHARS),
        toggle_href=f"{request_url(request.key)}#s{index}" if opened else url,
        toggle_fragment=fragment + ("?folded=1" if opened else ""),
        block_href=marked_url(request.key, block.index, f"{start}-{end}") if block else "",
        compare_href=compare_url(detail.baseline_key, request.key, section.prompt_index)
        if section.changed and detail.baseline_key
        else "",
    )


def _fills(section: SectionView, block: BlockView) -> bool:
    """Whether a section is all of its block, but for the tag around it."""
    tags = len("<system-reminder></system-reminder>") + 3
    return section.chars is not None and section.chars >= block.chars - tags


def _first_line(block: BlockView | None, start: int, end: int | None) -> str:
    if block is None:
        return ""
    if block.text is not None:
        return first_line(block.text[start:end])
    return "" if start else block.preview


def _files(detail: RequestDetail, section: SectionView) -> tuple[FileRow, ...]:
    """The instruction files that stand inside a section."""
    if detail.anatomy is None or section.prompt_index is None:
        return ()
    rows = []
    for file in detail.anatomy.instruction_files:
        same = (file.message_index, file.block_index) == (
            section.message_index, section.block_index
        )  # fmt: skip
        end = section.end_char or file.end_char
        if same and (section.start_char or 0) <= file.start_char < end:
            mark = f"{file.start_char}-{file.end_char}"
            rows.append(FileRow(file, marked_url(detail.request.key, section.prompt_index, mark)))
    return tuple(rows)


def marked_spans(detail: RequestDetail, block: BlockView, mark: str) -> tuple[Span, ...]:
    """What `mark` means in a block: a range of characters, or a section or reminder by name."""
    given = _RANGE.fullmatch(mark)
    if given:
        return (Span(int(given[1]), int(given[2]), "found", "", "mark"),)
    name = _NUMBERED.sub("", mark)
    items: tuple[SectionView | ReminderView, ...] = (
        *detail.request.sections, *detail.request.reminders,
    )  # fmt: skip
    found = [
        (item.start_char or 0, item.end_char)
        for item in items
        if item.source == name and item.prompt_index == block.index and item.end_char
    ]
    return tuple(
        Span(start, end, "found", name, "" if number else "mark")
        for number, (start, end) in enumerate(sorted(found))
    )
