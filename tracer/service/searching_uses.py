"""Who sent the texts of a page of a search, and where they stand.

Names, numbers and places are read for all texts of a page at once.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from tracer.assemble.uses import Forest, Sent, Use
from tracer.model.search_views import FoundPiece, FoundPlace, FoundText, TextUse
from tracer.model.source import SourceRef
from tracer.service.searching_sections import PrefixSections, SectionSpan
from tracer.store.search import (
    AnswerRow,
    BlockFacts,
    LoggedSection,
    NodePlace,
    RowText,
    Tip,
    answers,
    block_facts,
    block_reminders,
    logged_sections,
    node_places,
    session_names,
    tips,
)
from tracer.store.sources import source_paths
from tracer.store.verdicts import request_numbers

MOST_USES = 20
"""Sessions that are named for one text."""

_PREFIX = ("system", "context")
_SECTION = "section"


class Match(NamedTuple):
    """A text that holds the query: of blocks (an answer and its copy in the next prompt are two),
    the last stored first, or of a row beside the prompts. `spans` are the matches in it. `text` is
    only kept until it is known whether they lie where they were asked for."""

    block_ids: tuple[int, ...]
    row: RowText | None
    piece: FoundPiece
    spans: tuple[tuple[int, int], ...]
    chars: int
    text: str = ""


class _Known(NamedTuple):
    """What is read for a page. Uses are grouped by the first block of each text."""

    facts: dict[int, BlockFacts]
    uses: dict[int, dict[int, Use]]
    answers: dict[int, list[AnswerRow]]
    logged: dict[int, list[LoggedSection]]
    names: dict[int, tuple[str, str]]
    numbers: dict[int, int]
    places: dict[int, NodePlace]
    paths: dict[int, str]


class Provenance:
    """Tells of the matches of one search."""

    def __init__(self, connection: sqlite3.Connection, forest: Forest) -> None:
        self._connection = connection
        self._forest = forest
        self._all_tips: list[Tip] | None = None

    def texts(self, page: Sequence[Match]) -> tuple[FoundText, ...]:
        """The texts of a page with everything that is known of them."""
        known = self._read(page)
        sections = self.section_spans(page)
        reminders = reminder_spans(self._connection, page)
        return tuple(
            self._row_text(match, match.row, known)
            if match.row is not None
            else self._block_text(match, known, _around(match, sections), _around(match, reminders))
            for match in page
        )

    def section_spans(self, matches: Sequence[Match]) -> dict[int, tuple[SectionSpan, ...]]:
        """The sections in the texts of prefixes, by the first block of the text."""
        facts = block_facts(self._connection, _ids(matches))
        prefix = [m for m in matches if any(facts[i].part in _PREFIX for i in m.block_ids)]
        uses, sections = self._uses(prefix), PrefixSections(self._connection)
        found: dict[int, tuple[SectionSpan, ...]] = {}
        for match in prefix:
            group = match.block_ids[0]
            logged = next((facts[i] for i in match.block_ids if facts[i].role == _SECTION), None)
            if logged is not None:
                found[group] = (SectionSpan(logged.name, 0, match.chars),)
            elif uses[group]:
                tip = self._tips[min(use.first for use in uses[group].values()).order]
                path = self._forest.path(tip.node_id)
                found[group] = next(
                    filter(None, (sections.of(i, tip, path) for i in match.block_ids)), ()
                )
        return found

    @property
    def _tips(self) -> list[Tip]:
        if self._all_tips is None:
            self._all_tips = tips(self._connection)
        return self._all_tips

    def _uses(self, matches: Sequence[Match]) -> dict[int, dict[int, Use]]:
        groups = {i: match.block_ids[0] for match in matches for i in match.block_ids}
        if not groups:
            return {}
        requests = [(tip.session_row, tip.node_id) for tip in self._tips]
        return self._forest.uses(groups, requests)

    def _read(self, page: Sequence[Match]) -> _Known:
        connection, ids = self._connection, _ids(page)
        groups = {i: match.block_ids[0] for match in page for i in match.block_ids}
        uses = self._uses(page)
        answered: dict[int, list[AnswerRow]] = {}
        for answer in answers(connection, ids):
            answered.setdefault(groups[answer.block_id], []).append(answer)
        logged: dict[int, list[LoggedSection]] = {}
        for line in logged_sections(connection, ids):
            logged.setdefault(groups[line.block_id], []).append(line)
        numbered = {row for own in uses.values() for row in _first(own)}
        numbered |= {a.session_row for own in answered.values() for a in own}
        shown = numbered | {line.session_row for own in logged.values() for line in own}
        shown |= {match.row.session_row for match in page if match.row}
        nodes = {
            self._node(match, sent)
            for match in page
            if match.block_ids
            for row in _first(uses[match.block_ids[0]])
            for sent in _ends(uses[match.block_ids[0]][row])
        }
        return _Known(
            facts=block_facts(connection, ids),
            uses=uses,
            answers=answered,
            logged=logged,
            names=session_names(connection, sorted(shown)),
            numbers=request_numbers(connection, numbered) if numbered else {},
            places=node_places(connection, sorted(nodes)),
            paths=source_paths(connection),
        )

    def _node(self, match: Match, sent: Sent) -> int:
        return self._forest.node_on_path(sent.tip, match.block_ids)

    def _block_text(self, match: Match, known: _Known, section: str, reminder: str) -> FoundText:
        own = known.uses[match.block_ids[0]]
        first = min((use.first for use in own.values()), default=None)
        node = self._node(match, first) if first else 0
        place = known.places.get(node)
        block = self._forest.block(node) if node else _telling(match, known.facts)
        facts = known.facts[block]
        is_section = facts.kind == _SECTION
        uses = self._all_uses(match, known)
        return FoundText(
            place=FoundPlace(
                kind=facts.kind,
                tier="" if is_section else facts.tier,
                role="" if is_section else facts.role,
                message_index=place.message_index if place else None,
                block_index=place.block_index if place else None,
                index=place.depth if place else None,
                section=section,
                reminder=reminder,
                name="" if is_section else facts.name,
            ),
            piece=match.piece,
            matches=len(match.spans),
            chars=match.chars,
            uses=tuple(uses[:MOST_USES]),
            more_uses=max(0, len(uses) - MOST_USES, len(own) - MOST_USES),
            wire_hash=facts.wire_hash.hex(),
            source=_source(known, facts.source_id, facts.line, facts.offset_bytes),
        )

    def _row_text(self, match: Match, row: RowText, known: _Known) -> FoundText:
        session, title = known.names.get(row.session_row, ("", ""))
        key = row.request_key
        return FoundText(
            place=FoundPlace(kind=row.kind, role=row.role, name=row.name),
            piece=match.piece,
            matches=len(match.spans),
            chars=match.chars,
            uses=(TextUse(session, title, first_key=key, last_key=key, at_ms=row.at_ms),),
            more_uses=0,
            wire_hash="",
            source=_source(known, row.source_id, row.line, None),
        )

    def _all_uses(self, match: Match, known: _Known) -> list[TextUse]:
        """Sessions that sent the text, then those that only answered with it, or only logged it."""
        group = match.block_ids[0]
        own = known.uses[group]
        uses = {row: self._sent(match, row, own[row], known) for row in _first(own)}
        for answer in known.answers.get(group, ()):
            row = answer.session_row
            if row not in uses and len(uses) <= MOST_USES:
                uses[row] = TextUse(*known.names[row], times_sent=0, at_ms=answer.at_ms)
            if row in uses and not uses[row].answered_key:
                uses[row] = replace(uses[row], answered_key=answer.key)
        for line in known.logged.get(group, ()):
            names = known.names.get(line.session_row, ("", ""))
            uses.setdefault(line.session_row, TextUse(*names, at_ms=line.at_ms))
        return list(uses.values())

    def _sent(self, match: Match, session_row: int, use: Use, known: _Known) -> TextUse:
        first, last = (self._tips[sent.order] for sent in _ends(use))
        places = [known.places.get(self._node(match, sent)) for sent in _ends(use)]
        return TextUse(
            *known.names[session_row],
            first_key=first.key,
            first_seq=known.numbers.get(first.row_id),
            first_index=places[0].depth if places[0] else None,
            last_key=last.key,
            last_seq=known.numbers.get(last.row_id),
            last_index=places[1].depth if places[1] else None,
            times_sent=use.times,
            at_ms=first.started_at_ms,
        )


def reminder_spans(
    connection: sqlite3.Connection, matches: Sequence[Match]
) -> dict[int, tuple[SectionSpan, ...]]:
    """The reminders in texts, by the first block of the text."""
    groups = {i: match.block_ids[0] for match in matches for i in match.block_ids}
    found: dict[int, dict[SectionSpan, None]] = {}
    for row in block_reminders(connection, list(groups)):
        span = SectionSpan(row.source, row.start_char, row.end_char)
        found.setdefault(groups[row.block_id], {})[span] = None
    return {group: tuple(spans) for group, spans in found.items()}


def spans_inside(
    match: Match, spans: Mapping[int, Sequence[SectionSpan]], name: str
) -> tuple[tuple[int, int], ...]:
    """The matches of a text inside its spans of that name."""
    own = spans.get(match.block_ids[0], ()) if match.block_ids else ()
    named = [span for span in own if span.source == name]
    return tuple(
        (start, end)
        for start, end in match.spans
        if any(span.start <= start and end <= span.end for span in named)
    )


def _around(match: Match, spans: Mapping[int, Sequence[SectionSpan]]) -> str:
    """The name of the span around the first match; empty where there is none."""
    at = match.spans[0][0]
    own = spans.get(match.block_ids[0], ()) if match.block_ids else ()
    return next((span.source for span in own if span.start <= at < span.end), "")


def _ids(matches: Sequence[Match]) -> list[int]:
    return [i for match in matches for i in match.block_ids]


def _telling(match: Match, facts: Mapping[int, BlockFacts]) -> int:
    """The block that tells most of a text that no prompt has: an answer before a logged section."""
    own = (i for i in match.block_ids if facts[i].kind != _SECTION)
    return next(own, match.block_ids[0])


def _first(uses: Mapping[int, Use]) -> list[int]:
    """The sessions of the first uses, in their order."""
    return sorted(uses, key=lambda row: uses[row].first)[:MOST_USES]


def _ends(use: Use) -> tuple[Sent, Sent]:
    return use.first, use.last


def _source(
    known: _Known, source_id: int | None, line: int | None, offset: int | None
) -> SourceRef | None:
    if source_id is None or line is None:
        return None
    return SourceRef(known.paths.get(source_id, ""), line, offset or 0)
