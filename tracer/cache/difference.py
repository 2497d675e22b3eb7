"""From a comparison of two prompts to what the causes need: a `Difference` in billed tokens.

Counts of blocks are scaled so that they sum to what the provider billed. The new tail, which every
step adds, is no difference.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tracer.cache.changes import HOISTED, SUMMARY, TAIL_KINDS
from tracer.masking import mask_piece
from tracer.model.comparison import Change as ComparedChange
from tracer.model.comparison import Comparison, Op, Relation, Span, TextChanges
from tracer.model.prompt import Kind, PlacedBlock, Prompt, Tier
from tracer.model.verdict import Boundary, Change, Difference

EXCERPT_CHARS = 60
_OPENING_CHARS = 400
ERROR_FRACTION = 0.2
"""How differently another tokenizer counts prose, code and tools (`tracer.cache.scale`)."""
UNSCALED_ERROR_FRACTION = 0.3
NOT_SHOWN = "messages that the log did not show"
CARRIED_OVER = "messages that the record only carries over from earlier ones"
"""Why the common prefix stops being proven."""

_STRIPPED = {
    Kind.IMAGE: "IMAGE_STRIPPED",
    Kind.VIDEO: "IMAGE_STRIPPED",
    Kind.FILE: "IMAGE_STRIPPED",
}
"""What it is where a block of a kind gave way to one of another kind."""
_KEPT = (Op.EQUAL, Op.MOVED, Op.REORDERED)


class Note(NamedTuple):
    """What an open trace says a block is: a kind, its name in words, the capability it belongs
    to."""

    kind: str = ""
    words: str = ""
    capability: str = ""


@dataclass(frozen=True, slots=True)
class Names:
    """What the blocks of the two prompts are called, by index over the whole prompt: the section or
    the reminder that a block is (of A and of B), what a trace notes of it, and the text changes of
    a pair of blocks."""

    a_sections: Mapping[int, str] = field(default_factory=dict)
    b_sections: Mapping[int, str] = field(default_factory=dict)
    a_reminders: Mapping[int, str] = field(default_factory=dict)
    b_reminders: Mapping[int, str] = field(default_factory=dict)
    texts: Mapping[tuple[int, int], TextChanges] = field(default_factory=dict)
    labels: Mapping[int, str] = field(default_factory=dict)
    a_notes: Mapping[int, Note] = field(default_factory=dict)
    b_notes: Mapping[int, Note] = field(default_factory=dict)


class _Scale(NamedTuple):
    """Cumulative tokens of B's blocks, scaled to the bill, and the factor for A's."""

    starts: tuple[int, ...]
    a_factor: float


def difference_of(
    comparison: Comparison,
    a: Prompt,
    b: Prompt,
    a_billed: int | None = None,
    b_billed: int | None = None,
    names: Names | None = None,
    *,
    reveal: bool = False,
) -> Difference:
    """The difference of two prompts. `*_billed` are the billed inputs, None where not known.
    Secrets in excerpts are masked unless `reveal`."""
    names = names or Names()
    scale = _scale(a, b, a_billed, b_billed)
    real = [c for c in comparison.changes if c.op not in (Op.EQUAL, Op.UNKNOWN)]
    tail_from = _tail_from(comparison, names)
    changes = tuple(
        _change(c, comparison, a, b, scale, names, reveal)
        for c in real
        if not _is_tail(c, tail_from) and not _moved_on(c, tail_from, names)
    )
    common, unverified, note = _common(comparison, scale)
    return Difference(
        common_blocks=common,
        common_tokens=_tokens_at(comparison, common, scale),
        baseline_blocks=_baseline_blocks(comparison, common),
        current_blocks=comparison.b_blocks,
        changes=changes,
        kept_after_tokens=_kept(comparison, b, scale, common, names),
        boundaries=_boundaries(b, scale, names),
        unverified_from_tokens=unverified,
        unverified_note=note,
        shift=_shift(comparison, a, names),
        error_fraction=ERROR_FRACTION if b_billed else UNSCALED_ERROR_FRACTION,
    )


def _scale(a: Prompt, b: Prompt, a_billed: int | None, b_billed: int | None) -> _Scale:
    starts, total = [0], 0.0
    for tokens in _scaled(b, b_billed):
        total += tokens
        starts.append(round(total))
    counted = sum(block.tokens for block in a.blocks)
    whole = not any(block.block.kind is Kind.GAP for block in a.blocks)
    return _Scale(tuple(starts), a_billed / counted if a_billed and counted and whole else 1.0)


def _scaled(prompt: Prompt, billed: int | None) -> list[float]:
    """The tokens of each block. Where the log hides messages, they get what the bill has more than
    the blocks that are shown, by their number."""
    counts = [float(block.tokens) for block in prompt.blocks]
    counted = sum(counts)
    if not billed or not counted:
        return counts
    gaps = [i for i, placed in enumerate(prompt.blocks) if placed.block.kind is Kind.GAP]
    if not gaps:
        return [count * billed / counted for count in counts]
    spans = {i: max(1, prompt.blocks[i].block.span_messages) for i in gaps}
    rest = max(0.0, billed - counted)
    for i in gaps:
        counts[i] += rest * spans[i] / sum(spans.values())
    return counts


def _common(comparison: Comparison, scale: _Scale) -> tuple[int, int | None, str]:
    """The common blocks, where they stop being proven (tokens), and why.

    Where the logs hide a part and what follows it is no proof of a change, the prompts are taken
    to be equal as far as they can be, and the hidden part is not proven.
    """
    proven = comparison.common.blocks
    first = comparison.first_divergence
    hidden = comparison.hidden is not None and (first is None or first.after_gap)
    common = comparison.common_at_most.blocks if hidden else proven
    verified = min(comparison.common.verified_blocks, proven)
    if verified >= common:
        return common, None, ""
    note = NOT_SHOWN if hidden else CARRIED_OVER
    return common, scale.starts[min(verified, len(scale.starts) - 1)], note


def _baseline_blocks(comparison: Comparison, common: int) -> int:
    """The baseline's blocks, counted as this request's. A gap stands for many blocks: where no
    difference is shown, the baseline ends where what both have in common ends."""
    hidden = comparison.hidden is not None and comparison.first_divergence is None
    if hidden and comparison.relation is not Relation.TRUNCATED:
        return common
    return comparison.a_blocks


def _tokens_at(comparison: Comparison, common: int, scale: _Scale) -> int:
    """The common prefix in tokens, into the block in which the prompts part."""
    at_block = scale.starts[min(common, len(scale.starts) - 1)]
    first = comparison.first_divergence
    if first is None or common != comparison.common.blocks or first.index != common:
        return at_block
    inside = first.token_offset - comparison.common.tokens
    if inside <= 0 or common + 1 >= len(scale.starts):
        return at_block
    return min(at_block + inside, scale.starts[common + 1])


def _tail_from(comparison: Comparison, names: Names) -> int:
    """The first block of B's new tail: behind everything that also stands in A, but for what was
    moved there, and for what every prompt ends with anew."""
    last = -1
    for change in comparison.changes:
        if change.op is Op.MOVED:
            continue
        if change.b_index is not None and change.a_index is not None:
            count = change.count
            while count and _at_end(names.a_notes, change.a_index + count - 1):
                count -= 1
            if count:
                last = max(last, change.b_index + count - 1)
    return max(last + 1, comparison.common.blocks)


def _is_tail(change: ComparedChange, tail_from: int) -> bool:
    return change.op is Op.ADDED and change.b_index is not None and change.b_index >= tail_from


def _moved_on(change: ComparedChange, tail_from: int, names: Names) -> bool:
    """True where a message at the end of A gave way, as it does in every request: nothing of the
    history was rewritten."""
    ai, bi = change.a_index, change.b_index
    if ai is None:
        return bi is not None and _at_end(names.b_notes, bi)
    ends = all(_at_end(names.a_notes, i) for i in range(ai, ai + change.count))
    return ends and (bi is None or bi >= tail_from or _at_end(names.b_notes, bi))


def _at_end(notes: Mapping[int, Note], index: int) -> bool:
    note = notes.get(index)
    return note is not None and note.kind in TAIL_KINDS


def _change(
    compared: ComparedChange,
    comparison: Comparison,
    a: Prompt,
    b: Prompt,
    scale: _Scale,
    names: Names,
    reveal: bool,
) -> Change:
    ai, bi = compared.a_index, compared.b_index
    old = a.blocks[ai] if ai is not None else None
    new = b.blocks[bi] if bi is not None else None
    placed = new or old
    first = comparison.first_divergence
    is_first = first is not None and first.index == bi and first.a_index == ai
    texts = names.texts.get((ai, bi)) if ai is not None and bi is not None else None
    note = _note_of(_note(names.a_notes, ai), _note(names.b_notes, bi))
    before, after = _excerpts(old, new, texts, reveal)
    offset = texts.changes[0].after.start if texts and texts.changes else None
    hints = _hints(compared, texts, old, new)
    if first is not None and first.a_index == ai and _summarised(comparison, b):
        hints = ("COMPACTION", *hints)
    if first is not None and is_first:
        before, after, offset = first.before, first.after, first.char_offset
        if reveal:
            before = _cut(old, first.snippet_start, len(before), reveal)
            after = _cut(new, first.snippet_start, len(after), reveal)
    return Change(
        op=compared.op,
        tier=compared.tier,
        a_index=old.tier_index if old else None,
        b_index=new.tier_index if new else None,
        label=_label(placed, compared.label),
        kind=placed.block.kind if placed else Kind.UNKNOWN,
        role=placed.block.role if placed else "",
        message_index=placed.message_index if placed else None,
        section=_named(names.b_sections, bi) or _named(names.a_sections, ai),
        reminder=_named(names.b_reminders, bi) or _named(names.a_reminders, ai),
        call_id=placed.block.call_id if placed else "",
        path=_path(texts, old, new),
        char_offset=offset,
        token_offset=_offset(compared, comparison, scale),
        before=before,
        after=after,
        before_tokens=round(old.tokens * scale.a_factor) if old else 0,
        after_tokens=scale.starts[bi + 1] - scale.starts[bi] if bi is not None else 0,
        canonical_equal=compared.same_meaning,
        detail=texts.changes[0].detail if texts and texts.changes else "",
        hints=hints,
        note_kind=note.kind,
        note=note.words,
        capability=note.capability,
    )


def _note_of(old: Note | None, new: Note | None) -> Note:
    """What a change is called: nothing where a message of one name gave way to another's."""
    found = new or old or Note()
    renamed = old is not None and old.words and found.words and old.words != found.words
    return found._replace(words="") if renamed else found


