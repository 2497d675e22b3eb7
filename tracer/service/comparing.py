"""Two requests compared: their prompts loaded, what became of each block, hunks a page at a time.

Loading and aligning is done once for two requests and kept for the next call, so that a fragment
with more hunks costs no more than its lines.
"""

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import NamedTuple

from tracer.compare import TextDiff, block_label, compare, diff_change, field_changes, hunk_page
from tracer.errors import NotFoundError
from tracer.model.compare_views import (
    BlockLabel,
    ChangeView,
    ComparedSide,
    ComparisonView,
    DivergenceView,
    HiddenEdit,
    HunksAsked,
    HunksView,
    RequestChoice,
)
from tracer.model.comparison import Change, Comparison, Divergence, FieldChange, Line, Op
from tracer.model.prompt import Kind, Part, PlacedBlock, Prompt, Tier
from tracer.service.baselines import NO_BASELINE, Baseline, baseline_for, hidden_edits
from tracer.service.block_facts import facts_of
from tracer.service.cached import RevisionCache
from tracer.service.comparing_limits import limits_of
from tracer.service.existing import session_of
from tracer.service.kept import MOST_REQUESTS
from tracer.service.loading import LoadedPrompt, load_prompts
from tracer.service.requests import (
    SessionData,
    WholeRequest,
    is_side_call,
    load_session,
    summarise,
    told_beside,
)
from tracer.service.sessions import summaries
from tracer.store.reading import request_markers, request_row

KEPT_COMPARISONS = 2
KEPT_DIFFS = 2
MOST_CHARS = 8_000_000
"""The texts of all kept comparisons; aligned, they take several times as much memory."""
LARGE_CHARS = 50_000
"""Aligning the lines of texts from this size on takes long enough to be kept."""
CHOICES = 50
"""How many requests before and after one are offered instead of it."""
PREVIEW_CHARS = 200
FIRST_LINES = 8
"""Lines shown at the first difference."""


class KnownPrompt(NamedTuple):
    """A prompt with its texts, and the part in which each block is counted."""

    prompt: Prompt
    parts: Sequence[Part]


@dataclass(frozen=True, slots=True)
class Compared:
    """Two prompts with their texts, and all that was found out; `diffs` are texts aligned."""

    view: ComparisonView
    a: KnownPrompt
    b: KnownPrompt
    diffs: dict[int, TextDiff] = field(default_factory=dict)

    @property
    def chars(self) -> int:
        """How many characters of texts it holds."""
        prompts = (self.a.prompt, self.b.prompt)
        return sum(len(placed.block.text) for prompt in prompts for placed in prompt.blocks)

    def diff(self, index: int) -> TextDiff:
        """The texts of one change, aligned by lines."""
        found = self.diffs.get(index)
        if found is None:
            made = self.view.changes[index]
            found = diff_change(self.a.prompt, self.b.prompt, made.change)
            if (made.a_chars or 0) + (made.b_chars or 0) >= LARGE_CHARS:
                for oldest in list(islice(self.diffs, max(0, len(self.diffs) + 1 - KEPT_DIFFS))):
                    self.diffs.pop(oldest, None)
                self.diffs[index] = found
        return found


class Comparer:
    """Compares requests of one database, and keeps the last few comparisons. Safe in threads."""

    def __init__(self) -> None:
        self._sessions: RevisionCache[SessionData] = RevisionCache(
            weigh=lambda data: len(data.rows), limit=MOST_REQUESTS
        )
        self._kept: RevisionCache[Compared] = RevisionCache(
            KEPT_COMPARISONS, weigh=lambda of: of.chars, limit=MOST_CHARS
        )

    def get(self, connection: sqlite3.Connection, a_key: str, b_key: str) -> Compared:
        """Two requests compared. Raises NotFoundError."""
        return self._kept.get(
            connection, (a_key, b_key), lambda: self._load(connection, a_key, b_key)
        )

    def baseline(self, connection: sqlite3.Connection, key: str) -> str:
        """The key of what a request is compared with; empty where there is none. Raises
        NotFoundError."""
        found = self._find(connection, key)
        return baseline_for(connection, found.data, found.seq).key

    def _load(self, connection: sqlite3.Connection, a_key: str, b_key: str) -> Compared:
        found = [self._find(connection, key) for key in (a_key, b_key)]
        a, b = load_prompts(
            connection,
            [(place.whole.row, list(place.whole.markers)) for place in found],
        )
        sessions = [summaries(connection, [place.row_id], sparks=False)[0] for place in found]
        sides = [
            _side(place, loaded, session.title or session.session_id)
            for place, loaded, session in zip(found, (a, b), sessions, strict=True)
        ]
        known = [KnownPrompt(p.prompt, [Part(row.part) for row in p.rows]) for p in (a, b)]
        edits = [
            {edit.key: edit for edit in hidden_edits(connection, p.row_id, p.data, p.seq)}
            for p in found
        ]
        return make_compared(
            (sides[0], known[0]),
            (sides[1], known[1]),
            baseline_for(connection, found[1].data, found[1].seq),
            tuple(edit for key, edit in edits[1].items() if key not in edits[0]),
        )

    def _find(self, connection: sqlite3.Connection, key: str) -> "_Place":
        row_id, _ = session_of(connection, key)
        data = self._sessions.get(connection, row_id, lambda: load_session(connection, row_id))
        seq = data.seqs[key]
        line = data.rows[seq - 1].id
        whole = WholeRequest(request_row(connection, line), request_markers(connection, line))
        return _Place(row_id, data, seq, whole)


