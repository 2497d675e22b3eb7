"""Billed usage in four disjoint counts, and how the convention is found (cache-rules.md 1.8)."""

import json
from typing import Any

import pytest

from tracer.assemble.usage import detect_convention, normalise
from tracer.formats._zcode_usage import reported_usage
from tracer.model.usage import Convention, ReportedUsage, Usage

INCLUSIVE, EXCLUSIVE, UNKNOWN = Convention


def zcode(**usage: Any) -> Usage:
    """What a ZCode response with this usage was billed."""
    reported = reported_usage({"usage": usage})
    assert reported is not None
    return normalise(reported)


def counts(usage: Usage) -> tuple[int | None, ...]:
    """Input, fresh, read, write."""
    return (
        usage.input_tokens,
        usage.fresh_tokens,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
    )


def test_a_zcode_input_includes_the_cache_read() -> None:
    # GLM, published: a request of 51,969 tokens whose prefix of 51,136 was read.
    usage = zcode(inputTokens=51_969, outputTokens=80, cacheReadTokens=51_136)
    assert counts(usage) == (51_969, 833, 51_136, None)
    assert usage.convention is INCLUSIVE
    assert "format defines" in usage.reason


def test_a_published_record_proves_its_convention_by_its_total() -> None:
    usage = zcode(
        inputTokens=140_159, outputTokens=139, totalTokens=140_298, cacheReadTokens=139_584
    )
    assert counts(usage) == (140_159, 575, 139_584, None)
    assert usage.reason.startswith("total = input + output")


def test_an_anthropic_input_excludes_reads_and_writes() -> None:
    usage = normalise(
        ReportedUsage(
            input_tokens=21, output_tokens=393, cache_read_tokens=188_086, cache_write_tokens=512
        )
    )
    assert counts(usage) == (188_619, 21, 188_086, 512)
    assert usage.convention is EXCLUSIVE
    assert usage.reason == "cache read 188,086 is more than input 21, so input excludes it"


def test_a_read_above_the_input_overrules_what_the_format_says() -> None:
    usage = zcode(inputTokens=100, outputTokens=1, cacheReadTokens=101)
    assert (usage.convention, usage.input_tokens, usage.fresh_tokens) == (EXCLUSIVE, 201, 100)


def test_read_and_write_above_the_input_overrule_it_too() -> None:
    usage = zcode(inputTokens=100, outputTokens=1, cacheReadTokens=60, cacheWriteTokens=60)
    assert counts(usage) == (220, 100, 60, 60)
    assert usage.convention is EXCLUSIVE


def test_a_total_that_contains_the_cache_counts_shows_an_exclusive_input() -> None:
    usage = zcode(
        inputTokens=900,
        outputTokens=10,
        totalTokens=1_510,
        cacheReadTokens=500,
        cacheWriteTokens=100,
    )
    assert counts(usage) == (1_500, 900, 500, 100)
    assert usage.reason.startswith("total = input + cache read + cache write + output")


def test_a_total_says_nothing_where_no_cache_was_used() -> None:
    convention, _ = detect_convention(
        ReportedUsage(input_tokens=10, output_tokens=2, total_tokens=12, cache_read_tokens=0)
    )
    assert convention is UNKNOWN


def test_a_total_that_fits_neither_leaves_the_word_to_the_format() -> None:
    usage = zcode(inputTokens=900, outputTokens=10, totalTokens=77, cacheReadTokens=500)
    assert (usage.convention, usage.fresh_tokens) == (INCLUSIVE, 400)


def test_a_missing_read_is_unknown_and_so_is_what_was_fresh() -> None:
    usage = zcode(inputTokens=50, outputTokens=5, totalTokens=55)
    assert counts(usage) == (50, None, None, None)


def test_a_read_of_zero_is_a_number() -> None:
    assert counts(zcode(inputTokens=50, cacheReadTokens=0)) == (50, 50, 0, None)


def test_a_missing_write_is_unknown_and_not_zero() -> None:
    assert zcode(inputTokens=50, cacheReadTokens=10).cache_write_tokens is None


def test_an_exclusive_input_without_a_read_has_an_unknown_total() -> None:
    usage = normalise(ReportedUsage(input_tokens=21, output_tokens=3, declared=EXCLUSIVE))
    assert counts(usage) == (None, 21, None, None)


def test_an_unknown_convention_splits_nothing() -> None:
    usage = normalise(ReportedUsage(input_tokens=100, cache_read_tokens=40))
    assert counts(usage) == (100, None, 40, None)
    assert usage.convention is UNKNOWN


@pytest.mark.parametrize("response", [{}, {"usage": {}}, {"usage": None}, {"usage": "[redacted]"}])
def test_no_usage_is_unknown_and_not_zero(response: dict[str, Any]) -> None:
    assert reported_usage(response) is None


@pytest.mark.parametrize("value", ["12", "[Redacted]", True, 1.5, None, [12], 1e300, 2**60])
def test_a_count_that_is_no_number_is_unknown(value: Any) -> None:
    usage = zcode(inputTokens=50, cacheReadTokens=value)
    assert counts(usage) == (50, None, None, None)


def test_the_older_name_of_the_cache_read_is_known() -> None:
    assert zcode(inputTokens=50, cachedInputTokens=40).fresh_tokens == 10


def test_the_providers_own_usage_is_taken_where_the_agents_is_missing() -> None:
    provider = {
        "input_tokens": 5_993,
        "cache_read_input_tokens": 21_696,
        "cache_creation_input_tokens": 0,
        "output_tokens": 12,
    }
    reported = reported_usage({"usage": {}, "providerMetadata": {"anthropic": {"usage": provider}}})
    assert reported is not None
    usage = normalise(reported)
    assert counts(usage) == (27_689, 5_993, 21_696, 0)
    assert json.loads(usage.raw_json) == {"provider": provider}


def test_the_providers_usage_is_kept_beside_the_agents() -> None:
    provider = {"input_tokens": 10, "cache_read_input_tokens": 40}
    response = {
        "usage": {"inputTokens": 50, "cacheReadTokens": 40},
        "providerMetadata": {"anthropic": {"usage": provider}},
    }
    reported = reported_usage(response)
    assert reported is not None and reported.input_tokens == 50
    assert json.loads(reported.raw_json) == {"usage": response["usage"], "provider": provider}


@pytest.mark.parametrize(
    "metadata", ["x", [], {"a": 1}, {"a": {"usage": []}}, {"a": {"usage": {"input_tokens": "5"}}}]
)
def test_odd_provider_metadata_is_no_usage(metadata: Any) -> None:
    assert reported_usage({"providerMetadata": metadata}) is None
