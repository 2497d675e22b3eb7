"""In which section or reminder a read stopped: looked up for one verdict that is asked for."""

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from tracer.anatomy.messages import read_block
from tracer.anatomy.prompt import AnatomyContext, anatomy_of
from tracer.anatomy.section_spans import LoggedText
from tracer.cache.wording import tokens
from tracer.model.prompt import Kind, Part, Prompt
from tracer.model.verdict import ReadStop
from tracer.service.loading import place_blocks
from tracer.store.events import session_sections
from tracer.store.prompts import BlockRow, block_texts, head_and_block
from tracer.store.reading import RequestRow
from tracer.store.tokens import block_text

_HEAD = (Part.SYSTEM, Part.CONTEXT)


class _Named(NamedTuple):
    """A section or reminder, `start` to `end` of its block's text."""

    what: str
    name: str
    start: int
    end: int


def named_stop(
    connection: sqlite3.Connection, row_id: int, row: RequestRow, stop: ReadStop
) -> ReadStop:
    """The stop with the section or reminder in which it is. Characters are taken for tokens in
    proportion, so the distance is about right; a stop in other text stays as it is."""
    if row.node_id is None or stop.index is None or not stop.block_tokens:
        return stop
    rows = head_and_block(connection, row.node_id, stop.index, _HEAD)
    block = next((r for r in rows if r.depth == stop.index), None)
    if block is None or block.kind == Kind.GAP:
        return stop
    wanted = [r for r in rows if r.part in _HEAD] if block.part in _HEAD else [block]
    logged = session_sections(connection, row_id) if block.part in _HEAD else []
    ids = {r.block_id for r in wanted} | {r.block_id for r in logged if r.block_id is not None}
    texts = {i: block_text(*c) for i, c in block_texts(connection, sorted(ids)).items()}
    known = tuple(
        dict.fromkeys(
            LoggedText(r.source, r.name, texts[r.block_id])
            for r in logged
            if r.block_id is not None
        )
    )
    if block.part in _HEAD:
        found = _sections(wanted, texts, row, known, block)
    else:
        found = _reminders(block, texts, row)
    chars = len(texts[block.block_id])
    at = round(chars * min(1.0, (stop.into_tokens or 0) / stop.block_tokens))
    per_char = stop.block_tokens / chars if chars else 0.0
    inside = next((n for n in found if n.start < at <= n.end or n.start == at == 0), None)
    if inside is None:
        return _behind(stop, found, at, per_char)
    sentence = _with(stop, _words(inside, at, per_char))
    if inside.what == "section":
        return replace(stop, section=inside.name, sentence=sentence)
    return replace(stop, reminder=inside.name, sentence=sentence)


def _behind(stop: ReadStop, found: Sequence[_Named], at: int, tokens_per_char: float) -> ReadStop:
    """The stop behind the last section that was read to its end."""
    ended = [n for n in found if n.end < at and n.what == "section"]
    if not ended:
        return stop
    last = max(ended, key=lambda n: n.end)
    words = tokens(round((at - last.end) * tokens_per_char))
    where = f"That is about {words} behind the section {last.name}, in text that belongs to none."
    return replace(stop, sentence=_with(stop, where))


def _with(stop: ReadStop, words: str) -> str:
    """The sentence about a stop with more on its place, before what is said of the comparison."""
    place, mark, rest = stop.sentence.partition(" The prompts part")
    return f"{place} {words}{mark}{rest}"


def _words(inside: _Named, at: int, tokens_per_char: float) -> str:
    """Where in a section the read stopped, counted from its nearer end."""
    after, before = (round(n * tokens_per_char) for n in (at - inside.start, inside.end - at))
    if not before or not after:
        return f"There the {inside.what} {inside.name} {'begins' if before else 'ends'}."
    if before <= after:
        return f"That is in the {inside.what} {inside.name}, about {tokens(before)} before its end."
    return f"That is in the {inside.what} {inside.name}, about {tokens(after)} after its start."


def _sections(
    rows: Sequence[BlockRow],
    texts: dict[int, str],
    row: RequestRow,
    known: tuple[LoggedText, ...],
    block: BlockRow,
) -> list[_Named]:
    """The sections of a block of the prefix; where it has none, its reminders."""
    placed = place_blocks(list(rows), texts, row, [])
    found = anatomy_of(Prompt(placed), AnatomyContext(known))
    place = (block.message_index, block.block_index)
    sections = [
        _Named("section", s.source, s.start_char, s.end_char)
        for s in found.sections
        if (s.message_index, s.block_index) == place
    ]
    return sections or _reminders(block, texts, row)


def _reminders(block: BlockRow, texts: dict[int, str], row: RequestRow) -> list[_Named]:
    (placed,) = place_blocks([block], texts, row, [])
    return [
        _Named("reminder", s.source, s.start_char, s.end_char)
        for s in read_block(placed.block).spans
        if s.counted
    ]
