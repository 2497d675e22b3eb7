"""A search finds what a reader finds: no text with a match is ruled out, whatever is in it."""

import sqlite3

from hypothesis import example, given
from hypothesis import strategies as st

from tracer.matching import Matcher, ascii_lower, outside, snippet

# Letters whose case changes their length or their script are left to themselves: nobody agrees on
# them (the Kelvin sign is a K for some).
LETTERS = st.sampled_from("abcXYZ 01%_\\\n\"'é Éж中文字的ß😀")
TEXTS = st.text(LETTERS, max_size=40)
QUERIES = st.text(LETTERS, min_size=1, max_size=4)


def by_hand(query: str, text: str) -> list[int]:
    """Where the query starts, matches not overlapping, letter by letter."""
    found, at = [], 0
    low, wanted = [c.lower() for c in text], [c.lower() for c in query]
    while at + len(wanted) <= len(low):
        if low[at : at + len(wanted)] == wanted:
            found.append(at)
            at += len(wanted)
        else:
            at += 1
    return found


@given(QUERIES, TEXTS)
@example("É", "xé")
def test_spans_are_those_of_reading_letter_by_letter(query: str, text: str) -> None:
    assert [start for start, _ in Matcher(query).spans(text)] == by_hand(query, text)


@given(QUERIES, TEXTS, st.booleans())
@example("%", "100%", False)
def test_like_and_bytes_let_every_match_through(query: str, text: str, exact: bool) -> None:
    matcher = Matcher(query, exact=exact)
    if not matcher.spans(text):
        return
    assert matcher.may_be_in(text.encode())
    connection = sqlite3.connect(":memory:")
    like = "SELECT ? LIKE ? ESCAPE '\\'"
    assert connection.execute(like, (text, matcher.like)).fetchone() == (1,)
    connection.close()


@given(st.text())
def test_lower_case_is_as_long_as_the_text(text: str) -> None:
    assert len(ascii_lower(text)) == len(text)


@given(QUERIES, TEXTS)
def test_a_piece_shows_its_first_match(query: str, text: str) -> None:
    spans = Matcher(query).spans(text)
    if not spans:
        return
    start, end, inside = snippet(text, spans)
    shown = text[start:end]
    assert [shown[a:b].lower() for a, b in inside] == [query.lower()] * len(inside)
    assert inside and start + inside[0][0] == spans[0][0]


@given(st.text(LETTERS, max_size=60), st.sets(st.integers(0, 59)))
def test_outside_drops_exactly_what_touches(text: str, hidden: set[int]) -> None:
    spans = Matcher("a").spans(text)
    masks = [(at, at + 1) for at in sorted(hidden)]
    assert outside(spans, masks) == tuple(span for span in spans if span[0] not in hidden)