@dataclass(frozen=True, slots=True)
class _Place:
    """A request in its session; `seq` counts from 1."""

    row_id: int
    data: SessionData
    seq: int
    whole: WholeRequest


def _side(place: _Place, loaded: LoadedPrompt, title: str) -> ComparedSide:
    rows, at = place.data.rows, place.seq - 1
    blocks = loaded.prompt.blocks
    uncounted = sum(row.bpe_tokens is None and row.kind != Kind.GAP for row in loaded.rows)
    start = max(0, at - CHOICES)
    return ComparedSide(
        request=summarise(
            told_beside(place.data, place.whole.row.key),
            place.whole.row.session_id,
            place.seq,
            place.whole,
            facts_of(loaded.rows),
        ),
        session_title=title,
        blocks=len(blocks),
        chars=sum(len(placed.block.text) for placed in blocks),
        tokens=sum(placed.tokens for placed in blocks),
        uncounted_blocks=uncounted,
        choices=tuple(
            RequestChoice(
                row.key,
                seq,
                row.started_at_ms,
                row.model_id,
                row.query_source,
                is_side_call(row),
                row.node_id is not None,
            )
            for seq, row in enumerate(rows[start : at + CHOICES + 1], start + 1)
        ),
        previous_key=rows[at - 1].key if at else "",
        next_key=rows[at + 1].key if at + 1 < len(rows) else "",
    )


def make_compared(
    a: tuple[ComparedSide, KnownPrompt],
    b: tuple[ComparedSide, KnownPrompt],
    baseline: Baseline = NO_BASELINE,
    edits: tuple[HiddenEdit, ...] = (),
) -> Compared:
    """Two loaded prompts compared. Where either has no block nothing is: a prompt that was not
    logged is not an empty one. `edits` stand between the two and show in neither text."""
    (side_a, loaded_a), (side_b, loaded_b) = a, b
    known = bool(side_a.blocks and side_b.blocks)
    comparison = compare(loaded_a.prompt, loaded_b.prompt) if known else None
    changes = _views(comparison, loaded_a, loaded_b) if comparison else ()
    view = ComparisonView(
        a=side_a,
        b=side_b,
        comparison=comparison,
        divergence=None,
        changes=changes,
        limits=limits_of(side_a, side_b, comparison, edits),
        baseline_key=baseline.key,
        baseline_reason=baseline.reason,
        hidden_edits=edits,
    )
    made = Compared(view, loaded_a, loaded_b)
    return replace(made, view=replace(view, divergence=_divergence(made)))


def hunks_of(compared: Compared, index: int, asked: HunksAsked) -> HunksView:
    """The inside of the change `index`. Raises NotFoundError where there is none."""
    view = compared.view
    if not 0 <= index < len(view.changes):
        raise NotFoundError(f"This comparison has {len(view.changes):,} changes, not {index:,}.")
    made = view.changes[index]
    change = made.change
    if change.op is Op.EQUAL:
        return _equal_run(compared, made, asked.offset, asked.limit)
    page = hunk_page(
        compared.diff(index),
        offset=asked.offset,
        limit=asked.limit,
        context=asked.context,
        max_line_chars=asked.max_line_chars,
        reveal=asked.reveal,
    )
    fields: tuple[FieldChange, ...] = ()
    if change.a_index is not None and change.b_index is not None:
        x = compared.a.prompt.blocks[change.a_index].block
        y = compared.b.prompt.blocks[change.b_index].block
        fields = field_changes(x, y)
    return HunksView(made, fields, page, (), page.total, page.next_offset)


