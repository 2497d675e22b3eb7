"""What came of a comparison, in sentences that the command line and the pages share."""

from collections.abc import Iterable, Sequence

from tracer.model.compare_views import ChangeView, ComparisonView, DivergenceView, LinePiece
from tracer.model.comparison import Comparison, Divergence, Line, Op, Relation
from tracer.model.prompt import Tier
from tracer.words import plural

_DIFFERS = {
    "text": "text",
    "serialisation": "the same JSON, written differently",
    "kind": "kind",
    "role": "role",
    "shape": "string or array",
    "name": "name",
    "call_id": "call id",
    "extra": "other keys of the block",
    "message_notes": "other keys of the message",
    "message_start": "where the message begins",
    "notes_place": "which block carries the message's other keys",
    "span": "number of hidden messages",
    "tier": "tier",
}
_ALWAYS_COUNTED = (Op.CHANGED, Op.MOVED, Op.ADDED, Op.REMOVED)


def differs_words(differs: tuple[str, ...]) -> str:
    """What is not the same, in words: `role, text`."""
    return ", ".join(_DIFFERS.get(name, name) for name in differs)


def counts_words(view: ComparisonView) -> str:
    """How many blocks met what: `1 changed, 0 moved, 3 added, 0 removed`."""
    counts = view.blocks_by_op()
    return ", ".join(
        f"{counts[op]:,} {op.value}"
        for op in (*_ALWAYS_COUNTED, Op.REORDERED, Op.UNKNOWN)
        if counts[op] or op in _ALWAYS_COUNTED
    )


def prefix_words(view: ComparisonView) -> str:
    """The equal beginning: `prefix 37,020 of 125,440 BPE tokens equal, 52 of 140 blocks`."""
    if view.comparison is None:
        return ""
    common = view.comparison.common
    return (
        f"prefix {common.tokens:,} of {sized(view.b.tokens, view)} equal, "
        f"{common.blocks:,} of {plural(view.b.blocks, 'block')}"
    )


def sized(count: int, view: ComparisonView) -> str:
    """A count of tokens of a comparison with how they were counted: what is billed is on another
    scale. Blocks that are not counted yet go in with the agent's estimate."""
    both = " and estimated" if view.a.uncounted_blocks or view.b.uncounted_blocks else ""
    return plural(count, f"BPE{both} token")


def headline(view: ComparisonView) -> str:
    """The result in one sentence."""
    found = view.comparison
    if found is None:
        names = [name for side, name in ((view.a, "A"), (view.b, "B")) if not side.blocks]
        return f"Nothing can be compared: the log holds no prompt of {' and of '.join(names)}."
    if found.relation is Relation.UNKNOWN:
        return "Where the two part is in what the logs do not show."
    if view.divergence is not None:
        return how_they_part(view, view.divergence)
    whole = _relation_words(found)
    if view.hidden_edits:
        edit = view.hidden_edits[-1]
        on = "B" if edit.key == view.b.request.key else f"request {edit.seq:,}"
        return (
            f"As far as the logs show, {whole.removesuffix('.')}. But the verdict on {on} found an "
            f"edit in message {edit.message_index:,}, which the logs do not show here."
        )
    doubtful = found.hidden is not None or not all(c.verified for c in found.changes)
    return f"As far as the logs show, {whole}" if doubtful else whole[0].upper() + whole[1:]


def _relation_words(found: Comparison) -> str:
    if found.relation is Relation.APPENDED:
        return f"B is A and {plural(found.b_blocks - found.a_blocks, 'block')} more."
    if found.relation is Relation.TRUNCATED:
        missing = plural(found.a_blocks - found.b_blocks, "block")
        return f"B is the beginning of A: the last {missing} of A are missing."
    if found.marker_only:
        return "only cache markers differ: the content is the same."
    return "the two are the same, byte for byte."