def _note(notes: Mapping[int, Note], index: int | None) -> Note | None:
    return notes.get(index) if index is not None else None


def _label(placed: PlacedBlock | None, label: str) -> str:
    """A tool's own name; the comparison's words for everything else."""
    if placed is not None and placed.block.tier is Tier.TOOLS and placed.block.name:
        return placed.block.name
    return label


def _named(names: Mapping[int, str], index: int | None) -> str:
    return names.get(index, "") if index is not None else ""


def _summarised(comparison: Comparison, b: Prompt) -> bool:
    """True where fewer messages follow the common prefix than before, and a summary opens them."""
    first = comparison.first_divergence
    if first is None or first.tier is not Tier.MESSAGES or first.index >= len(b.blocks):
        return False
    opening = b.blocks[first.index].block
    shorter = comparison.b_blocks < comparison.a_blocks and opening.role == "user"
    return shorter and SUMMARY.search(opening.text[:_OPENING_CHARS]) is not None


def _hints(
    compared: ComparedChange,
    texts: TextChanges | None,
    old: PlacedBlock | None,
    new: PlacedBlock | None,
) -> tuple[str, ...]:
    kind = texts.changes[0].kind if texts and texts.changes else None
    hints = [kind.value] if kind is not None else []
    if compared.op is Op.MOVED and compared.tier is Tier.SYSTEM and "tier" in compared.differs:
        hints.append(HOISTED)
    if old and new and old.block.kind is not new.block.kind:
        hints += [hint for kind, hint in _STRIPPED.items() if old.block.kind is kind]
    if compared.tier is Tier.MESSAGES and compared.differs == ("shape",):
        hints.append("SHAPE_CHANGED")
    if compared.tier is Tier.MESSAGES and compared.differs == ("role",):
        hints.append(HOISTED if compared.op is Op.MOVED else "EDIT")
    return tuple(hints)


