"""The conversation of a request: a row a message, with the notes that the agent put into it."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from tracer.errors import NotFoundError
from tracer.model.prompt import Kind, Tier
from tracer.model.views import BlockView, RequestDetail
from tracer.words import plural
from web.blocks import MOST_CHARS, is_prefix
from web.filters import num
from web.layout.marks import Piece, Span, cut
from web.layout.prompt_map import block_tokens
from web.urls import part_fragment, request_url, unfolded_url

_VIA = {
    "reminder": "a tagged message of its own", "mcs": "a mid-conversation system message",
    "inline": "inside a tool's result",
}  # fmt: skip
_TRUST = {
    "tagged": "the whole text is one tag pair", "system": "only the runtime can give this role",
    "place": "it stands where the runtime would put it, but a tool may have printed it",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Badge:
    """A word about a message; `css` is its kind, `title` says more."""

    css: str
    text: str
    title: str


@dataclass(frozen=True, slots=True)
class BlockText:
    """One block of an unfolded message; `cut_chars` were left out."""

    block: BlockView
    pieces: tuple[Piece, ...]
    cut_chars: int
    href: str


@dataclass(frozen=True, slots=True)
class MessageRow:
    """One message. `lead` is the block whose first line stands for it, `more` names the others;
    `state` is `new`, `changed` or empty. `texts` is None while it is folded."""

    index: int
    last: int
    lead: BlockView
    more: str
    tokens: int
    counted: bool
    calibrated: int | None
    state: str
    badges: tuple[Badge, ...]
    texts: tuple[BlockText, ...] | None
    toggle_href: str
    toggle_fragment: str


def conversation(
    detail: RequestDetail, head: int, opened: Collection[int]
) -> tuple[MessageRow, ...]:
    """The messages of the page behind the first `head` blocks, those in `opened` unfolded."""
    blocks = [
        block
        for block in detail.blocks
        if block.tier is not Tier.TOOLS and (block.index >= head or not is_prefix(block))
    ]
    same = _last_same(detail)
    return tuple(_row(detail, group, index in opened, same) for index, group in _groups(blocks))


def message_row(detail: RequestDetail, index: int, *, opened: bool) -> MessageRow:
    """One message of the page. Raises NotFoundError where the page does not hold it."""
    blocks = [block for block in detail.blocks if block.message_index == index]
    if not blocks:
        raise NotFoundError(f"Request {detail.request.key} has no message {index} on this page.")
    return _row(detail, blocks, opened, _last_same(detail))


def _groups(blocks: Sequence[BlockView]) -> Iterator[tuple[int, list[BlockView]]]:
    for index, group in groupby(blocks, key=lambda block: block.message_index or 0):
        yield index, list(group)


def _last_same(detail: RequestDetail) -> int:
    """The last block that the baseline has, too: what is new before it was changed or put in."""
    ends = [run.first_index + run.blocks - 1 for run in detail.map_runs if not run.new]
    return max(ends, default=max((b.index for b in detail.blocks if not b.new), default=-1))


def _row(
    detail: RequestDetail, blocks: Sequence[BlockView], opened: bool, last_same: int
) -> MessageRow:
    key = detail.request.key
    index = blocks[0].message_index or 0
    lead = next((b for b in blocks if b.kind is Kind.TEXT and b.preview.strip()), blocks[0])
    new = any(block.new for block in blocks)
    fragment = part_fragment(key, "messages", index)
    start = detail.block_from
    calibrated = [b.tokens_calibrated for b in blocks]
    return MessageRow(
        index=index,
        last=index + max(block.span_messages for block in blocks) - 1,
        lead=lead,
        more=_others(lead, blocks),
        tokens=sum(map(block_tokens, blocks)),
        counted=all(block.tokens_bpe is not None for block in blocks),
        calibrated=None if None in calibrated else sum(c for c in calibrated if c is not None),
        state="" if not new else "changed" if blocks[-1].index < last_same else "new",
        badges=tuple(_badges(detail, blocks, index)),
        texts=_texts(detail, blocks) if opened else None,
        toggle_href=request_url(key, start) + f"#m{index}"
        if opened
        else unfolded_url(key, "message", index, start),
        toggle_fragment=f"{fragment}?blocks_from={start}" + ("&folded=1" if opened else ""),
    )


def _others(lead: BlockView, blocks: Sequence[BlockView]) -> str:
    """What a message holds beside its leading block: 2 tool calls Read, Grep; 1 reasoning."""
    words = []
    others = sorted((b for b in blocks if b is not lead), key=lambda block: block.kind.value)
    for kind, group in groupby(others, key=lambda block: block.kind):
        found = list(group)
        names = ", ".join(dict.fromkeys(block.name for block in found if block.name))
        words.append(f"{plural(len(found), kind.value.replace('_', ' '))} {names}".strip())
    return "; ".join(words)


def _badges(detail: RequestDetail, blocks: Sequence[BlockView], index: int) -> Iterator[Badge]:
    """Everything to know about a message at a glance, the agent's own notes first."""
    request, anatomy = detail.request, detail.anatomy
    merged = [item for item in request.mcs if item.message_index == index]
    for item in merged:
        sources = _counted(item.sources)
        text = sources if request.segments is not None else f"MCS {sources}"
        yield Badge("mcs", text, f"mid-conversation system message: {sources}")
    for note in request.reminders:
        if note.message_index != index or (note.via == "mcs" and merged):
            continue
        name = " or ".join((note.source, *note.ambiguous_with))
        words = [_VIA.get(note.via, note.via), _TRUST.get(note.trust, "")]
        if note.ambiguous_with:
            words.append("ambiguous: these sources open alike")
        if not note.counted:
            words.append("not counted as a reminder")
        if note.presentation:
            words.append(f"presented as {note.presentation}")
        css = "reminder" if note.counted else "unsure"
        yield Badge(css, name, "; ".join(word for word in words if word))
    for demoted in anatomy.demoted if anatomy else ():
        if demoted.message_index == index:
            yield Badge("demoted", f"demoted {_counted(demoted.sources)}", demoted.reason)
    tags = [t for t in (anatomy.unverified if anatomy else ()) if t.message_index == index]
    if tags:
        count = f" × {num(len(tags))}" if len(tags) > 1 else ""
        yield Badge("unsure", "unverified origin" + count, "; ".join({t.why: "" for t in tags}))
    for block in blocks:
        if block.marker:
            ttl = f" {block.marker.ttl}" if block.marker.ttl else ""
            yield Badge("marker", "marker" + ttl, "cache breakpoint")
    if any(not b.verified and b.kind is not Kind.GAP for b in blocks):
        why = "taken over from other records: this request's own record does not prove it"
        yield Badge("carried", "carried", why)