def how_they_part(view: ComparisonView, parted: DivergenceView) -> str:
    """Where the two part and what is different there, in a sentence."""
    at = f"They part at {parted.where.label}"
    made = None if parted.change_index is None else view.changes[parted.change_index].change
    if made is None:
        return f"{at}: {_changed_words(parted)}."
    if made.op is Op.ADDED:
        return f"{at}: it is new in B, where A has {parted.a_label}."
    if made.op is Op.REMOVED:
        return f"{at}: it is not in B, which goes on with {parted.b_label}."
    if made.op is Op.UNKNOWN:
        return f"{at}: the log of the other does not show this place."
    if (made.a_index, made.b_index) == (parted.where.a_index, parted.where.index):
        return f"{at}: {_changed_words(parted)}."
    place = _place(parted.where)
    a, b = (label.removeprefix(f"{place} · ") for label in (parted.a_label, parted.b_label))
    return f"They part at {place}: A has {a}, B has {b}."


def _changed_words(parted: DivergenceView) -> str:
    where = parted.where
    if where.differs == ("text",):
        return f"its text differs from character {where.char_offset:,} on"
    if "serialisation" in where.differs:
        return f"the same JSON is written differently from character {where.char_offset:,} on"
    return f"different {differs_words(where.differs)}" if where.differs else "another block"


def where_words(view: ComparisonView) -> str:
    """The place of the first difference: `message 4, character 1,906; token 38,020 of 125,440 BPE
    tokens`."""
    parted = view.divergence
    if parted is None:
        return ""
    where = parted.where
    return (
        f"{_place(where)}, character {where.char_offset:,}; "
        f"token {where.token_offset:,} of {sized(view.b.tokens, view)}"
    )


def _place(where: Divergence) -> str:
    if where.tier is Tier.TOOLS:
        return f"tool {where.tier_index}"
    inside = f", block {where.block_index}" if where.block_index else ""
    if where.tier is Tier.SYSTEM:
        return f"system block {where.tier_index}{inside}"
    return f"message {where.message_index}{inside}"


def stretch_words(stretch: Sequence[ChangeView]) -> str:
    """Where a stretch of changes stands: `message 4 to 126`."""
    first, last = (made.b_place or made.a_place for made in (stretch[0], stretch[-1]))
    if first == last:
        return first
    noun = first.rpartition(" ")[0] if "," not in first else first.partition(" ")[0]
    return f"{first} to {last.removeprefix(noun + ' ')}"


def stretches(changes: Iterable[ChangeView]) -> list[list[ChangeView]]:
    """Changes in order; neighbours that came, went, moved or are unknown are put together."""
    found: list[list[ChangeView]] = []
    for made in changes:
        op = made.change.op
        if found and op not in (Op.EQUAL, Op.CHANGED) and found[-1][0].change.op is op:
            found[-1].append(made)
        else:
            found.append([made])
    return found


def size_words(made: ChangeView) -> str:
    """The size of a change in tokens: `133 → 144 tokens`, `40 tokens`."""
    if made.a_tokens is None or made.b_tokens is None or made.a_tokens == made.b_tokens:
        tokens = made.b_tokens if made.b_tokens is not None else made.a_tokens
        return plural(tokens or 0, "token")
    return f"{made.a_tokens:,} → {plural(made.b_tokens, 'token')}"


def line_pieces(line: Line) -> list[LinePiece]:
    """A line cut where its changed words and its invisible characters begin and end."""
    hidden = {char.offset: char.name for char in line.invisible}
    cuts = {0, len(line.text), *hidden, *(at + 1 for at in hidden)}
    cuts.update(at for span in line.spans for at in span)
    in_order = sorted(cuts)
    spans = iter(line.spans)
    span = next(spans, None)
    pieces = []
    for start, end in zip(in_order, in_order[1:], strict=False):
        while span is not None and span[1] <= start:
            span = next(spans, None)
        changed = span is not None and span[0] <= start
        pieces.append(LinePiece(line.text[start:end], changed, hidden.get(start, "")))
    return pieces
