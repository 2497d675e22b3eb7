"""Two prompts of a session compared for a verdict: texts are read from the first difference on."""

import sqlite3
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from tracer.anatomy.messages import BlockCache
from tracer.anatomy.prompt import AnatomyContext, anatomy_of
from tracer.anatomy.section_spans import LoggedText
from tracer.cache.difference import Names, Note, difference_of
from tracer.compare import compare, text_changes
from tracer.compare.describe import note_label
from tracer.model.comparison import Change, Comparison, Op, TextChanges
from tracer.model.prompt import Block, Kind, Marker, PlacedBlock, Prompt, Tier
from tracer.model.verdict import Difference
from tracer.service.judging.facts import Call, SessionCalls
from tracer.service.judging.later_proof import HEAD_MESSAGES, LaterProof
from tracer.service.placing import Spot, tier_index, verified_in
from tracer.store.events import session_sections
from tracer.store.judging import BlockInfo
from tracer.store.layout_reading import SessionLayouts, session_layouts
from tracer.store.prompts import block_texts
from tracer.store.reading import RequestRow
from tracer.store.tokens import block_text

FIRST_OWN, LAST_OWN = 160, 40
"""Blocks of one prompt alone that are read: a compaction removes a thousand, and the first tell."""

READ_CHANGES = 8
READ_CHARS = 2_000_000
"""Changed blocks, and their characters, of which it is told what kind of text changed."""

KEPT_CHARS = 24_000_000


class Texts:
    """Texts by block, as many as fit; those used longest ago go first."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._texts: OrderedDict[int, str] = OrderedDict()
        self._chars = 0

    def of(self, ids: Iterable[int]) -> dict[int, str]:
        """The texts of blocks."""
        wanted = set(ids)
        found = {i: self._texts[i] for i in wanted if i in self._texts}
        for block_id in found:
            self._texts.move_to_end(block_id)
        missing = sorted(wanted - found.keys())
        for block_id, columns in block_texts(self._connection, missing).items():
            text = found[block_id] = self._texts[block_id] = block_text(*columns)
            self._chars += len(text)
        while self._chars > KEPT_CHARS and len(self._texts) > 1:
            self._chars -= len(self._texts.popitem(last=False)[1])
        return found


class Comparing:
    """Compares prompts of one session."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        row_id: int,
        calls: SessionCalls,
        *,
        reveal: bool = False,
    ) -> None:
        self._connection = connection
        self._reveal = reveal
        self._row_id = row_id
        self._paths = calls.paths
        self._markers = calls.markers
        self._texts = Texts(connection)
        self._readings = BlockCache()
        self._known: tuple[LoggedText, ...] | None = None
        self._layouts: SessionLayouts | None = None

    def compare(
        self, a: Call, b: Call, weight: float = 1.0, proof: LaterProof | None = None
    ) -> Difference | None:
        """A is the baseline; None where the log holds no prompt of either. `weight` is that of the
        head (see `Weights`); `proof` tells what a block of B really was."""
        if a.row.node_id is None or b.row.node_id is None:
            return None
        paths = self._paths.path(a.row.node_id), self._paths.path(b.row.node_id)
        if proof is not None:
            paths[1][proof.depth] = proof.node_id
        common = _common(*paths)
        head = [self._head(path) for path in paths]
        texts = self._texts.of(self._wanted(paths, common, head))
        one, other = (
            Prompt(self._place(path, texts, call.row, weight))
            for path, call in zip(paths, (a, b), strict=True)
        )
        comparison = compare(one, other)
        names = replace(
            self._names(comparison, one, other, head),
            a_notes=self._notes(a.row, one),
            b_notes=self._notes(b.row, other),
        )
        billed = [c.facts.usage.input_tokens if c.facts.usage else None for c in (a, b)]
        return difference_of(
            comparison, one, other, billed[0], billed[1], names, reveal=self._reveal
        )

    def _notes(self, row: RequestRow, prompt: Prompt) -> dict[int, Note]:
        """What an open trace notes of the blocks of a prompt, by index."""
        if self._layouts is None:
            self._layouts = session_layouts(self._connection, self._row_id)
        stored = self._layouts.layouts.get(row.id)
        if stored is None:
            return {}
        notes = self._layouts.notes_of(row.id)
        tools = {tool.name: tool.capability for tool in stored.layout.tools if tool.capability}
        found: dict[int, Note] = {}
        for placed in prompt.blocks:
            at = placed.message_index
            if placed.block.tier is Tier.TOOLS:
                if placed.block.name in tools:
                    found[placed.index] = Note(capability=tools[placed.block.name])
            elif at is not None and at < len(notes) and notes[at].kind:
                note = notes[at]
                found[placed.index] = Note(note.kind, note_label(note), note.capability)
        return found

    def _wanted(
        self, paths: Sequence[Sequence[int]], common: int, heads: Sequence[tuple[int, int]]
    ) -> set[int]:
        """The blocks whose texts matter: the heads, what only one of the two has (of very much its
        beginning and its end), and what may be a reminder, wherever it went."""
        nodes, blocks = self._paths.nodes, self._paths.blocks
        wanted = {
            nodes[node].block_id
            for path, (start, end) in zip(paths, heads, strict=True)
            for node in path[start:end]
        }
        tails = [[nodes[node].block_id for node in path[common:]] for path in paths]
        both = set(tails[0]) & set(tails[1])
        for tail in tails:
            own = [i for i in tail if i not in both]
            wanted.update(own[:FIRST_OWN])
            wanted.update(own[-LAST_OWN:])
        wanted.update(i for i in both if blocks[i].role in ("user", "system"))
        return wanted

    def _head(self, path: Sequence[int]) -> tuple[int, int]:
        """The depths between which the sections of the prefix stand."""
        nodes, tip = self._paths.nodes, self._paths.sums[path[-1]]
        start = self._paths.sums[tip.tools_end].depth + 1 if tip.tools_end is not None else 0
        limit = self._paths.system_messages(tip) + HEAD_MESSAGES
        end = start
        while end < len(path) and (nodes[path[end]].message_index or 0) < limit:
            end += 1
        return start, end

    def _place(
        self, path: Sequence[int], texts: dict[int, str], row: RequestRow, weight: float
    ) -> tuple[PlacedBlock, ...]:
        """The blocks of a path; a text that is not needed is empty."""
        markers = {(m.tier, m.index, m.block_index): m for m in self._markers.get(row.id, ())}
        nodes, blocks = self._paths.nodes, self._paths.blocks
        system_messages = 0
        placed = []
        for depth, node_id in enumerate(path):
            node = nodes[node_id]
            block, message_index = blocks[node.block_id], node.message_index
            tier = block.tier
            if tier is Tier.SYSTEM and message_index is not None:
                system_messages = message_index + 1
            spot = Spot(block.kind, message_index, node.block_index)
            at = tier_index(spot, tier, system_messages)
            inner = node.block_index if message_index is not None else 0
            placed.append(
                PlacedBlock(
                    depth,
                    at,
                    message_index,
                    inner,
                    _block(block, texts.get(block.id, "")),
                    block.wire_hash,
                    block.norm_hash,
                    _tokens(block, weight),
                    _marker(markers, tier, at, inner),
                    verified_in(spot, tier, row),
                )
            )
        return tuple(placed)

    def _names(
        self, comparison: Comparison, a: Prompt, b: Prompt, heads: Sequence[tuple[int, int]]
    ) -> Names:
        """What the changed blocks are called, and what kind of text changed in them."""
        changed = [c for c in comparison.changes if c.op not in (Op.EQUAL, Op.UNKNOWN)]
        if not changed:
            return Names()
        pairs = _text_pairs(changed, a, b)
        sides = []
        for prompt, head, side in ((a, heads[0], "a"), (b, heads[1], "b")):
            indexes = [c.a_index if side == "a" else c.b_index for c in changed]
            wanted = {i for i in indexes if i is not None}
            offsets = {
                (i if side == "a" else j): (
                    found.changes[0].before if side == "a" else found.changes[0].after
                ).start
                for (i, j), found in pairs.items()
                if found.changes
            }
            sides.append(self._called(prompt, head, wanted, offsets))
        (a_sections, a_reminders), (b_sections, b_reminders) = sides
        return Names(a_sections, b_sections, a_reminders, b_reminders, pairs)

    def _called(
        self, prompt: Prompt, head: tuple[int, int], wanted: set[int], offsets: dict[int, int]
    ) -> tuple[dict[int, str], dict[int, str]]:
        """The sections and the reminders that some blocks are."""
        start, end = head
        placed = prompt.blocks[start:end]
        sections: dict[int, str] = {}
        if any(start <= i < end for i in wanted):
            context = AnatomyContext(self._logged(), self._readings)
            at = {(p.message_index, p.block_index): p.index for p in placed}
            for section in anatomy_of(Prompt(placed), context).sections:
                index = at.get((section.message_index, section.block_index))
                if index is None or index not in wanted:
                    continue
                offset = offsets.get(index, section.start_char)
                if section.start_char <= offset <= section.end_char:
                    sections.setdefault(index, section.source)
        reminders: dict[int, str] = {}
        for index in wanted:
            block = prompt.blocks[index]
            if index in sections or block.block.role not in ("user", "system"):
                continue
            spans = self._readings.read(block).spans
            if spans:
                reminders[index] = spans[0].source
        return sections, reminders

    def _logged(self) -> tuple[LoggedText, ...]:
        """The section texts that the log tells for the session, the newest last."""
        if self._known is None:
            rows = session_sections(self._connection, self._row_id)
            texts = self._texts.of({r.block_id for r in rows if r.block_id is not None})
            found = [
                LoggedText(r.source, r.name, texts[r.block_id])
                for r in rows
                if r.block_id is not None
            ]
            self._known = tuple(dict.fromkeys(found))
        return self._known