def _counted(sources: Sequence[str]) -> str:
    """Names in order, those that occur more often with their number: hook_context × 2 + todo."""
    counts = Counter(sources)
    return " + ".join(f"{name} × {n}" if n > 1 else name for name, n in counts.items())


def _texts(detail: RequestDetail, blocks: Sequence[BlockView]) -> tuple[BlockText, ...]:
    """The texts of a message with its notes marked in place."""
    texts = []
    for block in blocks:
        whole = block.text or ""
        pieces = cut(whole[:MOST_CHARS], tuple(_spans(detail, block)))
        href = request_url(detail.request.key, block=block.index)
        texts.append(BlockText(block, pieces, max(0, len(whole) - MOST_CHARS), href))
    return tuple(texts)


def _spans(detail: RequestDetail, block: BlockView) -> Iterator[Span]:
    place = (block.message_index, block.block_index)
    for note in detail.request.reminders:
        if note.prompt_index == block.index:
            css = "reminder" if note.counted else "unsure"
            name = " or ".join((note.source, *note.ambiguous_with))
            yield Span(note.start_char, note.end_char, css, name)
    for tag in detail.anatomy.unverified if detail.anatomy else ():
        if (tag.message_index, tag.block_index) == place:
            yield Span(tag.start_char, tag.end_char, "unsure", f"unverified origin: {tag.why}")