def _excerpts(
    old: PlacedBlock | None, new: PlacedBlock | None, texts: TextChanges | None, reveal: bool
) -> tuple[str, str]:
    """Both sides around the first change."""
    start = Span(0, 0, "", "", 0)
    first = texts.changes[0] if texts and texts.changes else None
    before, after = (first.before, first.after) if first else (start, start)
    least = 0 if first else 2 * EXCERPT_CHARS
    return (
        _cut(old, before.window_start, max(least, len(before.window)), reveal),
        _cut(new, after.window_start, max(least, len(after.window)), reveal),
    )


def _cut(placed: PlacedBlock | None, start: int, chars: int, reveal: bool) -> str:
    """A piece of a block's text, secrets masked unless `reveal`: it may be cut from one."""
    if placed is None:
        return ""
    text, end = placed.block.text, start + chars
    return text[start:end] if reveal else mask_piece(text, start, end)


def _path(texts: TextChanges | None, old: PlacedBlock | None, new: PlacedBlock | None) -> str:
    """Whether the first change inside a tool stands in its description, at the top of its JSON."""
    if old is None or new is None or old.block.tier is not Tier.TOOLS:
        return ""
    start = texts.changes[0].after.start if texts and texts.changes else _first_char(old, new)
    head = new.block.text[:start]
    schema = max(head.find('"input_schema"'), head.find('"parameters"'), head.find('"inputSchema"'))
    description = head.rfind('"description"')
    return "description" if description >= 0 and schema < 0 else "input_schema"