def _tokens(block: BlockInfo, weight: float) -> int:
    """The tokens of a block as they count beside the others."""
    if block.kind is Kind.GAP:
        return 0
    return block.tokens if block.tier is Tier.MESSAGES else round(block.tokens * weight)


def _block(block: BlockInfo, text: str) -> Block:
    return Block(
        block.tier, block.role, block.kind, text, block.shape, block.name, block.call_id,
        block.extra_json, block.message_json, block.span_messages,
    )  # fmt: skip


def _marker(
    markers: dict[tuple[Tier, int, int], Marker], tier: Tier, at: int, inner: int
) -> Marker | None:
    return markers.get((tier, at, inner)) if markers else None


def _common(a: Sequence[int], b: Sequence[int]) -> int:
    """How many leading nodes two paths share."""
    count = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        count += 1
    return count


def _text_pairs(
    changed: Sequence[Change], a: Prompt, b: Prompt
) -> dict[tuple[int, int], TextChanges]:
    """The text changes of the first changed blocks."""
    found: dict[tuple[int, int], TextChanges] = {}
    chars = 0
    for change in changed:
        i, j = change.a_index, change.b_index
        if change.op is not Op.CHANGED or i is None or j is None:
            continue
        before, after = a.blocks[i].block.text, b.blocks[j].block.text
        chars += len(before) + len(after)
        if len(found) >= READ_CHANGES or (found and chars > READ_CHARS):
            break
        found[i, j] = text_changes(before, after)
    return found
