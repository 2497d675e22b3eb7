"""The estimate, its bounds and surrogates."""

import pytest

from tracer.tokens import (
    TokenBounds,
    clean_surrogates,
    estimate_bounds,
    estimate_tokens,
    utf16_length,
)

# Written as JavaScript's JSON.parse would hand them over: code points, not UTF-16 units.
HIGH, LOW = "\ud83d", "\ude00"  # together U+1F600


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("", 0),
        ("abc", 3),
        ("h\xe9", 2),
        ("\u4e2d\u6587", 2),
        ("\U0001f600", 2),
        (HIGH, 1),
        (LOW + "a", 2),
        (HIGH + LOW, 2),
        ("\ufeff", 1),
    ],
)
def test_utf16_length_is_the_length_javascript_reports(text: str, units: int) -> None:
    assert utf16_length(text) == units


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("abc", 1),
        ("abcd", 2),
        ("abcdef", 2),
        ("\u4e2d", 1),  # ceil(2 / 3)
        ("\u4e2d\u6587", 2),  # ceil(4 / 3)
        ("\u4e2d\u6587\u5b57", 2),  # 6 / 3
        ("a\u4e2d", 1),  # (1 + 2) / 3
        ("\u4dff\u4e00\u9fff\ua000", 2),  # only the middle two are counted as Chinese: (2 + 4) / 3
        ("\u3042\u3044\u3046", 1),  # Japanese kana are not in the range
        ("\U0001f600\U0001f600", 2),  # four units
        ("\U00020000", 1),  # Chinese, but beyond the range: two units
        (HIGH, 1),
    ],
)
def test_estimate_follows_the_agents_rule(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@pytest.mark.parametrize(
    ("chars", "low", "high"),
    [(0, 0, 0), (1, 1, 1), (2, 1, 2), (3, 1, 2), (4, 2, 3), (300, 100, 200)],
)
def test_bounds_of_a_text_of_known_length(chars: int, low: int, high: int) -> None:
    assert estimate_bounds(chars) == TokenBounds(low, high)


def test_bounds_refuse_a_negative_length() -> None:
    with pytest.raises(ValueError, match="-1 characters"):
        estimate_bounds(-1)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (HIGH + LOW, "\U0001f600"),
        (HIGH, "\ufffd"),
        (LOW, "\ufffd"),
        (LOW + HIGH, "\ufffd\ufffd"),
        (HIGH + HIGH + LOW + "a", "\ufffd\U0001f600a"),
        ("a" + HIGH + "b", "a\ufffdb"),
        ("\ufeffa" + LOW, "\ufeffa\ufffd"),
    ],
)
def test_surrogates_are_paired_or_replaced(text: str, clean: str) -> None:
    assert clean_surrogates(text) == clean


@pytest.mark.parametrize("text", ["", "abc", "h\xe9", "\u4e2d\ufffd", "\U0001f600", "\ufeff"])
def test_text_without_surrogates_is_returned_as_it_is(text: str) -> None:
    assert clean_surrogates(text) is text