def _equal_run(compared: Compared, made: ChangeView, offset: int, limit: int) -> HunksView:
    change = made.change
    end = min(change.count, offset + limit)
    start = change.b_index or 0
    return HunksView(
        change=made,
        fields=(),
        page=None,
        blocks=tuple(_block_label(compared.b, start + n) for n in range(offset, end)),
        total=change.count,
        next_offset=end if end < change.count else None,
    )


def _block_label(b: KnownPrompt, b_index: int) -> BlockLabel:
    placed = b.prompt.blocks[b_index]
    return BlockLabel(
        b_index,
        block_label(placed),
        b.parts[b_index],
        placed.tokens,
        placed.block.text[:PREVIEW_CHARS],
    )


def _views(comparison: Comparison, a: KnownPrompt, b: KnownPrompt) -> tuple[ChangeView, ...]:
    return tuple(_change_view(i, change, a, b) for i, change in enumerate(comparison.changes))


def _change_view(index: int, change: Change, a: KnownPrompt, b: KnownPrompt) -> ChangeView:
    own_a = _own(a.prompt, change.a_index, change.count)
    own_b = _own(b.prompt, change.b_index, change.count)
    parts, at = (a.parts, change.a_index) if change.b_index is None else (b.parts, change.b_index)
    return ChangeView(
        index=index,
        change=change,
        part=parts[at or 0],
        a_place=place_words(own_a[0]) if own_a else "",
        b_place=place_words(own_b[0]) if own_b else "",
        a_tokens=_sum(own_a, lambda placed: placed.tokens),
        b_tokens=_sum(own_b, lambda placed: placed.tokens),
        a_chars=_sum(own_a, lambda placed: len(placed.block.text)),
        b_chars=_sum(own_b, lambda placed: len(placed.block.text)),
        preview=(own_b or own_a)[0].block.text[:PREVIEW_CHARS],
    )


def _own(prompt: Prompt, start: int | None, count: int) -> tuple[PlacedBlock, ...]:
    return () if start is None else prompt.blocks[start : start + count]


def _sum(blocks: tuple[PlacedBlock, ...], size: Callable[[PlacedBlock], int]) -> int | None:
    return sum(map(size, blocks)) if blocks else None


def place_words(placed: PlacedBlock) -> str:
    """Where a block stands in its prompt: `tool 3`, `system block 1`, `message 12, block 2`."""
    inside = f", block {placed.block_index}" if placed.block_index else ""
    if placed.block.tier is Tier.TOOLS:
        return f"tool {placed.tier_index}"
    if placed.block.tier is Tier.SYSTEM or placed.message_index is None:
        return f"system block {placed.tier_index}{inside}"
    return f"message {placed.message_index}{inside}"


def _divergence(compared: Compared) -> DivergenceView | None:
    comparison = compared.view.comparison
    where = comparison.first_divergence if comparison else None
    if comparison is None or where is None:
        return None
    index = _change_at(comparison, where.a_index, where.index)
    lines: tuple[Line, ...] = ()
    if index is not None and _is_here(comparison.changes[index], where):
        page = hunk_page(compared.diff(index), limit=1, context=2)
        lines = first_lines(page.hunks[0].lines) if page.hunks else ()
    return DivergenceView(
        where=where,
        a_label=block_label(compared.a.prompt.blocks[where.a_index]),
        b_label=block_label(compared.b.prompt.blocks[where.index]),
        change_index=index,
        lines=lines,
    )


def _is_here(change: Change, where: Divergence) -> bool:
    """Whether a change is of the two blocks that stand at the first difference, or of one that
    came or went there; not of one that has its counterpart elsewhere."""
    return change.a_index in (None, where.a_index) and change.b_index in (None, where.index)


def _change_at(comparison: Comparison, a_index: int, b_index: int) -> int | None:
    """The first change of B's block, or else of A's."""
    in_a = None
    for index, change in enumerate(comparison.changes):
        if change.op is Op.EQUAL:
            continue
        if change.b_index == b_index:
            return index
        if change.a_index == a_index and in_a is None:
            in_a = index
    return in_a


def first_lines(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """The first changed lines of a hunk with what stands around them, removed and added ones
    alike."""
    start = next((i for i, line in enumerate(lines) if line.op != " "), 0)
    end = next((i for i in range(start, len(lines)) if lines[i].op == " "), len(lines))
    half = FIRST_LINES // 2
    removed = [line for line in lines[start:end] if line.op == "-"]
    added = [line for line in lines[start:end] if line.op == "+"]
    return (
        *lines[max(0, start - 2) : start],
        *removed[: max(half, FIRST_LINES - len(added))],
        *added[: max(half, FIRST_LINES - len(removed))],
        *lines[end : end + 2],
    )
