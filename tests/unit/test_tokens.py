"""The estimate, its bounds, surrogates and the choice of an encoding."""

import pytest

from tracer.tokens import (
    VENDORED_ENCODINGS,
    BatchTokenCounter,
    EstimateCounter,
    TokenBounds,
    TokenCount,
    clean_surrogates,
    encoding_for_model,
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


def test_estimate_counter_is_a_counter_and_never_exact() -> None:
    counter: BatchTokenCounter = EstimateCounter()
    assert counter.name == "zcode.estimateTokens.v1"
    assert counter.count("abcd") == TokenCount(2, exact=False)
    assert counter.count_many(["abcd", ""]) == [TokenCount(2, False), TokenCount(0, False)]


@pytest.mark.parametrize(
    "model_id",
    [None, "", "gpt-4o", "gpt-4.1-mini", "gpt-5", "glm-4.6", "claude-sonnet-4-5", "text-unknown"],
)
def test_models_count_with_o200k_unless_they_are_old(model_id: str | None) -> None:
    assert encoding_for_model(model_id, {"o200k_base", "cl100k_base"}) == "o200k_base"


@pytest.mark.parametrize(
    "model_id",
    ["gpt-4", "gpt-4-0613", "GPT-4-Turbo", "openai/gpt-3.5-turbo", "text-embedding-3-small"],
)
def test_old_models_count_with_cl100k_where_it_is_there(model_id: str) -> None:
    assert encoding_for_model(model_id, {"o200k_base", "cl100k_base"}) == "cl100k_base"
    assert encoding_for_model(model_id, {"o200k_base"}) == "o200k_base"


def test_the_chosen_encoding_is_always_one_that_ships() -> None:
    assert encoding_for_model("gpt-4") in VENDORED_ENCODINGS
