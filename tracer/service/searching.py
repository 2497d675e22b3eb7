"""Search: which texts hold a query, where they stand, and who sent them.

First every text that holds it is found (kept for the next page), then for the texts of one page it
is worked out who sent them. A match that touches a secret is none, unless secrets are revealed:
else a search could spell a secret out letter by letter.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import chain
from threading import Lock

from tracer.anatomy.sections import SECTION_KINDS
from tracer.assemble.uses import Forest
from tracer.errors import UsageError
from tracer.hashing import digest
from tracer.masking import find_secrets, mask_spans
from tracer.matching import Matcher, outside, snippet
from tracer.model.search_views import (
    BLOCK_KINDS,
    KINDS,
    ROW_KINDS,
    FoundPiece,
    SearchAsked,
    SearchChoices,
    SearchPage,
)
from tracer.service.cached import RevisionCache
from tracer.service.existing import session_row
from tracer.service.searching_sections import SectionSpan
from tracer.service.searching_uses import Match, Provenance, reminder_spans, spans_inside
from tracer.store.search import (
    TEXTS_AT_ONCE,
    BlockText,
    RowText,
    Scope,
    Unpacked,
    answer_blocks,
    blocks_with_reminder,
    candidates,
    last_block,
    logged_section_names,
    nodes_after,
    prefix_blocks,
    reminder_sources,
    row_candidates,
    tips,
)

MOST_TEXTS = 500
"""Texts that are found at most: whoever gets more narrows the query."""

MOST_LOOKED_INTO = 2_000
"""Texts in which the section or the reminder around each match is worked out, at most."""

MOST_SEARCHED = 1_000_000
"""Texts that one search looks through at most, some gigabyte."""

MOST_QUERY_CHARS = 1_000
KEPT_SEARCHES = 4


@dataclass(frozen=True, slots=True)
class Found:
    """Everything that one query found. `at_least`: there is more; `unsearched` texts were not
    looked at."""

    matches: tuple[Match, ...]
    at_least: bool
    unsearched: int


class Searcher:
    """Searches one database, and keeps what the last queries found. Safe in threads."""

    def __init__(self, *, reveal: bool = False) -> None:
        """`reveal` shows secrets, and finds what is inside of them."""
        self._reveal = reveal
        self._found: RevisionCache[Found] = RevisionCache(KEPT_SEARCHES)
        self._forest = Forest()
        self._unpacked = Unpacked()
        self._lock = Lock()

    def search(self, connection: sqlite3.Connection, asked: SearchAsked) -> SearchPage:
        """A page of the texts that hold the query. Raises UsageError, NotFoundError."""
        _check(asked)
        with self._lock:
            self._grow(connection)
        query = replace(asked, limit=0, offset=0)
        found = self._found.get(connection, query, lambda: self._find(connection, asked))
        page = found.matches[asked.offset : asked.offset + asked.limit]
        with self._lock:
            texts = Provenance(connection, self._forest).texts(page)
        return SearchPage(asked, texts, len(found.matches), found.at_least, found.unsearched)

    def _find(self, connection: sqlite3.Connection, asked: SearchAsked) -> Found:
        matcher = Matcher(asked.query, exact=asked.exact)
        session = _session(connection, asked.session_id)
        placed = bool(asked.section or asked.source)
        matches = _Matches(matcher, reveal=self._reveal, keep_texts=placed)
        unsearched = 0
        if asked.kind not in ROW_KINDS:
            scope = self._scope(connection, asked, session)
            high = last_block(connection)
            unsearched = max(0, high - MOST_SEARCHED)
            for block in _newest_first(
                connection, matcher, scope, self._unpacked, unsearched, high
            ):
                matches.add(block.text, block.id)
                if len(matches) > (MOST_LOOKED_INTO if placed else MOST_TEXTS):
                    break
        if asked.kind not in BLOCK_KINDS and not placed:
            for row in row_candidates(connection, matcher, asked.kind, session):
                if len(matches) > MOST_TEXTS:
                    break
                matches.add(row.text, 0, row)
        found = self._placed(connection, asked, matches)
        more = len(matches) > MOST_LOOKED_INTO or len(found) > MOST_TEXTS
        lean = tuple(match._replace(text="") for match in found[:MOST_TEXTS])
        return Found(lean, more, unsearched)

    def _scope(
        self, connection: sqlite3.Connection, asked: SearchAsked, session: int | None
    ) -> Scope:
        """The blocks that the filters leave."""
        sets: list[set[int]] = []
        if session is not None:
            with self._lock:
                own = self._forest.blocks_of(tip.node_id for tip in tips(connection, session))
            sets.append(own | set(answer_blocks(connection, session)))
        if asked.source:
            sets.append(set(blocks_with_reminder(connection, asked.source)))
        if asked.section:
            sets.append(set(prefix_blocks(connection)))
        return Scope(asked.kind, sorted(set.intersection(*sets)) if sets else None)

    def _placed(
        self, connection: sqlite3.Connection, asked: SearchAsked, matches: "_Matches"
    ) -> tuple[Match, ...]:
        """The texts that match in the section and the reminder that were asked for."""
        found = matches.all()
        if asked.source:
            found = matches.narrowed(found, reminder_spans(connection, found), asked.source)
        if asked.section:
            with self._lock:
                spans = Provenance(connection, self._forest).section_spans(found)
            found = matches.narrowed(found, spans, asked.section)
        return found

    def _grow(self, connection: sqlite3.Connection) -> None:
        """Learn the nodes that were stored since; from the start where it is another database."""
        last = self._forest.last_id
        fresh = nodes_after(connection, last - 1)
        if last and not self._forest.knows(fresh[:1]):
            self._forest = Forest()
            fresh = nodes_after(connection, 0)
        elif last:
            fresh = fresh[1:]
        self._forest.grow(fresh)


class SearchOfService:
    """The use cases of search, for a service that can read."""

    _searcher: Searcher
    _read: Callable[[], AbstractContextManager[sqlite3.Connection]]

    def search(self, asked: SearchAsked) -> SearchPage:
        """The texts that hold a query, the last stored first. Raises UsageError, NotFoundError."""
        with self._read() as connection:
            return self._searcher.search(connection, asked)

    def search_choices(self) -> SearchChoices:
        """What a search can be narrowed to: what is known of sections, and the sources of reminders
        that were found."""
        with self._read() as connection:
            logged = logged_section_names(connection)
            sources = reminder_sources(connection)
        sections = {*(kind.source for kind in SECTION_KINDS), *logged}
        return SearchChoices(tuple(sorted(sections)), tuple(sources))


class _Matches:
    """Texts that hold the query, each once whatever the number of blocks that have it."""

    def __init__(self, matcher: Matcher, *, reveal: bool, keep_texts: bool) -> None:
        self._matcher = matcher
        self._reveal = reveal
        self._keep_texts = keep_texts
        self._found: dict[tuple[object, ...], Match] = {}

    def __len__(self) -> int:
        return len(self._found)

    def all(self) -> tuple[Match, ...]:
        """In the order in which they came."""
        return tuple(self._found.values())

    def add(self, text: str, block_id: int, row: RowText | None = None) -> None:
        """Take a text if it matches outside of its secrets."""
        content = digest(text.encode("utf-8", "surrogatepass"))
        key = (content,) if row is None else (content, row.kind, row.row_id, row.session_row)
        known = self._found.get(key)
        if known is not None:
            if row is None:
                self._found[key] = known._replace(block_ids=(*known.block_ids, block_id))
            return
        spans = self._matcher.spans(text)
        if not spans:
            return
        secrets = self._secrets(text)
        spans = outside(spans, secrets)
        if not spans:
            return
        lean = None if row is None else row._replace(text="")
        ids = (block_id,) if row is None else ()
        kept = text if self._keep_texts else ""
        self._found[key] = Match(ids, lean, _piece(text, spans, secrets), spans, len(text), kept)

    def narrowed(
        self, matches: tuple[Match, ...], places: Mapping[int, Sequence[SectionSpan]], name: str
    ) -> tuple[Match, ...]:
        """The texts that match inside a place of that name, and these matches of them."""
        found = []
        for match in matches:
            if spans := spans_inside(match, places, name):
                piece = _piece(match.text, spans, self._secrets(match.text))
                found.append(match._replace(spans=spans, piece=piece))
        return tuple(found)

    def _secrets(self, text: str) -> tuple[tuple[int, int], ...]:
        return () if self._reveal else tuple((s.start, s.end) for s in find_secrets(text))


def _piece(
    text: str, spans: Sequence[tuple[int, int]], secrets: Sequence[tuple[int, int]]
) -> FoundPiece:
    """The text around the first match, with its secrets masked."""
    start, end, matches = snippet(text, spans)
    return FoundPiece(mask_spans(text, secrets, start, end), matches, start, len(text) - end)


def _newest_first(
    connection: sqlite3.Connection,
    matcher: Matcher,
    scope: Scope,
    unpacked: Unpacked,
    low: int,
    high: int,
) -> Iterator[BlockText]:
    """The blocks above `low` up to `high` that may match."""
    return chain.from_iterable(
        candidates(connection, matcher, scope, unpacked, max(low, top - TEXTS_AT_ONCE) + 1, top)
        for top in range(high, low, -TEXTS_AT_ONCE)
    )


def _check(asked: SearchAsked) -> None:
    if not asked.query.strip():
        raise UsageError("Name a text to look for.")
    if len(asked.query) > MOST_QUERY_CHARS:
        raise UsageError(
            f"A query may have {MOST_QUERY_CHARS:,} characters, not {len(asked.query):,}: name a "
            "part of the text."
        )
    if asked.kind and asked.kind not in KINDS:
        raise UsageError(f"There is no kind {asked.kind!r}. Known: {', '.join(KINDS)}.")


def _session(connection: sqlite3.Connection, session_id: str) -> int | None:
    return session_row(connection, session_id) if session_id else None