def _first_char(old: PlacedBlock, new: PlacedBlock) -> int:
    pairs = zip(old.block.text, new.block.text, strict=False)
    shortest = min(len(old.block.text), len(new.block.text))
    return next((i for i, (x, y) in enumerate(pairs) if x != y), shortest)


def _offset(compared: ComparedChange, comparison: Comparison, scale: _Scale) -> int | None:
    first = comparison.first_divergence
    moved_away = compared.op in (Op.MOVED, Op.REORDERED) and first is not None
    if moved_away and first is not None and first.a_index == compared.a_index:
        return _tokens_at(comparison, comparison.common.blocks, scale)
    if first is not None and (first.index, first.a_index) == (compared.b_index, compared.a_index):
        return _tokens_at(comparison, comparison.common.blocks, scale)
    if compared.b_index is not None:
        return scale.starts[compared.b_index]
    if first is not None and compared.a_index is not None and compared.a_index <= first.a_index:
        return scale.starts[min(first.index, len(scale.starts) - 1)]
    return None


def _kept(comparison: Comparison, b: Prompt, scale: _Scale, common: int, names: Names) -> int:
    """Tokens of B behind the common prefix that A holds, too, but for what every prompt ends with
    anew."""
    total = 0
    for change in comparison.changes:
        if change.b_index is None or change.op is Op.ADDED:
            continue
        if change.op not in _KEPT and not change.same_meaning:
            continue
        start = max(change.b_index, common)
        end = min(change.b_index + change.count, len(b.blocks))
        total += sum(
            scale.starts[i + 1] - scale.starts[i]
            for i in range(start, end)
            if not _at_end(names.b_notes, i)
        )
    return total


def _boundaries(b: Prompt, scale: _Scale, names: Names) -> tuple[Boundary, ...]:
    return tuple(
        Boundary(
            index=placed.index,
            tier=placed.block.tier,
            tier_index=placed.tier_index,
            message_index=placed.message_index,
            block_index=placed.block_index,
            role=placed.block.role,
            kind=placed.block.kind,
            end_tokens=scale.starts[i + 1],
            label=names.labels.get(i, placed.block.name),
        )
        for i, placed in enumerate(b.blocks)
    )


def _shift(comparison: Comparison, a: Prompt, names: Names) -> int:
    """How many of A's first messages are gone, where everything else of B is A's or new tail."""
    tail_from = _tail_from(comparison, names)
    changes = [c for c in comparison.changes if c.op is not Op.EQUAL and not _is_tail(c, tail_from)]
    gone: Sequence[int] = [
        i
        for c in changes
        if c.op is Op.REMOVED and c.tier is Tier.MESSAGES and c.a_index is not None
        for i in range(c.a_index, c.a_index + c.count)
    ]
    if not gone or any(c.op is not Op.REMOVED or c.tier is not Tier.MESSAGES for c in changes):
        return 0
    first = next((i for i, p in enumerate(a.blocks) if p.block.tier is Tier.MESSAGES), 0)
    stay = first + len(gone)
    if sorted(gone) != list(range(first, stay)) or stay >= len(a.blocks):
        return 0
    if a.blocks[stay].tier_index == a.blocks[stay - 1].tier_index:
        return 0
    return len({a.blocks[i].tier_index for i in gone})
