"""Finding a query in a text, and the piece around it."""

import pytest

from tracer.matching import AFTER_CHARS, BEFORE_CHARS, Matcher, outside, snippet


@pytest.mark.parametrize(
    ("query", "text", "spans"),
    [
        ("run", "Run the runner", ((0, 3), (8, 11))),
        ("中", "在中文中", ((1, 2), (3, 4))),
        ("中文", "在中文中", ((1, 3),)),
        ("foo(*args)", "x = FOO(*args)", ((4, 14),)),
        ("50%_a\\b", "at 50%_A\\b now", ((3, 10),)),
        ("aa", "aaaaa", ((0, 2), (2, 4))),
        ("ÄRGER", "großer ärger", ((7, 12),)),
        ("привет", "Привет, ПРИВЕТ", ((0, 6), (8, 14))),
        ("\n\n", "a\n\nb", ((1, 3),)),
        ("😀", "x😀y", ((1, 2),)),
        ("b", "a\0b", ((2, 3),)),
        ("none", "nothing", ()),
    ],
)
def test_substrings_of_any_script(
    query: str, text: str, spans: tuple[tuple[int, int], ...]
) -> None:
    assert Matcher(query).spans(text) == spans
    if spans:
        assert Matcher(query).may_be_in(text.encode())


def test_exact_tells_upper_from_lower_case() -> None:
    assert Matcher("Run", exact=True).spans("run Run") == ((4, 7),)
    assert Matcher("Ä", exact=True).spans("ä Ä") == ((2, 3),)


def test_matches_can_be_limited() -> None:
    assert Matcher("a").spans("a" * 100, 3) == ((0, 1), (1, 2), (2, 3))


def test_a_piece_has_some_text_around_the_first_match_and_all_matches_in_it() -> None:
    text = "x" * 500 + "KEY" + "y" * 20 + "KEY" + "z" * 500 + "KEY"
    piece = snippet(text, Matcher("key").spans(text))
    shown = text[piece.start : piece.end]
    assert [shown[a:b] for a, b in piece.matches] == ["KEY", "KEY"]
    assert len(shown) == 2 * BEFORE_CHARS + AFTER_CHARS


def test_a_short_text_is_its_own_piece() -> None:
    assert snippet("a key", ((2, 5),)) == (0, 5, ((2, 5),))


def test_matches_that_touch_something_hidden_are_dropped() -> None:
    spans = ((0, 2), (3, 5), (6, 8), (10, 12))
    assert outside(spans, ((4, 7),)) == ((0, 2), (10, 12))
    assert outside(spans, ((2, 3), (8, 10))) == spans
    assert outside(spans, ()) == spans
